"""What slots do: revisions, handoffs, terminations, final answers."""

import pytest
from recorded import step, trajectory

from slmcollab.analysis.rates import Rate
from slmcollab.analysis.roles import roles

TRAJECTORIES = [
    # a1 answers 4, a2 repeats it in other letters, a1 says 5 and ends.
    trajectory(
        step("a1", "a2", answer="Four"),
        step("a2", "a1", answer="four "),
        step("a1", "terminate", answer="5"),
        problem="q0",
    ),
    # a1 passes without an answer, a2 answers, breaks the protocol with another answer, ends without one: 8 stands.
    trajectory(
        step("a1", "a2"),
        step("a2", "continue", answer="7"),
        step("a2", "terminate", answer="8", anomaly="two_actions"),
        step("a2", None, anomaly="no_action"),
        problem="q1",
        end="anomalies",
    ),
    trajectory(step("a1", "terminate"), problem="q2"),  # nobody answers
]


def test_roles_by_hand():
    # a1: 4 steps, one after an earlier answer, and it revises; 2 handoffs, 2 terminations; final answer of q0 of three.
    # a2: 4 steps, three after an earlier answer (four = Four, 8 against 7, none): one revision; one handoff; its
    # termination broke the protocol; final answer of q1.
    found = roles(TRAJECTORIES, ["a1", "a2", "a3"])
    assert list(found) == ["a1", "a2", "a3"]
    one, two, three = found.values()
    assert (one.steps, one.revision, one.handoff, one.termination) == (4, Rate(1, 1), Rate(2, 4), Rate(2, 4))
    assert (two.steps, two.revision, two.handoff, two.termination) == (4, Rate(1, 3), Rate(1, 4), Rate(0, 4))
    assert [role.final_answer for role in (one, two, three)] == [Rate(1, 3), Rate(1, 3), Rate(0, 3)]
    assert (three.steps, three.revision.share, three.handoff.share) == (0, None, None)


def test_the_normaliser_says_what_a_revision_is():
    strict = roles(TRAJECTORIES, ["a1", "a2"], equal=lambda answer: answer)
    assert strict["a2"].revision == Rate(2, 3)


@pytest.mark.parametrize(("count", "published"), [(45, "34.09"), (85, "64.39")])
def test_published_final_answer_shares_follow_from_counts_over_all_questions(count, published):
    finals = ["a2"] * count + ["a3"] * (132 - count - 1) + ["nobody"]
    found = roles(
        [
            trajectory(step("a1" if slot == "nobody" else slot, "terminate", answer="" if slot == "nobody" else "1"))
            for slot in finals
        ],
        ["a1", "a2", "a3"],
    )
    assert f"{100 * found['a2'].final_answer.share:.2f}" == published


def test_a_foreign_slot_is_refused():
    with pytest.raises(ValueError, match="a2"):
        roles(TRAJECTORIES, ["a1"])
