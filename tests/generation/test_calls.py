"""The file of call records."""

from dataclasses import fields, replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.generation.calls import SCHEMA, Call, read_calls, write_calls

FIRST = Call(
    id="p1/0/0/0",
    run="math/cl/seed0/eval",
    method="cl",
    benchmark="math",
    qid="p1",
    phase="eval",
    round=0,
    sample=0,
    step=0,
    agent="a1",
    model="qwen3-1.7b",
    model_b=1.7,
    adapter="a1",
    seed=2**32 - 1,
    prompt_tokens=11,
    output_tokens=3,
    finish_reason="stop",
    parse_ok=False,
    retry_of=None,
    text='<answer>\\frac{1}{2}\u2028{"a": 1}\x00',
    reasoning="",
    answer="\\frac{1}{2}",
    action=None,
    target=None,
    anomaly="unclosed",
    output_ids=(5, 0, 151_645),
)
SECOND = replace(
    FIRST, id="p1/0/0/1", retry_of=FIRST.id, parse_ok=True, action="handoff", target="a2", anomaly=None, adapter=None
)
CALLS = [FIRST, SECOND, replace(FIRST, id="x", output_ids=None), replace(FIRST, id="y", output_ids=())]


def test_calls_come_back_as_they_were_and_in_order(tmp_path):
    write_calls(tmp_path / "calls.parquet", CALLS)
    assert read_calls(tmp_path / "calls.parquet") == CALLS
    assert read_calls(tmp_path / "calls.parquet")[2].output_ids is None  # unknown is not the same as none


def test_a_run_without_calls_has_a_file_with_the_same_columns(tmp_path):
    write_calls(tmp_path / "calls.parquet", [])
    assert read_calls(tmp_path / "calls.parquet") == []
    assert pq.read_schema(tmp_path / "calls.parquet") == SCHEMA


def test_every_field_has_a_column_whatever_the_values(tmp_path):
    """A column of Nones alone keeps its type, so that files of different runs can be joined."""
    write_calls(tmp_path / "calls.parquet", [FIRST])
    schema = pq.read_schema(tmp_path / "calls.parquet")
    assert schema.names == [field.name for field in fields(Call)]
    assert (schema.field("retry_of").type, schema.field("action").type) == (pa.string(), pa.string())
    assert (schema.field("output_ids").type, schema.field("model_b").type) == (pa.list_(pa.int32()), pa.float64())


def test_equal_calls_give_equal_bytes(tmp_path):
    write_calls(tmp_path / "one.parquet", CALLS)
    write_calls(tmp_path / "two.parquet", (replace(call) for call in CALLS))
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_call_that_is_there_twice_is_refused(tmp_path):
    write_calls(tmp_path / "calls.parquet", [FIRST, SECOND, FIRST])
    with pytest.raises(ArtifactError, match=r"calls.parquet: a call is there twice"):
        read_calls(tmp_path / "calls.parquet")


def test_what_is_no_file_of_calls_is_named(tmp_path):
    path = tmp_path / "calls.parquet"
    with pytest.raises(ArtifactError, match=r"calls.parquet: not a whole parquet file"):
        read_calls(path)
    write_calls(path, CALLS)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ArtifactError, match=r"calls.parquet: not a whole parquet file"):
        read_calls(path)
    pq.write_table(pa.table({"id": ["x"]}), path)
    with pytest.raises(ArtifactError, match=r"calls.parquet: columns \['id'\], expected \['id', 'run'"):
        read_calls(path)
