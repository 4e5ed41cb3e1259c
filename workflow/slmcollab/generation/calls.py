"""Call records: one row for every invocation of a model, retries included; all efficiency numbers come from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from slmcollab.artifacts import ArtifactError, check_recorded, digest, replacing

SEARCH, EVAL, TRAIN = "search", "eval", "train"  # phases


@dataclass(frozen=True)
class Call:
    """One invocation. id is unique in its file; retry_of is the id of the call that it repeats, else None.

    run is {benchmark}/{method}/seed{seed}/{stage}; agent is the slot that spoke, in step `step` (from 0) of sample
    `sample` on question qid; round: of refinement, in a baseline the level of its graph. model_b: parameters in
    billions. parse_ok: whether the response kept to its form; answer, reasoning, action and target are what could be
    parsed, anomaly what was wrong. output_ids: see Response.
    """

    id: str
    run: str
    method: str
    benchmark: str
    qid: str
    phase: str
    round: int
    sample: int
    step: int
    agent: str
    model: str
    model_b: float
    adapter: str | None
    seed: int
    prompt_tokens: int
    output_tokens: int
    finish_reason: str
    parse_ok: bool
    retry_of: str | None
    text: str
    reasoning: str
    answer: str
    action: str | None
    target: str | None
    anomaly: str | None
    output_ids: tuple[int, ...] | None


_TYPES = {
    "str": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "tuple": pa.list_(pa.int32()),
}


def _arrow_type(annotation: Any) -> pa.DataType:
    """Return the column type of an annotation such as `int` or `str | None`."""
    kind = get_args(annotation)[0] if isinstance(annotation, UnionType) else annotation
    return _TYPES[getattr(kind, "__name__", "")]


SCHEMA = pa.schema([pa.field(name, _arrow_type(kind)) for name, kind in Call.__annotations__.items()])


def write_calls(path: Path, calls: Iterable[Call]) -> None:
    """Write a parquet file, equal bytes for equal calls."""
    rows = [{name: getattr(call, name) for name in SCHEMA.names} for call in calls]
    with replacing(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), temporary, compression="zstd")


def read_calls(path: Path) -> list[Call]:
    """Return the calls of a file in its order; raises ArtifactError where it holds something else, or an id twice."""
    try:
        table = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise ArtifactError(f"{path}: not a whole parquet file ({error})") from error
    check_recorded(path, digest(path))
    if table.schema != SCHEMA:
        raise ArtifactError(f"{path}: columns {table.schema.names}, expected {SCHEMA.names}")
    calls = [Call(**row | {"output_ids": _ids(row["output_ids"])}) for row in table.to_pylist()]
    if len({call.id for call in calls}) < len(calls):
        raise ArtifactError(f"{path}: a call is there twice")
    return calls


def _ids(values: list[int] | None) -> tuple[int, ...] | None:
    return None if values is None else tuple(values)
