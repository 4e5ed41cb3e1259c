"""A run's quantities per question, from hand-made trajectories, calls, answers and verdicts."""

import pytest
from recorded import answer_row, call, step, trajectory, verdict

from slmcollab.analysis.outcomes import outcomes
from slmcollab.analysis.slices_claims.measures import (
    call_measures,
    metric_measures,
    outcome_measures,
    trajectory_measures,
    with_tasks,
)
from slmcollab.artifacts import ArtifactError
from slmcollab.generation.calls import SEARCH


def value(measure):
    return measure.over.sum() / measure.under.sum()


def test_metrics_in_points_per_question():
    problems = {"q1": verdict(False, score=0.5), "q0": verdict(True)}
    found = metric_measures("scores.json", {"metrics": {"accuracy": 50.0, "f1": 75.0}, "problems": problems})
    assert list(found) == ["accuracy", "f1"]
    assert (found["f1"].questions, found["f1"].over.tolist()) == (("q0", "q1"), [100.0, 50.0])
    assert value(found["accuracy"]) == 50.0
    with pytest.raises(ArtifactError, match=r"scores\.json"):
        metric_measures("scores.json", {"metrics": {"accuracy": 60.0, "f1": 75.0}, "problems": problems})


def test_questions_know_the_task_that_they_are_a_version_of():
    problems = {f"q{index}": verdict(True) for index in range(3)}
    problems["q0"] |= {"task": "humaneval/1"}
    problems["q1"] |= {"task": None}
    scores = {"metrics": {"accuracy": 100.0, "f1": 100.0}, "problems": problems}
    found = with_tasks(metric_measures("scores.json", scores), scores)
    assert found["f1"].tasks == ("humaneval/1", "q1", "q2")


def test_what_became_of_the_questions():
    # q0: wrong, then right (corrected). q1: right and kept. q2: right, then lost. q3: one step, wrong: no candidate.
    answers = [
        answer_row("q0", "b", 2, ["a"]),
        answer_row("q1", "b", 3, ["b", "b"]),
        answer_row("q2", "a", 2, ["b"]),
        answer_row("q3", "a", 1),
    ]
    problems = {
        "q0": verdict(True, [False], group="mbpp-cpp"),
        "q1": verdict(True, [True, True], group="mbpp-py"),
        "q2": verdict(False, [True], group="humaneval-py"),
        "q3": verdict(False, group="humaneval-py"),
    }
    found = outcome_measures(outcomes(answers, {"problems": problems}))
    assert value(found["first answer right"]) == 2 / 4
    assert value(found["corrected"]) == 1 / 4
    assert (found["retention"].over.sum(), found["retention"].under.sum()) == (1, 2)
    assert value(found["compliant, then failed"]) == 1 / 4
    assert value(found["steps"]) == 8 / 4
    assert (value(found["solved mbpp"]), value(found["solved humaneval"])) == (1.0, 0.0)
    assert found["solved mbpp"].questions == ("q0", "q1")


def test_shapes_and_roles_of_trajectories():
    words = "one two three four"
    spoken = [
        # a1 answers, a2 revises and hands back, a1 terminates: a1 is revisited, three steps.
        trajectory(
            step("a1", "a2", answer="x", reasoning=words),
            step("a2", "a1", answer="y", reasoning=words),
            step("a1", "terminate", answer="y", reasoning="something else"),
            problem="q0",
        ),
        # a1 and a2 in turn, the end is no termination.
        trajectory(step("a1", "a2", answer="x"), step("a2", "continue"), problem="q1", end="step_limit"),
    ]
    found = trajectory_measures(spoken, ["a1", "a2", "a3"], overlaps=True)
    assert value(found["share of short_cyclic"]) == 1 / 2
    assert (found["steps of short_cyclic"].over.tolist(), found["steps of short_cyclic"].under.tolist()) == (
        [3, 0],
        [1, 0],
    )
    assert value(found["share of short_linear"]) == 1 / 2
    assert value(found["protocol failure"]) == 1 / 2
    # a2: two steps, both after an answer; it revises in one and hands over in one. a1 hands over in two of three steps.
    assert value(found["a2 revision"]) == 1 / 2
    assert value(found["a2 handoff"]) == 1 / 2
    assert value(found["a1 handoff"]) == 2 / 3
    assert value(found["a1 termination"]) == 1 / 3
    assert value(found["a1 final_answer"]) == 2 / 2
    assert found["a3 handoff"].under.sum() == 0
    # a2 repeats all that it was handed, a1 nothing; q1 has no reasoning to compare.
    assert (found["a2 overlap"].over.tolist(), found["a2 overlap"].under.tolist()) == ([1, 0], [1, 0])
    assert (found["a1 overlap"].over.sum(), found["a1 overlap"].under.sum()) == (0, 1)
    assert "a1 overlap" not in trajectory_measures(spoken, ["a1", "a2"], overlaps=False)


def test_answers_that_count_as_one_are_no_revision():
    spoken = [trajectory(step("a1", "a2", answer="The cat"), step("a2", "terminate", answer="cat"))]
    revised = [trajectory_measures(spoken, ["a1", "a2"], by, overlaps=False)["a2 revision"] for by in ("text", "words")]
    assert [one.over.sum() for one in revised] == [1, 0]


def test_calls_with_and_without_retries_and_a_search():
    calls = [
        call(0, qid="q0", size=2.0, tokens=10),
        call(1, qid="q0", size=2.0, tokens=5, retry_of="c0"),
        call(2, qid="q1", size=4.0, tokens=10),
        call(3, qid="dev", size=1.0, tokens=8, phase=SEARCH),
    ]
    found = call_measures(calls, ["q0", "q1", "q2"])
    assert found["invocations"].over.tolist() == [2, 1, 0]
    assert found["invocations, search included"].over.tolist() == pytest.approx([2 + 1 / 3, 1 + 1 / 3, 1 / 3])
    # Everything: 2·15, 4·10 and 0 billions x tokens, and 8 of the search spread over three.
    assert found["weighted tokens"].over.tolist() == pytest.approx([30 + 8 / 3, 40 + 8 / 3, 8 / 3])
    assert found["weighted tokens, first attempts"].over.tolist() == [20, 40, 0]
