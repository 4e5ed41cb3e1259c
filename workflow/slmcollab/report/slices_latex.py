"""Table 1 of slices for readers: a system a line, a metric of the paper a column."""

from collections.abc import Mapping, Sequence
from typing import Any

from slmcollab.report.latex import MISSING, escape, latex_table, seeds_note
from slmcollab.report.slices_table1 import ALPHA, DAGGER, DOUBLE_DAGGER, SystemRow, paper_metrics
from slmcollab.report.tables import format_number

MARKS = {DAGGER: r"$^{\dagger}$", DOUBLE_DAGGER: r"$^{\ddagger}$", "": ""}


def slices_latex(rows: Sequence[SystemRow], grid: Mapping[str, Any]) -> str:
    r"""Return the paper's rows and metrics as LaTeX, missing cells included.

    grid: {"reference", "rows": [methods that are rows of the paper's table], "step_scorer": who scored the steps}
    beside what `slices_rows` reads. A cell is "mean ± std", the arrow and distance to the mean of the baselines that
    were run, and its mark. The best mean of a column is bold, the second underlined. Below a system that the paper
    prints is a line with the paper's value and, in brackets, ours less the paper's.
    """
    shown = [row for row in paper_metrics(rows) if row.names["method"] in grid["rows"]]
    columns = list(dict.fromkeys((row.names["benchmark"], row.names["metric"]) for row in shown))
    cells: dict[tuple[str, tuple[str, str]], SystemRow] = {}
    for row in shown:
        cells[row.names["method"], (row.names["benchmark"], row.names["metric"])] = row
    styles = _styles(cells, columns)
    body = []
    for method in dict.fromkeys(row.names["method"] for row in shown):
        line = [cells.get((method, column)) for column in columns]
        body.append([escape(method), *(_cell(row, styles) if row else MISSING for row in line)])
        if any(row and row.published is not None for row in line):
            body.append([r"\quad paper", *(_published(row) if row else "" for row in line)])
    below = any(row.published is not None for row in shown)
    printed = " Below a system: the paper's value and, in brackets, ours less the paper's." if below else ""
    num_tests = next((row.num_tests for row in shown if row.num_tests), 0)
    note = seeds_note(row.measured for row in shown).replace("is bold", "is bold, the second underlined")
    caption = (
        "Systems in percent points, two metrics a benchmark. Arrows: distance to the mean of the baselines."
        f" † p at most {ALPHA} in a paired test over questions to {grid['reference']} (McNemar's exact test for right"
        " or wrong and one run a side, else the bootstrap, as for programs in several languages), whichever is better,"
        f" ‡ after Holm's correction over the {num_tests} tests of baselines on these metrics."
        " Tests are over questions only: no mark tells how another training would turn out."
        f"{printed} Scores of steps come from {grid['step_scorer']}. {note}"
    )
    titles = ["System", *(f"{benchmark} {metric}" for benchmark, metric in columns)]
    text = latex_table(titles, body, caption=caption, label="slices-table1")
    return text.replace(DAGGER, r"$\dagger$").replace(DOUBLE_DAGGER, r"$\ddagger$")


def _styles(
    cells: Mapping[tuple[str, tuple[str, str]], SystemRow], columns: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, str]]:
    """Return, for each column, the form of a printed mean: the best bold, ties alike, below one best the second."""
    found = {}
    for place in columns:
        printed = [format_number(row.measured.mean, 1) for (_, column), row in cells.items() if column == place]
        ranked = sorted(filter(None, printed), key=float, reverse=True)
        # Where two share the best value it is in both places, and bold: there is no second then.
        found[place] = dict.fromkeys(ranked[1:2], r"\underline{%s}") | dict.fromkeys(ranked[:1], r"\textbf{%s}")
    return found


def _cell(row: SystemRow, styles: Mapping[tuple[str, str], Mapping[str, str]]) -> str:
    mean, std = format_number(row.measured.mean, 1), row.measured.std
    if not mean:
        return MISSING
    text = styles[row.names["benchmark"], row.names["metric"]].get(mean, "%s") % mean
    spread = "" if std is None else rf" $\pm$ {format_number(std, 1)}"
    return text + spread + _arrow(row.above_baselines) + MARKS[row.mark]


def _arrow(gain: float | None) -> str:
    if gain is None:
        return ""
    return rf" $\{'uparrow' if gain >= 0 else 'downarrow'}${format_number(abs(gain), 1)}"


def _published(row: SystemRow) -> str:
    """Return the paper's value, as many decimals as it prints, and the difference with its sign."""
    difference = "" if row.difference is None else f" (${row.difference:+z.1f}$)"
    return format_number(row.published) + difference
