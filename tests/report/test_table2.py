"""Table 2: poolings beside the last token, in both forms."""

from scores_files import scores_file

from slmcollab.report.measured import Measured
from slmcollab.report.rows import format_rows
from slmcollab.report.table2 import COLUMNS, table2_latex, table2_rows
from slmcollab.report.tables import csv_text


def row(pooling, method, seeds, team="toy"):
    return {"benchmark": "sums", "team": team, "pooling": pooling, "method": method, "seeds": seeds}


GRID = {
    "paper": "musketeers",
    "rows": [
        row("first_token", "hidden_state_first_token", [0]),
        row("last_token", "hidden_state", [1, 0]),
        row("sampled_layer", "hidden_state_sampled_layer", []),
        row("first_token", "hidden_state_first_token", [0], team="other"),
    ],
}
FILES = {
    "a": scores_file(("sums", "hidden_state", "toy"), 0, [1, 1, 1, 0], seen=[3]),
    "b": scores_file(("sums", "hidden_state", "toy"), 1, [1, 1, 1, 0], seen=[3]),
    "c": scores_file(("sums", "hidden_state_first_token", "toy"), 0, [0, 0, 0, 0], seen=[3]),
    "d": scores_file(("sums", "hidden_state_first_token", "other"), 0, [1, 0, 0, 0], seen=[3]),
}


def test_rows_by_hand():
    # First against last token: three of four questions differ, all downwards, 2 of 8 flips.
    # Against a last token that is not run (team other) there is no p.
    published = {("sums", "hidden_state_first_token", "toy", "accuracy"): (75.13, "page 8")}
    text = csv_text(COLUMNS, format_rows(table2_rows(FILES, GRID, published)))
    lines = text.splitlines()
    assert lines[0] == (
        "benchmark,team,pooling,method,metric,mean,std,n_seeds,published,published_source,difference,ci_low,ci_high,p_value"
    )
    assert [line for line in lines[1:] if "last" not in line and "other" not in line] == [
        "sums,toy,first_token,hidden_state_first_token,accuracy,0.00,,1,75.13,page 8,-75.13,0.00,0.00,0.2500",
        "sums,toy,first_token,hidden_state_first_token,accuracy_unseen,0.00,,1,,,,0.00,0.00,0.2500",
        "sums,toy,sampled_layer,hidden_state_sampled_layer,accuracy,,,0,,,,,,",
        "sums,toy,sampled_layer,hidden_state_sampled_layer,accuracy_unseen,,,0,,,,,,",
    ]
    assert [line.split(",")[2:5] for line in lines[3:5]] == [
        ["last_token", "hidden_state", "accuracy"],
        ["last_token", "hidden_state", "accuracy_unseen"],
    ]
    assert "75.00,0.00,2," in lines[3]
    assert lines[4].endswith("100.00,0.00,2,,,,100.00,100.00,")  # the baseline itself has no p
    assert lines[7].startswith("sums,other,first_token,hidden_state_first_token,accuracy,25.00,,1,")
    assert lines[7].endswith(",")


def test_latex_has_a_line_per_pooling():
    lines = table2_latex(table2_rows(FILES, GRID, {})).splitlines()
    top, bottom = lines.index(r"\midrule"), lines.index(r"\bottomrule")
    assert lines[top - 1] == r"Benchmark & Team & Pooling & Accuracy & Accuracy, unseen & p \\"
    assert lines[top + 1 : bottom] == [
        r"sums & toy & first\_token & 0.0 & 0.0 & 0.2500 \\",
        r"sums & toy & last\_token & \textbf{75.0} $\pm$ 0.0 & \textbf{100.0} $\pm$ 0.0 & -- \\",
        r"sums & toy & sampled\_layer & -- & -- & -- \\",
        r"sums & other & first\_token & \textbf{25.0} & \textbf{33.3} & -- \\",
    ]


def test_no_ablation_is_an_empty_table():
    assert table2_rows({}, {"paper": "musketeers", "rows": []}, {}) == []
    assert r"\midrule" in table2_latex([])


def test_a_cell_has_the_interval_that_table_1_shows():
    from slmcollab.report.table1 import table_rows

    files = {name: FILES[name] for name in ("a", "b")}
    cell = {"benchmark": "sums", "method": "hidden_state", "team": "toy", "seeds": [0, 1]}
    one = table_rows(files, {"paper": "musketeers", "baseline": "single", "cells": [cell]}, {})[0].measured
    two = table2_rows(files, {"paper": "musketeers", "rows": [GRID["rows"][1]]}, {})[0].measured
    assert one == two != Measured()
