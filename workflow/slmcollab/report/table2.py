"""Table 2: what is pooled from an expert. One metric of one pooling a row, beside the last token of the last layer."""

from collections.abc import Mapping, Sequence
from typing import Any

from slmcollab.report.latex import MISSING, escape, latex_table, mean_texts, seeds_note
from slmcollab.report.measured import cell_points, measure
from slmcollab.report.rows import NUMBERS, Published, Row
from slmcollab.report.tables import Scores, format_number, group_scores

METRICS = ("accuracy", "accuracy_unseen")
NAMES = ("benchmark", "team", "pooling", "method", "metric")
COLUMNS = (*NAMES, *NUMBERS)
BASELINE = "last_token"


def table2_rows(scores: Mapping[str, Scores], grid: Mapping[str, Any], published: Published) -> list[Row]:
    """Return the rows of the ablation in the order of the grid, METRICS within a pooling.

    grid: {"rows": [{"benchmark", "team", "pooling", "method", "seeds"}]}; published: see `read_published`. A row
    without seeds and a metric that no seed has stay: no mean, n_seeds 0. p is that of the paired test to the pooling
    `last_token` of the same benchmark and team, None for itself and where it is missing. Raises what `group_scores`
    and `measure` raise.
    """
    groups = group_scores(scores, grid["rows"])
    last_token = {
        (row["benchmark"], row["team"]): groups[row["benchmark"], row["method"], row["team"]]
        for row in grid["rows"]
        if row["pooling"] == BASELINE
    }
    rows = []
    for row in grid["rows"]:
        benchmark, method, team = key = row["benchmark"], row["method"], row["team"]
        for metric in METRICS:
            against = None
            if row["pooling"] != BASELINE:
                against = cell_points(last_token.get((benchmark, team), {}).values(), scores, metric)
            measured = measure(key, metric, groups[key].values(), scores, against)
            names = dict(zip(NAMES, (benchmark, team, row["pooling"], method, metric), strict=True))
            rows.append(Row(names, measured, *published.get((*key, metric), (None, None))))
    return rows


def table2_latex(rows: Sequence[Row]) -> str:
    """Return the rows of `table2_rows` as LaTeX: a pooling a line with both accuracies and the p of the first.

    The best mean of a benchmark and team is bold.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.names["benchmark"], row.names["team"]), []).append(row)
    lines = []
    for group in groups.values():
        columns = {metric: [row for row in group if row.names["metric"] == metric] for metric in METRICS}
        names = [[escape(row.names[name]) for name in NAMES[:3]] for row in columns["accuracy"]]
        means = [mean_texts([row.measured for row in column]) for column in columns.values()]
        p_values = [format_number(row.measured.p_value, 4) or MISSING for row in columns["accuracy"]]
        lines += [[*name, *rest] for name, *rest in zip(names, *means, p_values, strict=True)]
    caption = (
        "Pooling of the experts' hidden states: accuracy in percent points, on all test questions and on those that do"
        f" not occur in train. p: paired permutation test over questions to {BASELINE}, all test questions."
        f" {seeds_note(row.measured for row in rows)}"
    )
    columns = ["Benchmark", "Team", "Pooling", "Accuracy", "Accuracy, unseen", "p"]
    return latex_table(columns, lines, caption=caption, label="table2")
