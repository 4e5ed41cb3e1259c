"""From answers and candidates to the scores of a system."""

from types import SimpleNamespace

import pytest

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.scoring import team_summary
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score

PROBLEMS = [
    Problem("m/0", "?", [], "New York", {"task": ["hop 1", "hop 2"]}),
    Problem("m/1", "?", [], "Rome", {"group": "cities", "task": "mbpp/3"}),
]


def row(id_, answer, *candidates):
    listed = [{"step": step, "slot": "a1", "answer": text} for step, text in enumerate(candidates)]
    return {
        **{"id": id_, "answer": answer, "slot": "a1", "end": "terminated", "num_steps": 1 + len(candidates)},
        "candidates": listed,
    }


class Counting(Grader):
    """A grader with verdicts from a table, which remembers what it was asked."""

    def __init__(self, verdicts, **module):
        self.module, self.verdicts, self.asked = SimpleNamespace(**module), verdicts, []

    def grade(self, completions, problems):
        self.asked += [(problem.id, text) for text, problem in zip(completions, problems, strict=True)]
        return [self.verdicts[text] for text in completions]


def test_summary_by_hand():
    rows = [row("m/1", "Rome", "Milan", "the Rome"), row("m/0", "York", "York", "New York")]
    with Grader("qa", 1.0) as grader:
        found = team_summary.summarise(rows, PROBLEMS, grader)
    # York against New York: P 1, R 1/2, F1 2/3; Rome is right
    assert found["metrics"] == {"accuracy": 50.0, "f1": pytest.approx(100 * (2 / 3 + 1) / 2)}
    assert found["num_problems"] == 2
    assert found["counts"] == {"errors": 0, "timed_out": 0, "not_run": 0}
    assert found["problems"]["m/0"] == {
        "score": pytest.approx(2 / 3),
        "correct": False,
        "metrics": {"accuracy": 0.0, "f1": pytest.approx(2 / 3)},
        "candidates": [False, True],
        "error": None,
        "group": None,
        "task": None,
    }
    assert found["problems"]["m/1"]["candidates"] == [False, True]
    assert (found["problems"]["m/1"]["group"], found["problems"]["m/1"]["task"]) == ("cities", "mbpp/3")
    assert list(found["problems"]) == ["m/0", "m/1"]


def test_equal_answers_to_one_problem_are_graded_once():
    verdicts = {"a": Score(1.0, True, "a", detail={"accuracy": 1.0}), "b": Score(0.0, False, "b")}
    grader = Counting(verdicts)
    found = team_summary.summarise([row("m/0", "a", "b", "a", "b"), row("m/1", "a")], PROBLEMS, grader)
    assert sorted(grader.asked) == [("m/0", "a"), ("m/0", "b"), ("m/1", "a")]
    assert found["problems"]["m/0"]["candidates"] == [False, True, False]


@pytest.mark.parametrize("programs", [True, False])
def test_what_raised_and_late_programs_count_as_wrong_and_what_was_not_judged_not_at_all(programs):
    verdicts = {
        "good": Score(0.5, True, "good", detail={"accuracy": 1.0, "f1": 0.5, "language": "sh"}),
        "late": Score(0.0, False, "late", "timed_out"),
        "bad": Score(0.0, False, "bad", "raised: ValueError: x"),
        "none": Score(0.0, False, "none", "not_run: no compiler"),
    }
    problems = [Problem(f"m/{index}", "?", [], "") for index in range(4)]
    rows = [row(f"m/{index}", answer, *verdicts) for index, answer in enumerate(verdicts)]
    found = team_summary.summarise(rows, problems, Counting(verdicts, RUNS_PROGRAMS=programs))
    # Of good, late and bad where these are programs, of good and bad where the check was late.
    counted = 2 + programs
    assert found["metrics"] == {"accuracy": pytest.approx(100 / counted), "f1": pytest.approx(50 / counted)}
    assert found["counts"] == {"errors": 1, "timed_out": 1, "not_run": 1}
    assert found["problems"]["m/1"]["metrics"] == ({"accuracy": 0.0, "f1": 0.0} if programs else {})
    assert found["problems"]["m/1"]["error"] == "timed_out"
    assert found["problems"]["m/0"]["candidates"] == [True, False if programs else None, False, None]
    assert found["problems"]["m/2"]["metrics"] == {"accuracy": 0.0, "f1": 0.0}
    assert found["problems"]["m/3"]["metrics"] == {}
    assert found["problems"]["m/3"]["error"] == "not_run: no compiler"


def test_without_a_run_there_is_no_number():
    verdicts = {"x": Score(0.0, False, "x", "not_run: no compiler")}
    grader = Counting(verdicts, METRICS=("weighted",))
    found = team_summary.summarise([row("m/0", "x"), row("m/1", "x")], PROBLEMS, grader)
    assert found["metrics"] == {"weighted": None}


def test_a_scorer_may_add_metrics_of_what_was_run():
    verdicts = {"x": Score(0.0, False, "x", "not_run: y"), "y": Score(1.0, True, "y", detail={"weighted": 1.0})}
    seen = []

    def summarise(problems, scores):
        seen.append([problem.id for problem in problems])
        return {"macro": 12.5 * len(scores)}

    grader = Counting(verdicts, summarise=summarise)
    found = team_summary.summarise([row("m/0", "x"), row("m/1", "y")], PROBLEMS, grader)
    assert found["metrics"] == {"weighted": 100.0, "macro": 12.5}
    assert seen == [["m/1"]]


@pytest.mark.parametrize(
    "rows", [[row("m/0", "x")], [row("m/0", "x"), row("m/0", "x")], [row("m/0", "x"), row("m/2", "x")], []]
)
def test_answers_that_do_not_match_the_problems_are_refused(rows):
    with pytest.raises(ArtifactError, match="do not match one to one"):
        team_summary.summarise(rows, PROBLEMS, Counting({}))
