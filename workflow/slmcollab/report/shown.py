"""Whether a table shows what its provenance tells of, no cell or seed less or more, and what its scores files say."""

import csv
import io
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, read_json, read_text
from slmcollab.digests import DIGESTS
from slmcollab.report.faults import EVERY, Fault
from slmcollab.report.provenance import KEY, RECORDED, name_of
from slmcollab.report.records import CODE, reading
from slmcollab.report.tables import Scores, format_number

COLUMNS = {"paper", *KEY, "metric", "mean", "std", "n_seeds"}  # of a table, which may have more
Rows = Sequence[Mapping[str, str]]


def check_shown(record: Mapping[str, Any], name: str, base: Path, whole: Set[str]) -> Iterator[Fault]:
    """Yield what differs between a table, its provenance and its scores files.

    record: the provenance, called `name`; whole: the files that are as recorded, no other one is read. Raises
    ArtifactError for a table that lacks columns, and for scores that are no numbers.
    """
    table = record["table"]["path"]
    shown: dict[str, list[dict[str, str]]] = {}
    for row in _read_rows(base / table) if table in whole else []:
        shown.setdefault(name_of(row), []).append(row)
    told = [name_of(cell) for cell in record["cells"]]
    yield from _joined(record, name, base, whole)
    yield from (Fault(name, "tells twice of a cell", frozenset([cell])) for cell in _twice(told))
    yield from (
        Fault(name, f"does not tell of a cell that {table} shows", frozenset([cell]))
        for cell in shown
        if cell not in told
    )
    for about, cell in zip(told, record["cells"], strict=True):
        yield from (Fault(name, f"tells twice of seed {seed}", frozenset([about])) for seed in _twice(cell["seeds"]))
        scores = [(one, _read_scores(base / one["path"])) for one in cell["scores"] if one["path"] in whole]
        for one, content in scores:
            with reading(base / one["path"], "a scores file"):
                yield from [*_of_scores(cell, one, content, name, base, whole)]
        if table in whole and len(scores) == len(cell["scores"]):
            yield from (
                Fault(table, f"{found} as {name} and the scores say", frozenset([about]))
                for found in _differing(shown.get(about, []), cell, [content for _, content in scores])
            )


def _read_rows(path: Path) -> Rows:
    with reading(path, "a table"):
        rows = csv.DictReader(io.StringIO(read_text(path), newline=""))
        absent = COLUMNS - set(rows.fieldnames or ())
        if absent:
            raise ArtifactError(f"{path}: not a table of the papers' metrics, it lacks the columns {sorted(absent)}")
        return list(rows)


def _read_scores(path: Path) -> Scores:
    content = read_json(path, "metrics")
    with reading(path, "a scores file"):
        strange = [name for name, value in content["metrics"].items() if value is not None and not math.isfinite(value)]
    if strange:
        raise ArtifactError(f"{path}: not a scores file, {strange[0]} is no finite number")
    return content


def _twice(names: Sequence[Any]) -> list[Any]:
    return [name for place, name in enumerate(names) if name in names[:place]]


def _joined(record: Mapping[str, Any], name: str, base: Path, whole: Set[str]) -> Iterator[Fault]:
    """Yield a fault where the table is not its parts one after the other, and where a part has no published numbers."""
    table, parts = record["table"]["path"], [one["path"] for one in record["tables"]]
    if whole >= {table, *parts}:
        joined = [row for part in parts for row in _read_rows(base / part)]
        if joined != _read_rows(base / table):
            yield Fault(table, f"is not {' and '.join(parts) or 'nothing'} joined", frozenset([EVERY]))
    if len(parts) != len(record["published"]):
        told = f"names {len(parts)} tables of papers and {len(record['published'])} files of their published numbers"
        yield Fault(name, told, frozenset([EVERY]))


def _of_scores(
    cell: Mapping[str, Any], one: Mapping[str, Any], content: Scores, name: str, base: Path, whole: Set[str]
) -> Iterator[Fault]:
    """Yield a fault for a scores file of another cell, or that leads nowhere, or that the provenance tells wrong."""
    path, about = one["path"], frozenset([name_of(cell)])
    origin = content.get("provenance")
    origin = origin if isinstance(origin, dict) else {}
    answers = origin.get(CODE, {}).get("answers")
    records = {file for file in origin.get(DIGESTS, {}) if file.endswith(".json")}
    if any(one.get(key) != content.get(key) for key in RECORDED[cell["paper"]]):
        yield Fault(name, f"tells other things of {path} than that file itself", about)
    if not origin.get(DIGESTS):
        yield Fault(path, "does not say what it came from", about)
    elif records <= whole and (not answers or answers not in [_code_of(base / file) for file in records]):
        yield Fault(path, "names no record of its answers", about)
    held = {"method": content.get("system"), "team": "none"} | content | {"paper": cell["paper"]}
    if name_of(held) != name_of(cell):
        yield Fault(path, f"holds scores of {name_of(held)}", about)


def _code_of(path: Path) -> Any:
    content = read_json(path)
    return content.get(CODE) if isinstance(content, dict) else None


def _differing(rows: Rows, cell: Mapping[str, Any], scores: Sequence[Scores]) -> Iterator[str]:
    """Yield what a table's rows of a cell show otherwise than the cell's record and its scores files."""
    metrics, seeds = [row["metric"] for row in rows], [content.get("seed") for content in scores]
    if metrics != cell["metrics"]:
        yield f"shows metrics {metrics}, not {cell['metrics']}"
    if seeds != cell["seeds"]:
        yield f"rests on seeds {seeds} of its scores files, not {cell['seeds']}"
    for row in rows:
        values = [content["metrics"].get(row["metric"]) for content in scores]
        values = [value for value in values if value is not None]
        said = {
            "n_seeds": str(len(values)),
            "mean": format_number(float(statistics.mean(values)) if values else None),
            "std": format_number(float(statistics.stdev(values)) if len(values) > 1 else None),
        }
        for column, text in said.items():
            if row[column] != text:
                yield f"shows {column} {row[column] or 'empty'} of {row['metric']}, not {text or 'empty'}"
