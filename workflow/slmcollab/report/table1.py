"""Table 1: one metric of one cell of the grid a row for programs, methods by benchmarks for readers."""

from collections.abc import Mapping, Sequence
from typing import Any

from slmcollab.artifacts import ArtifactError
from slmcollab.report.latex import escape, latex_table, mean_texts, seeds_note
from slmcollab.report.measured import Measured, cell_points, measure
from slmcollab.report.rows import NUMBERS, Published, Row
from slmcollab.report.tables import Scores, group_scores

METRICS = ("accuracy", "accuracy_seen", "accuracy_unseen", "score_mean")
NAMES = ("paper", "benchmark", "method", "team", "metric")
STEP_SCORER = "step_scorer"
TEST, PERMUTATION = "test", "permutation"
# Of the systems of slices alone, so empty for the other paper; STEP_SCORER also where no steps were scored.
OF_SYSTEMS = ("p_holm", "n_tests", "mark", "n_pairs", "n_discordant", "above_baselines", STEP_SCORER)
COLUMNS = (*NAMES, *NUMBERS, TEST, *OF_SYSTEMS)
NO_TEAM = "none"


def table_rows(scores: Mapping[str, Scores], grid: Mapping[str, Any], published: Published) -> list[Row]:
    """Return the rows of one paper's table in the order of the grid, METRICS within a cell.

    grid: {"paper", "baseline", "cells": [{"benchmark", "method", "team", "seeds"}]}; published: see `read_published`. A
    cell without seeds and a metric that no seed has keep their rows: no mean, n_seeds 0. p is that of the paired test
    to the method `baseline` without a team on the same benchmark, None for itself and where it is missing. Raises what
    `group_scores` and `measure` raise.
    """
    groups = group_scores(scores, grid["cells"])
    base: dict[tuple[str, str], dict[str, float]] = {}
    rows = []
    for key, files in groups.items():
        benchmark, method, team = key
        baseline_files = groups.get((benchmark, grid["baseline"], NO_TEAM), {})
        for metric in METRICS:
            if (benchmark, metric) not in base:
                base[benchmark, metric] = cell_points(baseline_files.values(), scores, metric)
            against = None if (method, team) == (grid["baseline"], NO_TEAM) else base[benchmark, metric]
            measured = measure(key, metric, files.values(), scores, against)
            names = dict(zip(NAMES, (grid["paper"], *key, metric), strict=True))
            names[TEST] = "" if measured.p_value is None else PERMUTATION
            rows.append(Row(names, measured, *published.get((*key, metric), (None, None))))
    return rows


def table1_latex(rows: Sequence[Row]) -> str:
    """Return the accuracies of `table_rows` as LaTeX: a method and team a line, a benchmark a column."""
    shown = [row for row in rows if row.names["metric"] == "accuracy"]
    benchmarks = list(dict.fromkeys(row.names["benchmark"] for row in shown))
    lines: dict[tuple[str, str], dict[str, Measured]] = {}
    for row in shown:
        lines.setdefault((row.names["method"], row.names["team"]), {})[row.names["benchmark"]] = row.measured
    titles = [escape(method if team == NO_TEAM else f"{method} ({team})") for method, team in lines]
    cells = [mean_texts([line.get(benchmark, Measured()) for line in lines.values()]) for benchmark in benchmarks]
    caption = f"Accuracy on test questions in percent points. {seeds_note(row.measured for row in shown)}"
    return latex_table(
        ["Method (team)", *benchmarks], zip(titles, *cells, strict=True), caption=caption, label="table1"
    )


def join_tables(tables: Mapping[str, list[dict[str, str]]]) -> list[dict[str, str]]:
    """Return the rows of the papers' tables one after the other; raises ArtifactError for a row that is there twice."""
    rows = [row for table in tables.values() for row in table]
    keys = [tuple(row[name] for name in NAMES) for row in rows]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise ArtifactError(f"{', '.join(tables)}: rows that are there twice: {sorted(twice)}")
    return rows
