"""Table 1 of slices: systems by metrics, beside the paper's values, each tested against the reference system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from slmcollab.analysis.paired_tests import Comparison, holm
from slmcollab.analysis.points import Scores, metric_pair
from slmcollab.report.rows import Published, Row, format_p, format_rows
from slmcollab.report.slices_measured import System, compare, measure, system_points
from slmcollab.report.table1 import NAMES, STEP_SCORER
from slmcollab.report.tables import Key, format_number, group_scores

DAGGER, DOUBLE_DAGGER, ALPHA = "†", "‡", 0.05


@dataclass(frozen=True)
class SystemRow(Row):
    """A row with its test to the reference system, None for that system itself and where one of the two is missing.

    p_holm: p adjusted for the `num_tests` tests of baselines on the paper's metrics, mark: † or ‡, of these tests only;
    above_baselines: mean minus the mean over the baselines that were run, in percent points, None without any.
    """

    comparison: Comparison | None = None
    p_holm: float | None = None
    num_tests: int | None = None
    mark: str = ""
    above_baselines: float | None = None

    @property
    def key(self) -> Key:
        return self.names["benchmark"], self.names["method"], self.names["metric"]


def as_cells(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the scores files with their system as the method of a cell without a team."""
    named = {name: {**content, "method": content.get("system")} for name, content in scores.items()}
    return {name: {**content, "team": "none"} for name, content in named.items()}


def slices_rows(scores: Mapping[str, Scores], grid: Mapping[str, Any], published: Published) -> list[SystemRow]:
    """Return a row per cell and metric in the order of the grid: the two metrics of the paper, then ours by name.

    grid: {"paper", "reference", "rows": [methods that are rows of the paper's table; the baselines are those but the
    reference], "cells": [{"benchmark", "method", "team", "seeds", "evaluator": who scored the steps that it learned
    from, or null}]}; published: see `read_table1`. A cell without seeds keeps its rows, n_seeds 0. Every system is
    tested against the method `reference` on the same benchmark, see `compare`. Raises what `group_scores`, `measure`
    and `compare` raise.
    """
    contents = as_cells(scores)
    groups = group_scores(contents, grid["cells"])
    scorers = {(cell["benchmark"], cell["method"]): cell["evaluator"] or "" for cell in grid["cells"]}
    metrics = {benchmark: _metrics(benchmark, contents, published) for benchmark, *_ in groups}
    base: dict[tuple[str, str], System] = {}
    rows = []
    for key, files in groups.items():
        benchmark, method, team = key
        reference = groups.get((benchmark, grid["reference"], team), {})
        for metric in metrics[benchmark]:
            measured, comparison = measure(key, metric, files.values(), contents), None
            if files and reference and method != grid["reference"]:
                if (benchmark, metric) not in base:
                    base[benchmark, metric] = system_points(reference.values(), contents, metric)
                ours = system_points(files.values(), contents, metric)
                comparison = compare(key, metric, ours, base[benchmark, metric])
            names = dict(zip(NAMES, (grid["paper"], *key, metric), strict=True))
            names[STEP_SCORER] = scorers[benchmark, method]
            measured = replace(measured, p_value=comparison.p_value if comparison else None)
            rows.append(SystemRow(names, measured, *published.get((*key, metric), (None, None)), comparison))
    return with_marks(rows, [method for method in grid["rows"] if method != grid["reference"]])


def _metrics(benchmark: str, scores: Mapping[str, Scores], published: Published) -> list[str]:
    """Return what a benchmark measures, as its scores files say, as the paper says where nothing was run."""
    for name, content in scores.items():
        if content["benchmark"] == benchmark:
            pair = metric_pair(name, content)
            return [*pair, *sorted(set(content["metrics"]) - set(pair))]
    return list(dict.fromkeys(key[3] for key in published if key[0] == benchmark))


def with_marks(rows: Sequence[SystemRow], baselines: Sequence[str]) -> list[SystemRow]:
    """Return the rows with their distance to the mean of the baselines, and with Holm's correction and mark.

    The correction is over the tests that were made of baselines on the paper's metrics: † at raw p <= 0.05, ‡ where
    that stands after it.
    """
    gains = above_baselines(rows, baselines)
    family = [row for row in paper_metrics(rows) if row.names["method"] in baselines and row.comparison]
    p_values = [row.comparison.p_value for row in family if row.comparison]
    adjusted = dict(zip((row.key for row in family), holm(p_values), strict=True))
    found = []
    for row in rows:
        tested = {}
        if row.key in adjusted and row.comparison:
            mark = DOUBLE_DAGGER if adjusted[row.key] <= ALPHA else DAGGER
            tested = {"p_holm": adjusted[row.key], "num_tests": len(family)}
            tested["mark"] = mark if row.comparison.p_value <= ALPHA else ""
        found.append(replace(row, above_baselines=gains[row.key], **tested))
    return found


def paper_metrics(rows: Sequence[SystemRow]) -> list[SystemRow]:
    """Return the rows of each benchmark's first two metrics."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(row.names["benchmark"], {})[row.names["metric"]] = None
    return [row for row in rows if row.names["metric"] in list(found[row.names["benchmark"]])[:2]]


def above_baselines(rows: Sequence[Row], baselines: Sequence[str]) -> dict[Key, float | None]:
    """Return (benchmark, method, metric) -> mean minus the mean over the baselines that were run, None without any."""
    columns: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row.names["method"] in baselines and row.measured.mean is not None:
            found = columns.setdefault((row.names["benchmark"], row.names["metric"]), {})
            found[row.names["method"]] = row.measured.mean
    gains: dict[Key, float | None] = {}
    for row in rows:
        others, mean = columns.get((row.names["benchmark"], row.names["metric"])), row.measured.mean
        key = (row.names["benchmark"], row.names["method"], row.names["metric"])
        gains[key] = mean - fmean(others.values()) if others and mean is not None else None
    return gains


def format_system_rows(rows: Sequence[SystemRow]) -> list[dict[str, str]]:
    """Return the printed text of `table1.COLUMNS`."""
    return [
        {
            **printed,
            "test": row.comparison.test if row.comparison else "",
            "n_pairs": str(row.comparison.n_pairs) if row.comparison else "",
            "n_discordant": str(row.comparison.n_discordant) if row.comparison else "",
            "p_holm": format_p(row.p_holm),
            "n_tests": str(row.num_tests or ""),
            "mark": row.mark,
            "above_baselines": format_number(row.above_baselines),
        }
        for row, printed in zip(rows, format_rows(rows), strict=True)
    ]
