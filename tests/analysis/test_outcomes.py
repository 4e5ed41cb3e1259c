"""First answers, intermediate answers and final ones, and what follows from them."""

import pytest
from recorded import answer_row, verdict

from slmcollab.analysis.corrections import corrections
from slmcollab.analysis.missed import (
    Missed,
    first_compliant_then_failed,
    missed_by_both,
    solved_only_by_other,
    source_rates,
)
from slmcollab.analysis.outcomes import Outcome, outcomes
from slmcollab.analysis.rates import Rate
from slmcollab.analysis.retention import ranks, retention

# Right answers are "r", wrong ones "w"; of each question: the answers before the last step, then the final one.
ANSWERS = [
    answer_row("kept", "r", 2, ["r"]),
    answer_row("lost", "w", 3, ["w", "r"]),
    answer_row("spoiled", "w", 2, ["r"]),
    answer_row("corrected", "r", 2, ["w"]),
    answer_row("late", "r", 2),  # no answer before the last step
    answer_row("one_step", "r", 1),
    answer_row("silent", "", 2),
    answer_row("wrong", "w", 2, ["w"]),
]
SCORES = {
    "problems": {
        row["id"]: verdict(row["answer"] == "r", [found["answer"] == "r" for found in row["candidates"]])
        for row in ANSWERS
    }
}
OUTCOMES = outcomes(ANSWERS, SCORES)


def outcome(correct, *, first=None, discovered=False, num_steps=2, score=0.0, group=None):
    return Outcome(first, discovered, correct, num_steps, score, group)


def counts(num_discovered, num_kept, num_questions):
    """Return outcomes of which so many found a right answer before the end, and so many of these kept it."""
    kept = [outcome(True, discovered=True)] * num_kept
    lost = [outcome(False, discovered=True)] * (num_discovered - num_kept)
    return kept + lost + [outcome(False)] * (num_questions - num_discovered)


def test_first_answers():
    assert {name: found.first for name, found in OUTCOMES.items()} == {
        "kept": True,
        "lost": False,
        "spoiled": True,
        "corrected": False,
        "late": True,
        "one_step": True,
        "silent": None,
        "wrong": False,
    }
    assert [name for name, found in OUTCOMES.items() if found.discovered] == ["kept", "lost", "spoiled"]


def test_retention_by_hand():
    # Seven questions of two steps or more, three with a right answer before the last step, one of them kept; of the
    # other four, two end right (corrected, late).
    found = retention(OUTCOMES.values())
    assert (found.num_questions, found.num_discovered, found.num_kept, found.num_rescued) == (7, 3, 1, 2)
    assert (found.retention, found.discovery, found.rescue) == (1 / 3, 3 / 7, 2 / 4)
    # With the last step: eight questions; right somewhere are these three, corrected, late and one_step; kept is what
    # ends right: 4 of 6, and nothing can be rescued.
    found = retention(OUTCOMES.values(), last_step=True)
    assert (found.retention, found.discovery, found.rescue) == (4 / 6, 6 / 8, 0.0)


def test_nothing_discovered_has_no_retention():
    found = retention([outcome(False)])
    assert (found.retention, found.discovery, found.rescue) == (None, 0.0, 0.0)
    assert retention([outcome(True, num_steps=1)]).discovery is None


@pytest.mark.parametrize(
    ("num_discovered", "num_kept", "num_questions", "published"),
    [(1231, 990, 2417, "80.42"), (97, 95, 132, "97.94"), (517, 508, 1352, "98.26"), (400, 392, 500, "98.00")],
)
def test_published_retention_follows_from_counts(num_discovered, num_kept, num_questions, published):
    found = retention(counts(num_discovered, num_kept, num_questions))
    assert f"{100 * found.retention:.2f}" == published


def test_ranks_share_places_and_leave_out_what_is_undefined():
    values = {"cl": 0.9, "mad": 0.95, "aflow": 0.9, "gptswarm": 0.5, "single": None}
    assert ranks(values) == {"cl": 2, "mad": 1, "aflow": 2, "gptswarm": 4, "single": None}
    assert ranks({"single": None}) == {"single": None}


def test_corrections_by_hand():
    # First answers: kept, spoiled, late, one_step right; lost, corrected, wrong wrong; silent none. Steps 16 / 8.
    found = corrections(OUTCOMES.values())
    assert (found.num_first_right, found.num_first_wrong, found.num_unanswered) == (4, 3, 1)
    assert (found.num_corrected, found.num_spoiled, found.mean_steps) == (1, 1, 2.0)
    assert found.first_accuracy == 4 / 8
    assert corrections([]).first_accuracy is None


def test_published_first_accuracy_follows_from_counts():
    # 508 of 2,417 first answers right; of the other 1,909 the paper corrects 594.
    found = corrections(
        [outcome(True, first=True)] * 508 + [outcome(True, first=False)] * 594 + [outcome(False, first=False)] * 1315
    )
    assert f"{100 * found.first_accuracy:.2f}" == "21.02"
    assert (found.num_corrected, found.num_first_wrong) == (594, 1909)


def test_first_compliant_then_failed_counts_all_questions():
    assert first_compliant_then_failed(OUTCOMES.values()) == Rate(1, 8)


def test_missed_by_both():
    # Both miss q1 and q2: ours (0.5 + 0) / 2, theirs (0.25 + 0.5) / 2.
    ours = {"q0": outcome(True, score=1.0), "q1": outcome(False, score=0.5), "q2": outcome(False)}
    theirs = {"q0": outcome(False), "q1": outcome(False, score=0.25), "q2": outcome(False, score=0.5)}
    found = missed_by_both(ours, theirs)
    assert (found.count, found.ours, found.baseline) == (2, 0.25, 0.375)
    assert missed_by_both({"q0": ours["q0"]}, {"q0": theirs["q0"]}).ours is None
    # q2 could not be judged on the other side: only q1 is missed by both.
    assert missed_by_both(ours, {name: theirs[name] for name in ("q0", "q1")}) == Missed(1, 0.5, 0.25)


def test_solved_only_by_the_other():
    # q0 and q1 are solved by the other side alone; ours had a passing program of q1 on the way.
    other = {name: outcome(name != "q3") for name in ("q0", "q1", "q2", "q3")}
    ours = {"q0": outcome(False), "q1": outcome(False, discovered=True), "q2": outcome(True), "q3": outcome(False)}
    assert solved_only_by_other(ours, other) == Rate(1, 2)


def test_sources():
    found = {
        "q0": outcome(True, group="mbpp-cpp"),
        "q1": outcome(False, group="humaneval-cpp"),
        "q2": outcome(True, group="humaneval-sh"),
        "q3": outcome(True),
    }
    assert source_rates(found) == {"humaneval": Rate(1, 2), "mbpp": Rate(1, 1)}


def test_what_was_not_judged_is_left_out():
    scores = {
        "problems": {
            "q0": verdict(False, error="not_run: no php", metrics={}),
            "q1": verdict(True),
            "q2": verdict(False, error="timed_out", metrics={}),
            "q3": verdict(False, error="timed_out"),  # a program
        }
    }
    rows = [answer_row("q0", "x", 2, ["y"]), *(answer_row(f"q{i}", "x", 2) for i in (1, 2, 3))]
    assert list(outcomes(rows, scores)) == ["q1", "q3"]


def test_an_intermediate_answer_that_was_not_judged_is_unknown():
    scores = {"problems": {"q0": verdict(True, [None]), "q1": verdict(False, [None, True])}}
    found = outcomes([answer_row("q0", "x", 2, ["y"]), answer_row("q1", "x", 3, ["y", "z"])], scores)
    assert [(one.first, one.discovered) for one in found.values()] == [(None, False), (None, True)]
    assert corrections(found.values()).num_unanswered == 2


@pytest.mark.parametrize(
    ("rows", "problems", "message"),
    [
        ([answer_row("q0", "x", 2, ["y"])], {"q0": verdict(True)}, "0 of 1 intermediate"),
        ([answer_row("q0", "x", 2)], {"q1": verdict(True)}, "not those of 1 answers"),
        ([answer_row("q0", "x", 2)] * 2, {"q0": verdict(True)}, "not those of 2 answers"),
    ],
)
def test_files_that_do_not_belong_together(rows, problems, message):
    with pytest.raises(ValueError, match=message):
        outcomes(rows, {"problems": problems})
