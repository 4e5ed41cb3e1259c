"""From scores to the numbers of a run, worked out by hand."""

import csv
from pathlib import Path

import pytest

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.scoring import summary
from slmcollab.scoring.score import Score

COLUMNS = ["step", "reward", "share_cut", "share_unparsed", "frac_reward_zero_std", "kl"]


def problem(index, question):
    return Problem(f"a/{index}", question, [], "1", {})


PROBLEMS = [problem(0, "p"), problem(1, "q"), problem(2, "p"), problem(3, "r"), problem(4, "s")]
SCORES = [
    Score(1.0, True, "1"),
    Score(0.25, False, "2"),
    Score(0.0, False, None),
    Score(0.0, False, "3", "timed_out"),
    Score(0.0, False, None, "raised: ValueError: x"),
]
CUT = [False, False, True, False, True]


def test_metrics_shares_and_counts():
    result = summary.summarise_scores(PROBLEMS, SCORES, cut=CUT, trained={"p", "q", "never asked"})
    assert result["num_problems"] == 5
    # right: 1 of 5 problems; seen are 0, 1, 2: 1 of 3; unseen 3, 4: 0 of 2; scores 1.25 of 5
    assert result["metrics"] == {
        "accuracy": pytest.approx(20.0),
        "accuracy_seen": pytest.approx(100 / 3),
        "accuracy_unseen": 0.0,
        "score_mean": pytest.approx(25.0),
    }
    assert result["shares"] == {"cut": pytest.approx(0.4), "unparsed": pytest.approx(0.2)}
    assert result["counts"] == {"errors": 1, "timed_out": 1, "unseen": 2}
    assert result["problems"]["a/1"] == {"score": 0.25, "seen": True}
    assert result["problems"]["a/3"] == {"score": 0.0, "seen": False}


def test_each_task_of_a_family_is_summarised_by_itself():
    family = [Problem(str(index), "", [], "1", {"source_dataset": task}) for index, task in enumerate("gglgl")]
    # g: 0, 1 and 3, one right, scores 1.25 of 3; l: 2 and 4, none right
    assert summary.summarise_scores(family, SCORES, cut=CUT, trained=set())["tasks"] == {
        "g": {"num_problems": 3, "accuracy": pytest.approx(100 / 3), "score_mean": pytest.approx(125 / 3)},
        "l": {"num_problems": 2, "accuracy": 0.0, "score_mean": 0.0},
    }
    assert summary.summarise_scores(PROBLEMS, SCORES, cut=CUT, trained=set())["tasks"] == {}


@pytest.mark.parametrize(("trained", "missing"), [({"p", "q", "r", "s"}, "unseen"), (set(), "seen")])
def test_a_group_without_problems_has_no_accuracy(trained, missing):
    metrics = summary.summarise_scores(PROBLEMS, SCORES, cut=CUT, trained=trained)["metrics"]
    assert metrics.pop(f"accuracy_{missing}") is None
    assert None not in metrics.values()


def answer(index, **changed):
    return {"id": f"a/{index}", "completion": str(index), "num_tokens": 1, "cut": False} | changed


def test_answers_are_matched_by_id_not_by_position():
    rows = summary.match_answers([answer(index) for index in (4, 3, 2, 1, 0)], PROBLEMS, Path("answers.jsonl"))
    assert [row["completion"] for row in rows] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([answer(index) for index in range(4)], r"1 of 5 problems unanswered \['a/4'\], 0 answers to no problem"),
        ([answer(index) for index in range(6)], r"0 of 5 problems unanswered \[\], 1 answers to no problem \['a/5'\]"),
        ([answer(index) for index in (0, 1, 2, 3, 4, 2)], "a/2 is answered twice"),
        ([answer(0, seed=1)], "a row has the keys"),
        ([{"id": "a/0"}], "a row has the keys"),
    ],
)
def test_answers_that_do_not_match_are_refused(answers, message):
    with pytest.raises(ArtifactError, match=rf"answers\.jsonl: .*{message}"):
        summary.match_answers(answers, PROBLEMS, Path("answers.jsonl"))


def test_two_problems_of_one_id_are_refused():
    with pytest.raises(ArtifactError, match="one to one"):
        summary.match_answers([answer(0)], [problem(0, "p"), problem(0, "q")], Path("answers.jsonl"))


def write_history(path, rows):
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([COLUMNS, *rows])
    return path


@pytest.mark.parametrize(
    ("count", "first", "last"),
    # A tenth of 25 is 2 steps: (1 + 2) / 2 and (24 + 25) / 2; of 5, one step.
    [(20, 1.5, 19.5), (25, 1.5, 24.5), (5, 1.0, 5.0), (1, 1.0, 1.0)],
)
def test_first_and_last_tenth(count, first, last):
    assert summary.tenth_means([float(step) for step in range(1, count + 1)]) == (first, last)


def test_training_is_summarised_over_its_tenths(tmp_path):
    # 25 steps: a tenth is 2 steps; rewards 0.01 ... 0.25
    rows = [[step, step / 100, 0.5, step % 2, 0.25, ""] for step in range(1, 26)]
    result = summary.summarise_history(summary.read_history(write_history(tmp_path / "history.csv", rows)))
    assert result == {
        "reward_first_tenth": pytest.approx(0.015),
        "reward_last_tenth": pytest.approx(0.245),
        "share_cut": pytest.approx(0.5),
        "share_unparsed": pytest.approx(13 / 25),
        "frac_reward_zero_std": pytest.approx(0.25),
    }


def test_a_short_training_has_tenths_of_one_step(tmp_path):
    path = write_history(
        tmp_path / "history.csv", [[1, 0.1, 0, 0, 0, ""], [2, 0.5, 0, 0, 0, ""], [3, 0.3, 0, 0, 0, ""]]
    )
    result = summary.summarise_history(summary.read_history(path))
    assert (result["reward_first_tenth"], result["reward_last_tenth"]) == (0.1, 0.3)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "not one row each"),
        ([[1, 0.1, 0, 0, 0, ""], [3, 0.1, 0, 0, 0, ""]], "not one row each"),
        ([[1, 0.1, 0, 0, 0, ""], [1, 0.1, 0, 0, 0, ""]], "not one row each"),
        ([[1, "", 0, 0, 0, ""]], "reward of step '1' is missing"),
        ([[1, 0.1, "nan", 0, 0, ""]], "share_cut of step 1 is nan"),
        ([[1, 0.1]], "share_cut of step '1' is missing"),
    ],
)
def test_a_history_that_is_not_whole_is_refused(tmp_path, rows, message):
    with pytest.raises(ArtifactError, match=rf"history\.csv: .*{message}"):
        summary.read_history(write_history(tmp_path / "history.csv", rows))


def test_a_history_cut_in_its_last_line_is_refused(tmp_path):
    path = write_history(tmp_path / "history.csv", [[1, 0.1, 0, 0, 0, 0.125]])
    path.write_text(path.read_text()[:-2])
    with pytest.raises(ArtifactError, match="cut in its last line"):
        summary.read_history(path)
    with pytest.raises(ArtifactError, match="no such file"):
        summary.read_history(tmp_path / "none.csv")
