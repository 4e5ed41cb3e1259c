"""What the tables share: which scores file belongs to which cell, and text, in which numbers are rounded once."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, read_text

Key = tuple[str, str, str]  # benchmark, method, team
Scores = Mapping[str, Any]  # a parsed scores.json


def group_scores(scores: Mapping[str, Scores], cells: Iterable[Mapping[str, Any]]) -> dict[Key, dict[int, str]]:
    """Return, for every cell of the grid in its order, the name of the scores file of every seed; {} without seeds.

    scores: name of a file -> its contents. Raises ArtifactError naming a cell that is there twice, a file that no cell
    asks for, the two files of one cell and seed, or the cell and seed without a file.
    """
    groups: dict[Key, dict[int, str | None]] = {}
    for cell in cells:
        key = (cell["benchmark"], cell["method"], cell["team"])
        if key in groups:
            raise ArtifactError(f"the grid has {key} twice")
        groups[key] = dict.fromkeys(cell["seeds"])
    for name, content in scores.items():
        absent = {"benchmark", "method", "team", "seed", "metrics"} - content.keys()
        if absent:
            raise ArtifactError(f"{name}: not a scores file, it lacks {sorted(absent)}")
        key, seed = (content["benchmark"], content["method"], content["team"]), content["seed"]
        if key not in groups or seed not in groups[key]:
            raise ArtifactError(f"{name}: {key}, seed {seed!r} is not in the grid")
        if groups[key][seed] is not None:
            raise ArtifactError(f"{name} and {groups[key][seed]}: both hold {key}, seed {seed}")
        groups[key][seed] = name
    missing = [f"{key}, seed {seed}" for key, files in groups.items() for seed, name in files.items() if name is None]
    if missing:
        raise ArtifactError(f"no scores file for {'; '.join(missing)}")
    return groups


def metric_values(names: Iterable[str], scores: Mapping[str, Scores], metric: str) -> list[float]:
    """Return a metric of the named files in percent points, without the files where it is null (nothing to measure)."""
    values = []
    for name in names:
        if metric not in scores[name]["metrics"]:
            raise ArtifactError(f"{name}: no metric {metric!r}, it has {sorted(scores[name]['metrics'])}")
        value = scores[name]["metrics"][metric]
        if value is not None and not 0 <= value <= 100:
            raise ArtifactError(f"{name}: {metric} is {value}, not between 0 and 100 percent points")
        values += [] if value is None else [value]
    return values


def read_published(path: Path) -> dict[tuple[str, ...], tuple[float, str]]:
    """Return (benchmark, method, team, metric) -> (the paper's mean in percent points, where it stands)."""
    published: dict[tuple[str, ...], tuple[float, str]] = {}
    for row in read_csv(path, ("benchmark", "method", "team", "metric", "mean", "std", "source")):
        key = (row["benchmark"], row["method"], row["team"], row["metric"])
        if key in published:
            raise ArtifactError(f"{path}: {key} is there twice")
        try:
            published[key] = (float(row["mean"]), row["source"])
        except ValueError as error:
            raise ArtifactError(f"{path}: the mean of {key} is {row['mean']!r}, not a number") from error
    return published


def format_number(value: float | None, decimals: int = 2) -> str:
    """Return a number with a fixed count of decimals, "" for None.

    Numbers are rounded here and nowhere before: the stored double goes to the nearest decimal, an exact tie to the even
    one, and -0.00 is written 0.00.
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number to print")
    return f"{value:z.{decimals}f}"


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return CSV with a header; raises ValueError for a row with a column too many."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text; raises ArtifactError where it has other columns or is not whole."""
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    header, rows = reader.fieldnames or [], list(reader)
    if list(header) != list(columns):
        raise ArtifactError(f"{path}: columns {list(header)}, expected {list(columns)}")
    if any(None in row or None in row.values() for row in rows):
        raise ArtifactError(f"{path}: a row with more or fewer than {len(columns)} columns")
    return rows
