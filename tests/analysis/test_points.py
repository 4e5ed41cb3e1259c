"""Percent points of questions: plain means, means over groups, and files that do not add up."""

import pytest
from recorded import verdict

from slmcollab.analysis.points import metric_pair, question_points, task_points
from slmcollab.artifacts import ArtifactError

PROBLEMS = {
    "q0": verdict(True, group="humaneval-py", metrics={"pass": 1.0}),
    "q1": verdict(False, group="humaneval-py", metrics={"pass": 0.0}),
    "q2": verdict(True, group="mbpp-py", metrics={"pass": 1.0}),
    "q3": verdict(False, group="mbpp-cpp", metrics={"pass": 0.0}),
    "q4": verdict(False, group="mbpp-php", metrics={}, error="not_run: no php"),
}
# Of four programs that ran two pass. Cells: 1/2, 1, 0. Languages: 2/3, 0.
METRICS = {"weighted": 50.0, "macro": 50.0, "macro_language": 100 / 3}
FILE = {"metrics": METRICS, "problems": PROBLEMS}


def test_points_of_a_plain_mean():
    expected = {"q0": 100.0, "q1": 0.0, "q2": 100.0, "q3": 0.0}
    assert question_points("f", FILE, "weighted") == expected
    assert question_points("f", {**FILE, "metrics": {"pass": 50.0}}, "pass") == expected


def test_points_of_means_over_groups():
    # Three cells of four programs: a program weighs 4 / (3 * size); two languages: 4 / (2 * size).
    assert question_points("f", FILE, "macro") == pytest.approx({"q0": 200 / 3, "q1": 0.0, "q2": 400 / 3, "q3": 0.0})
    by_language = {"q0": 200 / 3, "q1": 0.0, "q2": 200 / 3, "q3": 0.0}
    assert question_points("f", FILE, "macro_language") == pytest.approx(by_language)


def test_nothing_was_run():
    file = {"metrics": {"weighted": None}, "problems": {"q4": PROBLEMS["q4"]}}
    assert question_points("f", file, "weighted") == {}


@pytest.mark.parametrize(
    ("file", "metric", "message"),
    [
        ({**FILE, "metrics": {"weighted": 51.0}}, "weighted", r"f: weighted is 51\.0, its problems say 50\.0"),
        ({**FILE, "metrics": {"f1": 51.0}}, "f1", "f: its problems have no f1"),
        ({**FILE, "metrics": {"weighted": None}}, "weighted", "weighted is None"),
    ],
)
def test_files_that_do_not_add_up(file, metric, message):
    with pytest.raises(ArtifactError, match=message):
        question_points("f", file, metric)


def test_pairs():
    assert metric_pair("f", {"metrics": {"f1_char": 1, "f1": 1, "accuracy": 1}}) == ("accuracy", "f1")
    assert metric_pair("f", FILE) == ("weighted", "macro")
    with pytest.raises(ArtifactError, match="f: metrics"):
        metric_pair("f", {"metrics": {"accuracy": 1}})


def test_points_of_tasks_keep_the_mean_and_the_weights_of_groups():
    # Macro points 200/3, 0, 400/3, 0, mean 50. Two tasks of three and one programs: sums by 4 / 2, mean 50 again.
    points = question_points("f", FILE, "macro")
    found = task_points(points, {"q0": "t0", "q1": "t0", "q2": "t0", "q3": "q3"})
    assert found == pytest.approx({"t0": 100.0, "q3": 0.0})
    assert task_points(points, {id_: id_ for id_ in points}) == points


def test_what_was_not_judged_takes_no_part():
    late = verdict(False, metrics={}, error="timed_out")
    assert question_points("f", {"metrics": METRICS, "problems": PROBLEMS | {"q5": late}}, "weighted").keys() == {
        *("q0", "q1", "q2", "q3"),
    }
