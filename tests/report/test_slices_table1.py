"""Table 1 of slices: rows, arrows, tests and marks."""

from statistics import fmean

import pytest
from recorded import verdict

from slmcollab.analysis.paired_tests import BOOTSTRAP, MCNEMAR, Comparison
from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured
from slmcollab.report.slices_table1 import SystemRow, format_system_rows, slices_rows, with_marks
from slmcollab.report.table1 import COLUMNS, NAMES
from slmcollab.report.tables import csv_text


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
    # Accuracy: 0 against 80 and 80. Four of five questions differ, all upwards by 100: so far from 0 the sum of 400 is
    # in 1 of 5^5 resamples, below 2 / 2^4, and that is the floor. F1: 10 against 80 and 90; all five differ, floor 2 /
    # 2^5. Holm over both: .125 and 2 * .0625. The only baseline that was run is `single`, 80 and 75 below cl.
    published = {("sums", "cl", "none", "accuracy"): (81.0, "paper"), ("sums", "mad", "none", "f1"): (50.0, "paper")}
    rows = format_system_rows(slices_rows(FILES, GRID, published))
    assert csv_text(COLUMNS, rows).count("\n") == 7
    assert [
        tuple(row[name] for name in ("benchmark", "method", "metric", "mean", "std", "n_seeds")) for row in rows
    ] == [
        ("sums", "single", "accuracy", "0.00", "", "1"),
        ("sums", "single", "f1", "10.00", "", "1"),
        ("sums", "mad", "accuracy", "", "", "0"),
        ("sums", "mad", "f1", "", "", "0"),
        ("sums", "cl", "accuracy", "80.00", "0.00", "2"),
        ("sums", "cl", "f1", "85.00", "7.07", "2"),
    ]
    tested = ("p_value", "test", "p_holm", "n_tests", "mark", "n_pairs", "n_discordant")
    assert [tuple(row[name] for name in tested) for row in rows] == [
        ("0.1250", "bootstrap", "0.1250", "2", "", "5", "4"),
        ("0.0625", "bootstrap", "0.1250", "2", "", "5", "5"),
        *[("",) * 7] * 4,
    ]
    assert [row["above_baselines"] for row in rows] == ["0.00", "0.00", "", "", "80.00", "75.00"]
    assert [row["step_scorer"] for row in rows] == ["", "", "", "", "oracle", "oracle"]
    assert [rows[4][name] for name in ("published", "published_source", "difference")] == ["81.00", "paper", "-1.00"]
    assert [rows[3][name] for name in ("published", "published_source", "difference")] == ["50.00", "paper", ""]


def one_run_each(single, cl):
    files = {"a": scores_file("sums", "single", 0, single), "b": scores_file("sums", "cl", 0, cl)}
    return slices_rows(files, {**GRID, "cells": [cell("single", [0]), cell("cl", [0])]}, {})


def test_right_or_wrong_in_one_run_each_is_mcnemars_test():
    # cl alone has seven right, single alone one: 2 (1 + 8) / 2^8. F1 of the same answers is no 0 or 1: the bootstrap.
    accuracy, f1, *_ = one_run_each([0] * 7 + [1] + [1] * 4, [1] * 7 + [0.5] + [1] * 4)
    assert accuracy.comparison == Comparison(18 / 256, MCNEMAR, 12, 8)
    assert accuracy.measured.p_value == 18 / 256
    assert f1.comparison[1:] == (BOOTSTRAP, 12, 8)
    same, *_ = one_run_each([1, 0, 1], [1, 0, 1])
    assert same.comparison == Comparison(1.0, MCNEMAR, 3, 0)


def test_seeds_are_averaged_for_a_test_between_unequal_numbers_of_them():
    # cl has six questions right in both seeds, eight in one: six differ by 100, six by 50, and two by -50, which single
    # has right.
    files = {
        "a": scores_file("sums", "single", 0, [0] * 12 + [1] * 2),
        "b": scores_file("sums", "cl", 0, [1] * 12 + [1, 0]),
        "c": scores_file("sums", "cl", 1, [1] * 6 + [0] * 6 + [0, 1]),
    }
    found = slices_rows(files, {**GRID, "cells": [cell("single", [0]), cell("cl", [0, 1])]}, {})[0].comparison
    assert found[1:] == (BOOTSTRAP, 14, 14)
    assert found.p_value == pytest.approx(2 / 2**14, abs=2e-4)


def test_numbers_do_not_depend_on_the_order_of_files_and_questions():
    points = [[(7 * i + offset) % 11 / 10 for i in range(60)] for offset in (0, 1, 3)]
    named = zip(SEEDS, points, strict=True)
    files = {name: scores_file("sums", system, seed, values) for (name, system, seed), values in named}
    back = {name: {**file, "problems": dict(reversed(file["problems"].items()))} for name, file in files.items()}
    one, other = (slices_rows(found, GRID, {}) for found in (files, dict(reversed(back.items()))))
    assert format_system_rows(one) == format_system_rows(other)
    assert 0 < one[1].comparison.p_value < 1


def test_macro_weighs_groups_alike():
    # Two cells: three Python programs of which one passes, one C++ program that passes. Weighted 2 / 4; macro (1/3 + 1)
    # / 2. Against a side where nothing passes two programs differ, upwards: McNemar 2 / 2^2, and no bootstrap is below.
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
    assert [row.comparison for row in rows[:2]] == [Comparison(0.5, MCNEMAR, 4, 2), Comparison(0.5, BOOTSTRAP, 4, 2)]
    # The C++ cell cannot vary, the Python cell goes from 0 to 3 of 3: between (0 + 1) / 2 and (1 + 1) / 2.
    assert (rows[3].measured.ci_low, rows[3].measured.ci_high) == pytest.approx((50.0, 100.0))


def translated(system, passed, groups):
    """Return scores of programs: task 0 in the languages of the groups, task 1, ..."""
    file = scores_file("code", system, 0, passed, ("weighted", "pass"), groups * (len(passed) // len(groups)))
    for index, row in enumerate(file["problems"].values()):
        row["task"] = f"humaneval/{index // len(groups)}"
    return file | {"metrics": dict.fromkeys(("weighted", "macro"), 100 * fmean(passed))}


CODE = {**GRID, "cells": [cell("single", [0], "code"), cell("cl", [0], "code")]}
LANGUAGES = ["humaneval-cpp", "humaneval-py", "humaneval-sh"]


def test_translations_of_a_task_are_one_question():
    # Two tasks in three languages, cl passes all of both or of the first: of two tasks that differ no p is below 2 /
    # 2^2, of one none below 1. McNemar's test of six or three programs would say 2 / 2^6 or 2 / 2^3.
    for passed, p_value in (([1] * 6, 0.5), ([1, 1, 1, 0, 0, 0], 1.0)):
        files = {"a": translated("single", [0] * 6, LANGUAGES), "b": translated("cl", passed, LANGUAGES)}
        rows = slices_rows(files, CODE, {})
        assert [row.comparison for row in rows[:2]] == [Comparison(p_value, BOOTSTRAP, 6, sum(passed))] * 2
    # Of two tasks drawn none is the first in 1/4: the interval has 0 and 100, of programs and of cells.
    assert [(row.measured.ci_low, row.measured.ci_high) for row in rows[2:]] == [(0.0, 100.0)] * 2


def test_clusters_are_less_sure_than_programs():
    # cl passes 16 tasks and single 8, none in common, in three languages each. Of 24 tasks drawn k ~ Bin(24, 2/3) are
    # cl's; 2 k - 24 is 8 in the mean, and as far from it as 0 for k <= 12 and k >= 20: p = 0.127. McNemar's test of 48
    # against 24 programs would say 0.0063.
    cl, single = [1] * 48 + [0] * 24, [0] * 48 + [1] * 24
    files = {"a": translated("single", single, LANGUAGES), "b": translated("cl", cl, LANGUAGES)}
    weighted, macro, *_ = slices_rows(files, CODE, {})
    assert weighted.comparison.p_value == pytest.approx(0.127, abs=0.02)
    assert macro.comparison.p_value == pytest.approx(weighted.comparison.p_value, abs=0.02)
    assert weighted.comparison[1:] == macro.comparison[1:] == (BOOTSTRAP, 72, 72)


def test_macro_weighs_the_programs_that_both_could_judge():
    # Both pass the same, but cl's q0 was not judged: of the two Python programs left each counts as much on both sides.
    groups = ["humaneval-py"] * 3 + ["mbpp-cpp"]
    files = {
        name: scores_file("code", system, 0, [1, 1, 0, 1], ("weighted", "pass"), groups)
        for name, system, _ in SEEDS[:2]
    }
    files["b"]["problems"]["q0"] |= {"metrics": {}, "error": "timed_out"}
    files["a"]["metrics"] = {"weighted": 75.0, "macro": 250 / 3}
    files["b"]["metrics"] = {"weighted": 200 / 3, "macro": 75.0}
    macro = slices_rows(files, CODE, {})[1]
    assert macro.comparison == Comparison(1.0, BOOTSTRAP, 3, 0)


def test_an_answer_that_could_not_be_judged_leaves_its_question_to_the_other_seeds():
    # cl's q0 is judged in one seed, q1 in none: q1 is in no test. The other four differ, all upwards: 2 / 2^4.
    files = {name: scores_file("sums", system, seed, [float(system == "cl")] * 5) for name, system, seed in SEEDS}
    for name, questions in (("b", ["q0", "q1"]), ("c", ["q1"])):
        for question in questions:
            files[name]["problems"][question] |= {"metrics": {}, "error": "timed_out"}
    rows = slices_rows(files, GRID, {})
    assert rows[0].comparison == Comparison(2 / 16, BOOTSTRAP, 4, 4)
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


def row(method, metric, mean=None, p_value=None, benchmark="sums"):
    names = dict(zip(NAMES, ("slices", benchmark, method, "none", metric), strict=True))
    tested = None if p_value is None else Comparison(p_value, MCNEMAR, 9, 5)
    return SystemRow(names, Measured(mean, None, int(mean is not None), p_value=p_value), comparison=tested)


def test_marks_by_hand():
    # Four tests of baselines on the paper's metrics: .01, .02, .04, .3 times 4, 3, 2, 1 is .04, .06, .08, .3. Our own
    # metric `g` and a system that is no row of the table are tested, but are no part of the correction.
    rows = [
        *(row("single", "accuracy", 40.0, 0.01), row("single", "f1", 50.0, 0.04), row("single", "g", 10.0, 0.001)),
        *(row("mad", "accuracy", 60.0, 0.3), row("mad", "f1", 70.0, 0.02), row("mad", "g")),
        *(row("cl", "accuracy", 70.0), row("cl", "f1", 75.0), row("cl", "g", 15.0)),
        *(row("ours", "accuracy", 45.0, 0.002), row("ours", "f1", 50.0, 1.0), row("ours", "g", 5.0, 1.0)),
    ]
    found = with_marks(rows, ["single", "mad"])
    assert [one.mark for one in found] == ["‡", "†", "", "", "†", *[""] * 7]
    assert [one.p_holm for one in found[:6]] == [0.04, 0.08, None, 0.3, 0.06, None]
    assert [one.num_tests for one in found] == [4, 4, None, 4, 4, *[None] * 7]
    # Means of the baselines: 50, 60, and 10 of `single` alone.
    assert [one.above_baselines for one in found] == [-10, -10, 0, 10, 10, None, 20, 15, 5, -5, -10, -5]
    printed = format_system_rows(found)
    assert [printed[9][name] for name in ("p_value", "p_holm", "n_tests", "mark")] == ["0.0020", "", "", ""]


def test_p_values_below_four_decimals_are_printed():
    assert format_system_rows([row("single", "accuracy", 1.0, 1.25e-7)])[0]["p_value"] == "1.2e-07"
    assert format_system_rows([row("single", "accuracy", 1.0, 1 / 10_001)])[0]["p_value"] == "0.0001"


def test_no_tests_at_all():
    assert [one.mark for one in with_marks([row("single", "accuracy", 1.0)], ["single"])] == [""]
