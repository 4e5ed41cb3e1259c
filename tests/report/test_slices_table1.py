"""Table 1 of slices: rows, arrows, marks, and what the paper's own 120 numbers say."""

from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from recorded import verdict

from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured
from slmcollab.report.rows import Row, format_rows
from slmcollab.report.slices_published import read_table1
from slmcollab.report.slices_table1 import above_baselines, holm, slices_latex, slices_rows
from slmcollab.report.table1 import COLUMNS, NAMES
from slmcollab.report.tables import csv_text

PUBLISHED = Path(__file__).parents[2] / "workflow/published/slices_table1.csv"
METHODS = (
    *("qwen3_14b", "se_rl", "homo_mas", "homo_cl", "mad", "agentverse", "aflow", "gptswarm"),
    *("magrpo", "maporl", "at_grpo", "cl"),
)
COLUMN_ORDER = [
    *[(benchmark, metric) for benchmark in ("musique", "gsm_hard", "math") for metric in ("accuracy", "f1")],
    *[("multipl_e", metric) for metric in ("weighted", "macro")],
    *[("conifer", metric) for metric in ("coverage", "explicit")],
]
# The arrows that the paper prints beside its numbers, a method a line, in the order of COLUMN_ORDER.
ARROWS = """
  0.87   0.47   1.65   3.19   4.40   3.25   1.08   2.59   0.17   0.62
  3.07   3.48   0.89   2.17   5.80   1.09   6.33   7.80   0.17   0.71
-12.28 -16.41   3.92   2.43  -2.00  -3.20   2.26   2.45   0.19  -0.83
 -2.68  -2.04  -6.68  -0.99  -1.60  -1.66  -0.77  -2.10   0.32   0.12
  0.83   1.36  -0.62  -3.32   2.20   1.71   0.93   0.60   0.72   0.74
  3.31   3.62   4.68   0.94  -2.00  -0.19   5.15   5.08  -0.09   0.76
  3.15   1.13   0.89  -1.46  -5.20  -3.08 -11.27 -12.29   0.09   1.41
 -2.48  -1.86   3.16   0.89  -1.00   0.29  -2.47  -2.32   0.34   0.86
  1.45   2.51  -1.38  -1.06  -5.20  -3.60  -4.17  -4.27   0.75   0.72
  1.91   3.51  -3.65  -2.16   0.60   1.26  -0.85  -1.48  -1.46  -5.91
  2.86   4.28  -2.90  -0.64   4.00   4.09   3.81   3.99  -1.23   0.75
  3.69   4.20   4.68   3.65   8.20   5.64   5.29   4.88   1.07   0.80
"""


@pytest.fixture(scope="module")
def printed():
    return {(key[1], key[0], key[3]): value for key, (value, _) in read_table1(PUBLISHED).items()}


def test_the_published_table_is_whole(printed):
    assert printed.keys() == {(method, *column) for method in METHODS for column in COLUMN_ORDER}


def test_published_arrows_are_distances_to_the_mean_of_the_baselines(printed):
    rows = [
        Row(dict(zip(NAMES, ("slices", benchmark, method, "none", metric), strict=True)), Measured(value, n_seeds=1))
        for (method, benchmark, metric), value in printed.items()
    ]
    found = above_baselines(rows, METHODS[:-1])
    arrows = np.array([[float(text) for text in line.split()] for line in ARROWS.split("\n")[1:-1]])
    ours = np.array([[found[benchmark, method, metric] for benchmark, metric in COLUMN_ORDER] for method in METHODS])
    assert np.abs(ours - arrows).max() < 0.0051


def test_published_gains_and_wins(printed):
    gains = {
        method: [printed["cl", *column] - printed[method, *column] for column in COLUMN_ORDER]
        for method in METHODS[:-1]
    }
    assert f"{fmean(gains['qwen3_14b']):.2f}" == "2.38"
    assert f"{fmean(gains['homo_cl']):.2f}" == "6.02"
    others = {method: round(fmean(gains[method]), 2) for method in METHODS[4:-1]}
    assert (min(others, key=others.get), min(others.values())) == ("agentverse", 2.08)
    assert (max(others, key=others.get), max(others.values())) == ("aflow", 6.87)
    wins = {method: sum(gain > 0 for gain in found) for method, found in gains.items()}
    assert [wins[method] for method in ("qwen3_14b", "se_rl", "homo_mas", "homo_cl")] == [10, 8, 10, 10]


def scores_file(benchmark, system, seed, points, metrics=("accuracy", "f1"), groups=None):
    """Return a parsed scores.json: points are the scores of questions q0, q1, ...; correct is a score of 1."""
    problems = {
        f"q{i}": verdict(
            point == 1,
            score=float(point),
            metrics={metrics[0]: float(point == 1), metrics[1]: float(point)},
            group=groups[i] if groups else None,
        )
        for i, point in enumerate(points)
    }
    means = {metrics[0]: 100 * fmean(point == 1 for point in points), metrics[1]: 100 * fmean(points)}
    return {"benchmark": benchmark, "system": system, "seed": seed, "metrics": means, "problems": problems}


def cell(method, seeds, benchmark="sums"):
    names = {"benchmark": benchmark, "method": method, "team": "none", "seeds": seeds}
    return names | {"evaluator": "oracle" if method == "cl" else None}


GRID = {
    "paper": "slices",
    "reference": "cl",
    "rows": ["single", "mad", "cl"],
    "step_scorer": "oracle",
    "cells": [cell("single", [0]), cell("mad", []), cell("cl", [0, 1])],
}
SEEDS = (("a", "single", 0), ("b", "cl", 0), ("c", "cl", 1))
FILES = {
    "a": scores_file("sums", "single", 0, [0, 0.5, 0, 0, 0]),
    "b": scores_file("sums", "cl", 0, [1, 1, 1, 1, 0]),
    "c": scores_file("sums", "cl", 1, [1, 1, 1, 1, 0.5]),
}


def test_rows_by_hand():
    # Accuracy: 0 against 80 and 80. Four of five questions differ, all upwards: 2 of 16 flips. F1: 10 against 80 and
    # 90; five differ, upwards by 100, 50, 100, 100 and 25: 2 of 32 flips.
    published = {("sums", "cl", "none", "accuracy"): (81.0, "paper"), ("sums", "mad", "none", "f1"): (50.0, "paper")}
    text = csv_text(COLUMNS, format_rows(slices_rows(FILES, GRID, published)))
    lines = text.splitlines()
    assert [line.split(",")[1:8] for line in lines[1:]] == [
        ["sums", "single", "none", "accuracy", "0.00", "", "1"],
        ["sums", "single", "none", "f1", "10.00", "", "1"],
        ["sums", "mad", "none", "accuracy", "", "", "0"],
        ["sums", "mad", "none", "f1", "", "", "0"],
        ["sums", "cl", "none", "accuracy", "80.00", "0.00", "2"],
        ["sums", "cl", "none", "f1", "85.00", "7.07", "2"],
    ]
    assert [line.rsplit(",", 2)[1] for line in lines[1:]] == ["0.1250", "0.0625", "", "", "", ""]
    assert [line.rsplit(",", 1)[1] for line in lines] == ["step_scorer", "", "", "", "", "oracle", "oracle"]
    assert lines[5].split(",")[8:11] == ["81.00", "paper", "-1.00"]
    assert lines[4].split(",")[8:11] == ["50.00", "paper", ""]


def test_macro_weighs_groups_alike():
    # Two cells: three Python programs of which one passes, one C++ program that passes. Weighted 2 / 4; macro (1/3 + 1)
    # / 2. Against a side where nothing passes, two programs differ: 2 of 4 flips at most as far as both together.
    groups = ["humaneval-py", "humaneval-py", "humaneval-py", "mbpp-cpp"]

    def programs(system, passed):
        file = scores_file("code", system, 0, passed, ("weighted", "pass"), groups)
        cells = [fmean(passed[:3]), passed[3]]
        return file | {"metrics": {"weighted": 100 * fmean(passed), "macro": 100 * fmean(cells)}}

    files = {"a": programs("single", [0, 0, 0, 0]), "b": programs("cl", [1, 0, 0, 1])}
    grid = {**GRID, "cells": [cell("single", [0], "code"), cell("cl", [0], "code")]}
    rows = slices_rows(files, grid, {})
    assert [row.names["metric"] for row in rows] == ["weighted", "macro"] * 2
    assert rows[3].measured.mean == pytest.approx(200 / 3)
    assert rows[1].measured.p_value == 0.5
    # The C++ cell cannot vary, the Python cell goes from 0 to 3 of 3: between (0 + 1) / 2 and (1 + 1) / 2.
    assert (rows[3].measured.ci_low, rows[3].measured.ci_high) == pytest.approx((50.0, 100.0))


def test_translations_of_a_task_are_one_question():
    # Two tasks in three languages, cl passes all of both or of the first: 2 of 2^2 flips are as large, or 2 of 2^1.
    groups = ["humaneval-cpp", "humaneval-py", "humaneval-sh"] * 2

    def programs(system, passed):
        file = scores_file("code", system, 0, passed, ("weighted", "pass"), groups)
        for index, row in enumerate(file["problems"].values()):
            row["task"] = f"humaneval/{index // 3}"
        return file | {"metrics": dict.fromkeys(("weighted", "macro"), 100 * fmean(passed))}

    grid = {**GRID, "cells": [cell("single", [0], "code"), cell("cl", [0], "code")]}
    for passed, p_value in (([1] * 6, 0.5), ([1, 1, 1, 0, 0, 0], 1.0)):
        rows = slices_rows({"a": programs("single", [0] * 6), "b": programs("cl", passed)}, grid, {})
        assert [row.measured.p_value for row in rows[:2]] == [p_value, p_value]
    # Of two tasks drawn none is the first in 1/4: the interval has 0 and 100, of programs and of cells.
    assert [(row.measured.ci_low, row.measured.ci_high) for row in rows[2:]] == [(0.0, 100.0)] * 2


def test_an_answer_that_could_not_be_judged_leaves_its_question_to_the_other_seeds():
    # cl's q0 is judged in one seed, q1 in none: q1 is in no test. The other four differ, upwards: 2 of 2^4 flips.
    files = {name: scores_file("sums", system, seed, [float(system == "cl")] * 5) for name, system, seed in SEEDS}
    for name, questions in (("b", ["q0", "q1"]), ("c", ["q1"])):
        for question in questions:
            files[name]["problems"][question] |= {"metrics": {}, "error": "timed_out"}
    rows = slices_rows(files, GRID, {})
    assert rows[0].measured.p_value == 2 / 16
    files["c"]["problems"]["q4"] |= {"metrics": {}, "error": "not_run: no compiler"}
    with pytest.raises(ArtifactError, match=r"c: not the same questions were run, only on one side \['q4'\]"):
        slices_rows(files, GRID, {})


def test_a_file_whose_problems_say_something_else_stops_the_table():
    wrong = {**FILES["a"], "metrics": {"accuracy": 20.0, "f1": 10.0}}
    with pytest.raises(ArtifactError, match=r"accuracy is 20\.0"):
        slices_rows({**FILES, "a": wrong}, GRID, {})


def test_a_benchmark_that_was_not_run_keeps_the_rows_that_the_paper_has():
    published = {("code", "cl", "none", metric): (50.0, "paper") for metric in ("weighted", "macro")}
    rows = slices_rows({}, {**GRID, "cells": [cell("cl", [], "code")]}, published)
    assert [(row.names["metric"], row.measured) for row in rows] == [("weighted", Measured()), ("macro", Measured())]


def test_holm_by_hand():
    # Sorted .01, .02, .03 times 3, 2, 1: .03, .04, .03, and no later one below an earlier one.
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_latex_by_hand():
    rows = [
        Row({**dict(zip(NAMES, ("slices", "sums", method, "none", metric), strict=True))}, measured)
        for method, metric, measured in [
            ("single", "accuracy", Measured(40.0, None, 1, p_value=0.02)),
            ("single", "f1", Measured(50.0, None, 1, p_value=0.04)),
            ("mad", "accuracy", Measured(60.0, 1.5, 2, p_value=0.3)),
            ("mad", "f1", Measured()),
            ("cl", "accuracy", Measured(70.0, 2.0, 2)),
            ("cl", "f1", Measured(50.0, 2.0, 2)),
        ]
    ]
    lines = slices_latex(rows, GRID).splitlines()
    top, bottom = lines.index(r"\midrule"), lines.index(r"\bottomrule")
    assert lines[top - 1] == r"System & sums accuracy & sums f1 \\"
    # Baselines' mean accuracy 50, F1 50. Holm: .02 * 3 = .06, so one mark only.
    assert lines[top + 1 : bottom] == [
        r"single & 40.0 $\downarrow$10.0$^{\dagger}$ & \textbf{50.0} $\uparrow$0.0$^{\dagger}$ \\",
        r"mad & \underline{60.0} $\pm$ 1.5 $\uparrow$10.0 & -- \\",
        r"cl & \textbf{70.0} $\pm$ 2.0 $\uparrow$20.0 & \textbf{50.0} $\pm$ 2.0 $\uparrow$0.0 \\",
    ]
    caption = next(line for line in lines if line.startswith(r"\caption"))
    assert "oracle" in caption
    assert r"$\ddagger$ after Holm" in caption
    strong = slices_latex([Row(rows[0].names, Measured(40.0, None, 1, p_value=0.001))], GRID)
    assert r"40.0} $\uparrow$0.0$^{\ddagger}$" in strong
