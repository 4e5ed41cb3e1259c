"""What the scores of a cell say of a metric: seeds, questions, and the baseline on the same questions."""

import pytest
from scores_files import scores_file

from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured, cell_points, measure, question_points

KEY = ("sums", "single", "none")


@pytest.mark.parametrize(
    ("metric", "points"),
    [
        ("accuracy", {"q0": 100.0, "q1": 0.0, "q2": 0.0}),
        ("accuracy_seen", {"q1": 0.0}),
        ("accuracy_unseen", {"q0": 100.0, "q2": 0.0}),
        ("score_mean", {"q0": 100.0, "q1": 99.0, "q2": 0.0}),  # what is not exactly right is not correct
    ],
)
def test_a_metric_counts_its_own_questions(metric, points):
    assert question_points("a", scores_file(KEY, 0, [1, 0.99, 0], seen=[1]), metric) == points


def test_a_metric_without_questions_is_empty():
    file = scores_file(KEY, 0, [1, 0])
    assert file["metrics"]["accuracy_seen"] is None
    assert question_points("a", file, "accuracy_seen") == {}
    assert measure(KEY, "accuracy_seen", ["a"], {"a": file}) == Measured()


@pytest.mark.parametrize("value", [49.0, None])
def test_questions_that_do_not_add_up_to_their_metric_are_refused(value):
    file = scores_file(KEY, 0, [1, 0])
    file["metrics"]["accuracy"] = value
    with pytest.raises(ArtifactError, match=r"^a: accuracy is (49.0|None), its problems say 50.0"):
        question_points("a", file, "accuracy")


@pytest.mark.parametrize("problems", [None, [1, 2], {"q0": {"seen": True}}])
def test_a_file_without_its_questions_is_refused(problems):
    with pytest.raises(ArtifactError, match=r"^a: its problems have no scores"):
        question_points("a", scores_file(KEY, 0, [1, 0]) | {"problems": problems}, "accuracy")


def test_seeds_are_averaged_per_question():
    files = {"a": scores_file(KEY, 0, [1, 0, 0]), "b": scores_file(KEY, 1, [1, 1, 0])}
    assert cell_points(files, files, "accuracy") == {"q0": 100.0, "q1": 50.0, "q2": 0.0}
    assert cell_points([], files, "accuracy") == {}


def test_seeds_with_other_questions_are_refused():
    files = {"a": scores_file(KEY, 0, [1, 0]), "b": scores_file(KEY, 1, [1, 0, 0])}
    with pytest.raises(ArtifactError, match=r"^a, b: entry 1 has other questions"):
        cell_points(files, files, "accuracy")


def test_spread_interval_and_test_by_hand():
    # Seeds: 100 and 100/3. Questions: 100, 50, 50, against 0, 50, 0 of the baseline: two of three differ, upwards.
    files = {"a": scores_file(KEY, 0, [1, 1, 1]), "b": scores_file(KEY, 1, [1, 0, 0])}
    found = measure(KEY, "accuracy", files, files, {"q0": 0.0, "q1": 50.0, "q2": 0.0})
    assert (found.mean, found.n_seeds) == (pytest.approx(200 / 3), 2)
    assert found.std == pytest.approx(2**0.5 * 100 / 3)
    # All three resampled as 50: 8 of 27; all three as 100: 1 of 27, still above 2.5 %.
    assert (found.ci_low, found.ci_high) == (50, 100)
    assert found.p_value == 0.5  # ++, +-, -+, --: half of them reach the sum of 150


def test_another_number_of_seeds_than_the_baseline_is_no_hindrance():
    file = {"a": scores_file(KEY, 0, [1, 1, 1])}
    assert measure(KEY, "accuracy", file, file, {"q0": 0.0, "q1": 100 / 3, "q2": 0.0}).p_value == 2 / 8


def test_a_baseline_with_other_questions_is_refused():
    file = {"a": scores_file(KEY, 0, [1, 1])}
    with pytest.raises(ArtifactError, match=r"'single'.*accuracy: not the baseline's questions: 2 and 1"):
        measure(KEY, "accuracy", file, file, {"q0": 0.0})


def test_no_baseline_no_p():
    file = {"a": scores_file(KEY, 0, [1, 1])}
    assert measure(KEY, "accuracy", file, file, {}).p_value is None
    assert measure(KEY, "accuracy", file, file).p_value is None


def test_numbers_depend_on_the_key_and_not_on_the_order_of_questions():
    points = [i % 3 == 0 for i in range(50)]
    file = scores_file(KEY, 0, points)
    back = file | {"problems": dict(reversed(file["problems"].items()))}
    baseline = {f"q{i}": 100.0 * (i % 2) for i in range(50)}
    one, other = (measure(KEY, "accuracy", ["a"], {"a": content}, baseline) for content in (file, back))
    assert one == other
    other_key = measure(("sums", "text", "toy"), "accuracy", ["a"], {"a": file}, baseline)
    assert other_key != one
    assert other_key.p_value == pytest.approx(one.p_value, abs=0.03)
