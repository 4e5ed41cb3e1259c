"""The linear probe, with answers that can and cannot be read."""

import numpy as np
import pytest

from slmcollab.artifacts import Problem
from slmcollab.experts import probe


def problem(question, answer, **metadata):
    return Problem(id="any", question=question, messages=[], answer=answer, metadata=metadata)


def test_linear_map_by_hand():
    # One feature, -1, -1, 1, 1, already standardised; one-hot, centred, is -+0.5. Gram is 1, so with ridge 1 the weight
    # is 0.5 / 2 = 0.25 towards "b": the outputs are 0.5 -+ 0.25 x, and the sign of x decides.
    features = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    assert probe.read_answers(features, ["a", "a", "b", "b"], np.array([[-0.1], [0.1]]), ridge=1.0) == ["a", "b"]


def test_ridge_draws_answers_to_the_commonest():
    # Features -3, 1, 1, 1 have mean 0, variance 3: x = -1.732, 0.577. One-hot of "b", centred: 0.75, then -0.25 thrice.
    # X'Y / n = (-1.732 * 0.75 - 3 * 0.577 * 0.25) / 4 = -0.433; at x = -1.732 output "b" is 0.25 + 0.75 / (1 + ridge).
    # It beats "a", one minus that, where 0.75 / (1 + ridge) > 0.25: below ridge 2.
    features = np.array([[-3.0], [1.0], [1.0], [1.0]])
    read = [probe.read_answers(features, ["b", "a", "a", "a"], features[:1], ridge)[0] for ridge in (1.9, 2.1)]
    assert read == ["b", "a"]


def test_scale_and_shift_of_a_feature_do_not_matter():
    generator = np.random.default_rng(0)
    train, test = generator.normal(size=(40, 3)), generator.normal(size=(20, 3))
    answers = [str(value) for value in (train[:, 0] > 0).astype(int) + (train[:, 1] > 0)]
    moved = [values * [1, 100, 3] + [5, 0, -70] for values in (train, test)]
    assert probe.read_answers(moved[0], answers, moved[1], 0.1) == probe.read_answers(train, answers, test, 0.1)


def test_rounding_in_a_constant_feature_is_not_blown_up():
    """Rows of equal prompts differ in the last bits by their batches; as here, that may even follow the answer."""
    train = np.ones((4, 2), dtype=np.float32)
    train[:, 0] += np.float32(1e-7) * np.array([1, 1, 0, 0], dtype=np.float32)
    assert len(np.unique(train[:, 0])) == 2
    read = probe.read_answers(train, ["a", "a", "b", "b"], train, 1e-3)
    assert len(set(read)) == 1


def test_ridge_must_be_above_zero():
    with pytest.raises(ValueError, match=r"probe\.ridge: 0\.0 is not above 0"):
        probe.read_answers(np.eye(2), ["a", "b"], np.eye(2), 0.0)


def test_only_unseen_questions_count():
    train = [problem("1", "a"), problem("2", "a"), problem("3", "b"), problem("4", "b"), problem("5", "b")]
    test = [problem("1", "b"), problem("6", "a"), problem("7", "a"), problem("8", "b"), problem("9", "c")]
    train_features = np.array([[-1.0], [-1.0], [1.0], [1.0], [1.0]])
    # Read: b (seen, not counted), a right, b wrong, b right, and c cannot be read: 2 of 4. Always b: 1 of 4.
    test_features = np.array([[1.0], [-1.0], [1.0], [1.0], [1.0]])
    assert probe.probe(train, test, train_features, test_features, ridge=1e-3) == probe.Reading(0.5, 0.25, 5, 4, None)


@pytest.mark.parametrize(
    ("answers", "asked", "reason"),
    [
        (["a", None], "new", "some problems have no single answer"),
        ([str(index) for index in range(201)], "new", "201 distinct answers in train are no small set (at most 200)"),
        (["a", "b"], "0", "every test question occurs in train"),
    ],
)
def test_what_cannot_be_probed_says_why(answers, asked, reason):
    train = [problem(str(index), answer) for index, answer in enumerate(answers)]
    features = np.zeros((len(train), 2))
    reading = probe.probe(train, [problem(asked, "a")], features, features[:1], 0.1)
    assert reading == probe.Reading(None, None, len(train), int(asked == "new"), reason)


def test_tasks_are_listed_where_there_are_several():
    gcd, lcm, other = (problem("?", "1", source_dataset=name) for name in ("gcd", "lcm", "aiw"))
    assert probe.list_tasks([lcm, gcd, lcm], [gcd, other]) == {
        "all": ([0, 1, 2], [0, 1]),
        "aiw": ([], [1]),
        "gcd": ([1], [0]),
        "lcm": ([0, 2], []),
    }
    assert probe.list_tasks([gcd, gcd], [gcd]) == {"all": ([0, 1], [0])}
    assert probe.list_tasks([problem("?", "1")], []) == {"all": ([0], [])}


def test_no_problem_is_no_probe():
    some = [problem("new", "0")]
    assert probe.explain_no_probe([], some) == "no problem in train"
    assert probe.explain_no_probe(some, []) == "no problem in test"


def test_200_answers_are_a_small_set():
    train = [problem(str(index), str(index)) for index in range(200)]
    assert probe.explain_no_probe(train, [problem("new", "0")]) is None
