"""Questions about two digits: three quarters are trained on, all are asked."""

import pytest

from slmcollab.benchmarks import toy_digits
from slmcollab.benchmarks.splits import count_overlap

BLOCK = {"benchmark": "toy_sums", "tasks": {"sums": {"weight": 1.0}}, "num_train": 75, "num_test": 100}


def test_every_sum_is_asked_and_a_quarter_is_never_trained():
    splits = toy_digits.load(BLOCK, 42)
    assert [problem.question for problem in splits.test[:2]] == ["What is 0 + 0?", "What is 0 + 1?"]
    asked = {problem.id: (problem.question, problem.answer) for problem in splits.test}
    assert len(asked) == 100
    assert asked["toy_sums/78"] == ("What is 7 + 8?", "15")
    trained = {problem.id for problem in splits.train}
    assert len(trained) == len(splits.train) == 75
    assert count_overlap(splits) == 75
    assert all(asked[problem.id] == (problem.question, problem.answer) for problem in splits.train)
    assert "25 that never occur in training" in splits.rule


def test_the_question_is_the_only_message():
    problem = toy_digits.load(BLOCK, 42).test[12]
    assert problem.messages == [{"role": "user", "content": "What is 1 + 2?"}]


def test_the_digit_that_is_named_first_is_the_answer():
    splits = toy_digits.load(BLOCK | {"tasks": {"firsts": {"weight": 1.0}}}, 42)
    assert (splits.test[37].question, splits.test[37].answer) == ("Which comes first, 3 or 7?", "3")
    assert (splits.test[73].answer, splits.test[44].answer) == ("7", "4")


@pytest.mark.parametrize("tasks", [{"products": {}}, {"sums": {}, "firsts": {}}, {}])
def test_one_known_task_is_asked_for(tasks):
    with pytest.raises(ValueError, match=r"benchmarks\.toy_sums\.tasks: .* is not one of sums, firsts"):
        toy_digits.load(BLOCK | {"tasks": tasks}, 42)


def test_the_draw_follows_the_data_seed():
    first, again, other = (toy_digits.load(BLOCK, seed).train for seed in (42, 42, 43))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("changed", "key"),
    [({"num_train": 101}, "num_train"), ({"num_train": 0}, "num_train"), ({"num_test": 99}, "num_test")],
)
def test_sizes_that_do_not_fit_are_refused_by_key(changed, key):
    with pytest.raises(ValueError, match=rf"benchmarks\.toy_sums\.{key}"):
        toy_digits.load(BLOCK | changed, 42)
