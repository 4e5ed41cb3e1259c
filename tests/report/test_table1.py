"""Table 1: its numbers, its order, what is missing, and both its forms."""

import pytest
from scores_files import scores_file

from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured
from slmcollab.report.rows import Row, format_rows
from slmcollab.report.table1 import COLUMNS, METRICS, join_tables, table1_latex, table_rows
from slmcollab.report.tables import csv_text

HIDDEN, SINGLE, LLM = ("sums", "hidden_state", "toy"), ("sums", "single", "none"), ("sums", "hidden_state", "llm")
LOGIC = ("logic", "hidden_state", "toy")


def cell(key, seeds):
    return {**dict(zip(("benchmark", "method", "team"), key, strict=True)), "seeds": seeds}


CELLS = [cell(HIDDEN, [2, 0, 1]), cell(SINGLE, [0]), cell(LLM, []), cell(LOGIC, [0])]
GRID = {"paper": "musketeers", "baseline": "single", "cells": CELLS}
FILES = {
    "logic": scores_file(LOGIC, 0, [0.5, 0]),
    "one": scores_file(HIDDEN, 1, [1, 1, 1, 0]),
    "base": scores_file(SINGLE, 0, [0, 0, 0, 0]),
    "two": scores_file(HIDDEN, 2, [1, 1, 1, 1]),
    "zero": scores_file(HIDDEN, 0, [1, 1, 0, 0]),
}


def found(published=None, files=FILES):
    rows = table_rows(files, GRID, published or {})
    return {(*(row.names[name] for name in ("benchmark", "method", "team")), row.names["metric"]): row for row in rows}


def test_rows_are_in_the_order_of_the_grid_and_none_is_dropped():
    keys = [(*key, metric) for key in (HIDDEN, SINGLE, LLM, LOGIC) for metric in METRICS]
    assert list(found()) == keys
    assert list(found(files=dict(reversed(FILES.items())))) == keys


def test_mean_std_difference_and_p_by_hand():
    # 50, 75, 100: mean 75, sample std 25; 75 - 75.25 = -0.25.
    row = found({(*HIDDEN, "accuracy"): (75.25, "page 6")})[*HIDDEN, "accuracy"]
    assert (row.measured.mean, row.measured.std, row.measured.n_seeds) == (75, 25, 3)
    assert (row.published, row.published_source, row.difference) == (75.25, "page 6", -0.25)
    # Questions 100, 100, 200/3, 100/3 against 0: of 16 flips the two with one sign reach the sum.
    assert row.measured.p_value == 2 / 16
    assert row.names["test"] == "permutation"
    assert row.measured.ci_low < 75 < row.measured.ci_high


def test_the_baseline_has_no_p_and_one_seed_no_std():
    row = found()[*SINGLE, "accuracy"]
    assert row.names["test"] == ""
    measured = row.measured
    assert (measured.mean, measured.std, measured.n_seeds, measured.p_value) == (0, None, 1, None)
    assert (measured.ci_low, measured.ci_high) == (0, 0)


def test_without_a_baseline_on_the_benchmark_there_is_no_p():
    measured = found()[*LOGIC, "score_mean"].measured
    assert (measured.mean, measured.p_value) == (25, None)


def test_a_baseline_that_answered_other_questions_is_refused():
    with pytest.raises(ArtifactError, match=r"hidden_state.*not the baseline's questions"):
        found(files=FILES | {"base": scores_file(SINGLE, 0, [0, 0])})


def test_a_missing_cell_keeps_its_rows_and_the_published_number():
    row = found({(*LLM, "accuracy"): (61.59, "page 7")})[*LLM, "accuracy"]
    assert (row.measured, row.difference) == (Measured(), None)
    printed = format_rows([row])[0]
    empty = {"mean", "std", "difference", "ci_low", "ci_high", "p_value", "test"}
    assert {name for name, text in printed.items() if text == ""} == empty
    assert (printed["n_seeds"], printed["published"], printed["published_source"]) == ("0", "61.59", "page 7")


def test_a_metric_that_no_question_counts_is_empty():
    assert found()[*HIDDEN, "accuracy_seen"].measured == Measured()


def names(paper="p"):
    return dict(zip(COLUMNS[:5], (paper, *HIDDEN, "accuracy"), strict=True))


def test_difference_is_rounded_once_from_the_unrounded_numbers():
    # 50.004 - 49.996 = 0.008 prints as 0.01, though both print as 50.00.
    row = format_rows([Row(names(), Measured(50.004, None, 1), 49.996, "s")])[0]
    assert (row["mean"], row["published"], row["difference"]) == ("50.00", "50.00", "0.01")


def test_csv_has_these_columns():
    row = Row(names(), Measured(1.0, None, 1, 0.125, 2.0, 1 / 10_000), 2.0, "page 6")
    assert csv_text(COLUMNS, format_rows([row])) == (
        "paper,benchmark,method,team,metric,mean,std,n_seeds,published,published_source,difference,ci_low,ci_high,p_value,"
        "test,p_holm,n_tests,mark,n_pairs,n_discordant,above_baselines,step_scorer\n"
        "p,sums,hidden_state,toy,accuracy,1.00,,1,2.00,page 6,-1.00,0.12,2.00,0.0001,,,,,,,,\n"
    )


def test_rows_of_two_papers_follow_each_other_and_none_is_there_twice():
    one, two = (format_rows([Row(names(paper), Measured(7.0, None, 1))]) for paper in ("a", "b"))
    assert join_tables({"x": one, "y": two}) == [*one, *two]
    with pytest.raises(ArtifactError, match="there twice"):
        join_tables({"x": one, "y": one})


def test_latex_has_methods_by_benchmarks():
    lines = table1_latex(list(found().values())).splitlines()
    top, bottom = lines.index(r"\toprule"), lines.index(r"\bottomrule")
    assert lines[top + 1 : bottom] == [
        r"Method (team) & sums & logic \\",
        r"\midrule",
        r"hidden\_state (toy) & \textbf{75.0} $\pm$ 25.0 & \textbf{0.0} \\",
        r"single & 0.0 & -- \\",
        r"hidden\_state (llm) & -- & -- \\",
    ]
    caption = next(line for line in lines if line.startswith(r"\caption"))
    assert "percent points" in caption
    assert "n = 1 to 3 seeds" in caption
