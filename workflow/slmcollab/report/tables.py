"""Table 1 as tidy text: one metric of one cell of the grid a row, percent points, rounded once when it is written."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from slmcollab.analysis.statistics import mean_and_std
from slmcollab.artifacts import ArtifactError

METRICS = ("accuracy", "accuracy_seen", "accuracy_unseen", "score_mean")
Key = tuple[str, str, str]  # benchmark, method, team
Scores = Mapping[str, Any]  # a parsed scores.json


@dataclass(frozen=True)
class Row:
    """One row, unrounded: mean and sample standard deviation over the seeds with this metric, and the paper's mean."""

    paper: str
    benchmark: str
    method: str
    team: str
    metric: str
    mean: float | None
    std: float | None
    n_seeds: int
    published: float | None = None
    published_source: str | None = None

    @property
    def difference(self) -> float | None:
        if self.mean is None or self.published is None:
            return None
        return self.mean - self.published


COLUMNS = (*Row.__dataclass_fields__, "difference")


def group_scores(scores: Mapping[str, Scores], cells: Iterable[Mapping[str, Any]]) -> dict[Key, dict[int, str]]:
    """Return, for every cell of the grid in its order, the name of the scores file of every seed.

    scores: name of a file -> its contents. Raises ArtifactError naming a file that no cell asks for, the two files of
    one cell and seed, or the cell and seed without a file.
    """
    groups: dict[Key, dict[int, str | None]] = {
        (cell["benchmark"], cell["method"], cell["team"]): dict.fromkeys(cell["seeds"]) for cell in cells
    }
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


def table_rows(
    scores: Mapping[str, Scores], grid: Mapping[str, Any], published: Mapping[tuple[str, ...], tuple[float, str]]
) -> list[Row]:
    """Return the rows of one paper's table in the order of the grid, METRICS within a cell.

    grid: {"paper", "cells": [{"benchmark", "method", "team", "seeds"}]}; published: see `read_published`. A metric that
    no seed has keeps its row: no mean, n_seeds 0. Raises what `group_scores` and `metric_values` raise.
    """
    rows = []
    for key, files in group_scores(scores, grid["cells"]).items():
        for metric in METRICS:
            values = metric_values(files.values(), scores, metric)
            mean, std = mean_and_std(values) if values else (None, None)
            paper_value, source = published.get((*key, metric), (None, None))
            rows.append(Row(grid["paper"], *key, metric, mean, std, len(values), paper_value, source))
    return rows


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


def format_rows(rows: Iterable[Row]) -> list[dict[str, str]]:
    """Return the printed text of every column; difference is that of the unrounded numbers."""
    numbers = ("mean", "std", "published", "difference")
    return [
        asdict(row)
        | {"n_seeds": str(row.n_seeds), "published_source": row.published_source or ""}
        | {name: format_number(getattr(row, name)) for name in numbers}
        for row in rows
    ]


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return CSV with a header; raises ValueError for a row with a column too many."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text; raises ArtifactError where it has other columns or is not whole."""
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise ArtifactError(f"{path}: no such file") from error
    if not text.endswith("\n"):
        raise ArtifactError(f"{path}: empty, or cut in its last line")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    header, rows = reader.fieldnames or [], list(reader)
    if list(header) != list(columns):
        raise ArtifactError(f"{path}: columns {list(header)}, expected {list(columns)}")
    if any(None in row or None in row.values() for row in rows):
        raise ArtifactError(f"{path}: a row with more or fewer than {len(columns)} columns")
    return rows


def join_tables(tables: Mapping[str, list[dict[str, str]]]) -> list[dict[str, str]]:
    """Return the rows of the papers' tables one after the other; raises ArtifactError for a row that is there twice."""
    rows = [row for table in tables.values() for row in table]
    keys = [tuple(row[name] for name in COLUMNS[:5]) for row in rows]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise ArtifactError(f"{', '.join(tables)}: rows that are there twice: {sorted(twice)}")
    return rows
