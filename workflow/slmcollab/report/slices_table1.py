"""Table 1 of slices: systems by metrics, beside the paper's values, each tested against the reference system."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from slmcollab.analysis.points import Scores, metric_pair
from slmcollab.report.latex import MISSING, escape, latex_table, seeds_note
from slmcollab.report.measured import Measured
from slmcollab.report.rows import Published, Row
from slmcollab.report.slices_measured import Points, measure, system_points
from slmcollab.report.table1 import NAMES, STEP_SCORER
from slmcollab.report.tables import Key, format_number, group_scores

DAGGER, DOUBLE_DAGGER, ALPHA = r"\dagger", r"\ddagger", 0.05


def as_cells(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the scores files with their system as the method of a cell without a team."""
    named = {name: {**content, "method": content.get("system")} for name, content in scores.items()}
    return {name: {**content, "team": "none"} for name, content in named.items()}


def slices_rows(scores: Mapping[str, Scores], grid: Mapping[str, Any], published: Published) -> list[Row]:
    """Return a row per cell and metric in the order of the grid: the two metrics of the paper, then ours by name.

    grid: {"paper", "reference", "cells": [{"benchmark", "method", "team", "seeds", "evaluator": who scored the steps
    that it learned from, or null}]}; published: see `read_table1`. A cell without seeds keeps its rows, n_seeds 0. p is
    that of the paired test to the method `reference` on the same benchmark, None for itself and where it is missing.
    It is of that one test alone and stays so in the tidy table: only the marks of the LaTeX table allow for the number
    of tests. Raises what `group_scores` and `measure` raise.
    """
    contents = as_cells(scores)
    groups = group_scores(contents, grid["cells"])
    scorers = {(cell["benchmark"], cell["method"]): cell["evaluator"] or "" for cell in grid["cells"]}
    metrics = {benchmark: _metrics(benchmark, contents, published) for benchmark, *_ in groups}
    base: dict[tuple[str, str], Points] = {}
    rows = []
    for key, files in groups.items():
        benchmark, method, team = key
        for metric in metrics[benchmark]:
            if (benchmark, metric) not in base:
                reference = groups.get((benchmark, grid["reference"], team), {})
                base[benchmark, metric] = system_points(reference.values(), contents, metric)
            against = None if method == grid["reference"] else base[benchmark, metric]
            measured = measure(key, metric, files.values(), contents, against)
            names = dict(zip(NAMES, (grid["paper"], *key, metric), strict=True))
            names[STEP_SCORER] = scorers[benchmark, method]
            rows.append(Row(names, measured, *published.get((*key, metric), (None, None))))
    return rows


def _metrics(benchmark: str, scores: Mapping[str, Scores], published: Published) -> list[str]:
    """Return what a benchmark measures, as its scores files say, as the paper says where nothing was run."""
    for name, content in scores.items():
        if content["benchmark"] == benchmark:
            pair = metric_pair(name, content)
            return [*pair, *sorted(set(content["metrics"]) - set(pair))]
    return list(dict.fromkeys(key[3] for key in published if key[0] == benchmark))


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


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number (Holm 1979), in the order given."""
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted


def slices_latex(rows: Sequence[Row], grid: Mapping[str, Any]) -> str:
    r"""Return the paper's metrics as LaTeX: a system a line, a metric a column.

    grid: {"reference", "rows": [methods that are rows of the paper's table], "step_scorer": who scored the steps}
    beside what `slices_rows` reads; the baselines are the rows but the reference. A cell is "mean ± std", the arrow and
    distance to the mean of the baselines that were run, and its mark: † at p <= 0.05, ‡ where that stands after Holm's
    correction over baselines and metrics. The best mean of a column is bold, the second underlined.
    """
    shown = _paper_metrics(rows)
    baselines = [method for method in grid["rows"] if method != grid["reference"]]
    gains, marks = above_baselines(shown, baselines), _marks(shown, baselines)
    columns = list(dict.fromkeys((row.names["benchmark"], row.names["metric"]) for row in shown))
    lines = {method: [MISSING] * len(columns) for method in dict.fromkeys(row.names["method"] for row in shown)}
    for place, (benchmark, metric) in enumerate(columns):
        column = {
            r.names["method"]: r for r in shown if (r.names["benchmark"], r.names["metric"]) == (benchmark, metric)
        }
        styles = _styles({method: row.measured for method, row in column.items()})
        for method in column:
            key = (benchmark, method, metric)
            lines[method][place] = styles[method] + _arrow(gains[key]) + marks.get(key, "")
    note = seeds_note(row.measured for row in shown).replace("is bold", "is bold, the second underlined")
    caption = (
        "Systems in percent points, two metrics a benchmark. Arrows: distance to the mean of the baselines. † p at most"
        f" 0.05 in a paired permutation test over questions to {grid['reference']}, ‡ after Holm's correction over"
        f" baselines and metrics. Scores of steps come from {grid['step_scorer']}. {note}"
    )
    titles = ["System", *(f"{benchmark} {metric}" for benchmark, metric in columns)]
    body = [[escape(method), *cells] for method, cells in lines.items()]
    return _daggers(latex_table(titles, body, caption=caption, label="slices-table1"))


def _paper_metrics(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of each benchmark's first two metrics."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(row.names["benchmark"], {})[row.names["metric"]] = None
    return [row for row in rows if row.names["metric"] in list(found[row.names["benchmark"]])[:2]]


def _marks(rows: Sequence[Row], baselines: Sequence[str]) -> dict[Key, str]:
    tested = [r for r in rows if r.names["method"] in baselines and r.measured.p_value is not None]
    p_values = [row.measured.p_value for row in tested]
    marks = {}
    for row, raw, adjusted in zip(tested, p_values, holm(p_values), strict=True):
        if raw <= ALPHA:
            key = (row.names["benchmark"], row.names["method"], row.names["metric"])
            marks[key] = f"$^{{{DOUBLE_DAGGER if adjusted <= ALPHA else DAGGER}}}$"
    return marks


def _styles(column: Mapping[str, Measured]) -> dict[str, str]:
    """Return "mean ± std" of each system; means that print alike share their place."""
    printed = {method: format_number(measured.mean, 1) for method, measured in column.items()}
    places = sorted({float(text) for text in printed.values() if text}, reverse=True)
    texts = {}
    for method, text in printed.items():
        place = places.index(float(text)) if text else None
        form = {0: rf"\textbf{{{text}}}", 1: rf"\underline{{{text}}}"}.get(place, text or MISSING)
        std = column[method].std
        texts[method] = form if std is None else rf"{form} $\pm$ {format_number(std, 1)}"
    return texts


def _arrow(gain: float | None) -> str:
    if gain is None:
        return ""
    return rf" $\{'uparrow' if gain >= 0 else 'downarrow'}${format_number(abs(gain), 1)}"


def _daggers(text: str) -> str:
    return text.replace("†", rf"${DAGGER}$").replace("‡", rf"${DOUBLE_DAGGER}$")
