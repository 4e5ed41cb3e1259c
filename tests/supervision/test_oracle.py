"""Steps of the toy world and what they are worth, each worked out by hand."""

import pytest

from slmcollab.artifacts import Problem
from slmcollab.protocol.trajectory import Step, Trajectory
from slmcollab.supervision import oracle

# 3 - 5 = 5 and 5 * 4 = 6, modulo 7.
STEPS = [{"query": "3 - 5", "answer": "[value]"}, {"query": "[previous] * 4", "answer": "[value]"}]
PROBLEM = Problem("toy/1", "x + 5 = 3 : x * 4 mod 7", [], "6", {"steps": STEPS})
FIRST = ("3 - 5 = 5", "5")
LAST = ("5 * 4 = 6", "6")


def step(said, action, anomaly=None):
    target = "a2" if action == "handoff" else None
    return Step("a1", "", *said, action, target, anomaly=anomaly)


def judge(*steps):
    return oracle.judge(PROBLEM, Trajectory("toy/1", 0, steps, "terminated"))


def test_the_right_way_is_right_in_every_step():
    assert judge(step(FIRST, "handoff"), step(LAST, "terminate")) == [(1, 1), (1, 1)]
    assert judge(step(FIRST, "continue"), step(LAST, "terminate")) == [(1, 1), (1, 1)]


def test_a_wrong_fact_is_blamed_where_it_is_claimed_and_not_on_who_builds_on_it():
    assert judge(step(("3 - 5 = 4", "4"), "handoff"), step(("4 * 4 = 2", "2"), "terminate")) == [(-1, 1), (1, 1)]
    assert judge(step(FIRST, "handoff"), step(("5 * 4 = 1", "1"), "terminate")) == [(1, 1), (-1, 1)]


@pytest.mark.parametrize(
    "said",
    [("5 * 4 = 6", "5"), ("4 * 4 = 2", "2"), ("", "6"), ("6", "6"), ("5 * 3 = 1", "1"), ("5 - 4 = 1", "1")],
    ids=["another answer", "not what was claimed", "no reasoning", "no query", "another number", "another operation"],
)
def test_what_is_no_look_up_of_the_question_is_wrong_and_no_place_to_end(said):
    scores = judge(step(FIRST, "handoff"), step(said, "terminate"))
    assert scores[1][0] == -1
    assert scores[1][1] == (1 if said[0] == "5 * 4 = 6" else -1)


def test_actions_that_do_not_fit():
    assert judge(step(FIRST, "terminate")) == [(1, -1)]
    assert judge(step(FIRST, "handoff"), step(LAST, "handoff"), step(LAST, "terminate")) == [(1, 1), (1, -1), (1, 1)]


def test_a_broken_step_is_blamed_for_its_action_and_its_claim_stays():
    broken, silent = step(FIRST, None, "no_action"), step(("", ""), None, "malformed")
    assert judge(broken, step(LAST, "terminate")) == [(1, -1), (1, 1)]
    assert judge(silent, step(FIRST, "continue")) == [(0, -1), (1, 1)]


def test_a_first_step_may_be_corrected():
    wrong = step(("3 - 5 = 4", "4"), "handoff")
    assert judge(wrong, step(FIRST, "handoff"), step(LAST, "terminate")) == [(-1, 1), (1, 1), (1, 1)]


def test_it_knows_the_toy_world_alone():
    other = Problem("math/1", "", [], "6", {})
    assert oracle.knows(PROBLEM)
    assert not oracle.knows(other)
    with pytest.raises(ValueError, match=r"math/1: the oracle judges toy benchmarks only"):
        oracle.judge(other, Trajectory("math/1", 0, (step(FIRST, "terminate"),), "terminated"))
