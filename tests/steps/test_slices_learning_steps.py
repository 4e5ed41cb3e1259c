"""The steps that grade: from trajectories to demonstrations and rewards, and from answers to scores."""

import json

import pytest
from recorded import answer_row, step, trajectory

from slmcollab.artifacts import (
    ArtifactError,
    Problem,
    digest,
    read_json,
    read_jsonl,
    write_json,
    write_jsonl,
    write_problems,
)
from slmcollab.protocol.trajectory import read_trajectories, write_trajectories
from slmcollab.scoring import math, multipl_e
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score
from slmcollab.steps import qualify_trajectories, reward_steps, score_team

SLOTS = ["a1", "a2"]
VERDICTS = {  # by answer; what a program has as metrics stands beside those of a formula
    "right": Score(1.0, True, "right", detail={"accuracy": 1.0, "f1": 1.0, "weighted": 1.0}),
    "wrong": Score(0.0, False, "wrong", detail={"accuracy": 0.0, "f1": 0.0, "weighted": 0.0}),
    "late": Score(0.0, False, "late", "timed_out"),
    "broken": Score(0.0, False, "broken", "raised: ValueError: x"),
    "absent": Score(0.0, False, "absent", "not_run: no compiler"),
}
PROBLEMS = [
    Problem(f"q{i}", "?", [], "", {"language": "sh", "source": "mbpp", "task": f"mbpp/{i}"})
    for i in range(len(VERDICTS))
]
SAMPLED = [
    trajectory(step("a1", "a2"), step("a2", "terminate", answer=answer), problem=f"q{i}")
    for i, answer in enumerate(VERDICTS)
]


@pytest.fixture(params=["math", "multipl_e"])
def scorer(request, monkeypatch):
    """The scorer's name; its module is the true one, its verdicts are those of the table."""

    def graded(self, completions, problems):
        return [VERDICTS[completion] for completion in completions]

    assert hasattr(multipl_e, "RUNS_PROGRAMS")
    assert hasattr(math, "ISOLATED")
    monkeypatch.setattr(Grader, "__enter__", lambda self: self)
    monkeypatch.setattr(Grader, "grade", graded)
    monkeypatch.setattr(multipl_e, "environment", lambda problems, **options: {"sandbox": "none"})
    return request.param


@pytest.fixture
def files(tmp_path):
    write_trajectories(tmp_path / "trajectories", SAMPLED)
    write_problems(tmp_path / "problems", PROBLEMS)
    return {"trajectories": tmp_path / "trajectories", "problems": tmp_path / "problems"}


def cell(scorer, **more):
    return json.dumps({"scorer": scorer, "time_limit_s": 1.0, "options": {}, **more})


def reward(folder, files, scorer, kind, scores):
    paths = {"rewards": folder / "rewards", "counts": folder / "counts"}
    settings = cell(scorer, alpha=0.5, reward=kind)
    reward_steps.main(cell=settings, code="abc", workers=1, scores=scores, evaluation=[], **files, **paths)
    counts = read_json(paths["counts"])
    assert counts.pop("record")["inputs"]["trajectories"] == digest(files["trajectories"])
    return read_jsonl(paths["rewards"]), counts


def test_a_late_program_is_rewarded_as_a_failure_and_a_late_check_not_at_all(tmp_path, files, scorer):
    rows, counts = reward(tmp_path, files, scorer, "task", [])
    programs = scorer == "multipl_e"
    late = [{"trajectory": "q2#0", "metric": 0.0, "rewards": [-1.0, -1.0]}]
    assert rows == [
        {"trajectory": "q0#0", "metric": 1.0, "rewards": [1.0, 1.0]},
        {"trajectory": "q1#0", "metric": 0.0, "rewards": [-1.0, -1.0]},
        *(late if programs else []),
    ]
    assert counts == {
        "sampled": 5,
        "not_graded": 2 if programs else 3,
        "timed_out": 0 if programs else 1,
        "not_scored": 0,
        "rewarded": 3 if programs else 2,
        "mean_metric": pytest.approx(1 / 3 if programs else 1 / 2),
        "num_steps": 6 if programs else 4,
        "num_negative": 4 if programs else 2,
        "mean_reward": pytest.approx(-1 / 3 if programs else 0.0),
    }


def test_without_step_scores_a_graded_trajectory_is_dropped_and_counted(tmp_path, files, scorer):
    write_jsonl(tmp_path / "scores", [{"trajectory": "q0#0", "steps": [[1.0, 0.0], [-1.0, 0.0]]}])
    rows, counts = reward(tmp_path, files, scorer, "scores", [tmp_path / "scores"])
    # 0.5 * (2 * 1 - 1) + 0.5 * ±0.5
    assert rows == [{"trajectory": "q0#0", "metric": 1.0, "rewards": [0.75, 0.25]}]
    dropped = (2, 2) if scorer == "multipl_e" else (3, 1)
    assert (counts["not_graded"], counts["not_scored"], counts["rewarded"]) == (*dropped, 1)


def qualified(folder, files, scorer, seed=0):
    paths = {"demonstrations": folder / "demonstrations", "funnel": folder / "funnel"}
    settings = cell(scorer, slots=SLOTS, threshold=0.5)
    write_json(folder / "sampling", {"outputs": {"trajectories": digest(files["trajectories"])}})
    named = {"code": "abc", "seed": seed, "run": folder / "sampling"}
    qualify_trajectories.main(cell=settings, workers=1, **named, **files, **paths)
    funnel = read_json(paths["funnel"])
    assert funnel.pop("record")["seed"] == seed
    return read_trajectories(paths["demonstrations"]), funnel


def test_a_teacher_that_never_qualifies_is_told_with_its_counts(tmp_path, files, scorer):
    write_trajectories(files["trajectories"], [trajectory(step("a1", answer="right"), problem="q0", end="step_limit")])
    with pytest.raises(ValueError, match=r"none of the teacher's trajectories .* threshold 0\.5 .*'not_terminated': 1"):
        qualified(tmp_path, files, scorer)


def test_rewards_need_a_graded_trajectory(tmp_path, files, scorer):
    write_trajectories(files["trajectories"], [trajectory(step("a1", answer="broken"), problem="q0")])
    with pytest.raises(ValueError, match=r"no trajectory has a reward.*'not_graded': 1"):
        reward(tmp_path, files, scorer, "task", [])


def test_what_qualifies_is_permuted_and_the_rest_is_counted_under_its_reason(tmp_path, files, scorer):
    broken = trajectory(step("a1", answer="right", anomaly="no_action"), problem="q0", sample=1)
    endless = trajectory(step("a1", answer="right"), problem="q0", sample=2, end="step_limit")
    write_trajectories(files["trajectories"], [*SAMPLED, broken, endless])
    kept, funnel = qualified(tmp_path, files, scorer)
    late = {"timed_out": 0, "below_threshold": 2} if scorer == "multipl_e" else {"timed_out": 1, "below_threshold": 1}
    assert funnel == {"sampled": 7, "anomalous": 1, "not_terminated": 1, "not_graded": 2, "kept": 1} | late
    assert [found.id for found in kept] == ["q0#0"]
    spoken = {tuple(one.slot for one in qualified(tmp_path, files, scorer, seed)[0][0].steps) for seed in range(8)}
    assert spoken == {("a1", "a2"), ("a2", "a1")}


def test_trajectories_on_other_problems_are_refused(tmp_path, files, scorer):
    write_problems(files["problems"], PROBLEMS[1:])
    with pytest.raises(ArtifactError, match=r"1 problems that are not in the split: \['q0'\]"):
        qualified(tmp_path, files, scorer)
    assert not (tmp_path / "funnel").exists()


@pytest.fixture
def answers(tmp_path, files):
    """A greedy evaluation of seed 3, each question with all answers on the way."""
    rows = [answer_row(f"q{i}", answer, 6, list(VERDICTS)) for i, answer in enumerate(VERDICTS)]
    write_jsonl(tmp_path / "answers", rows)
    record = {"seed": 3, "code": "abc", "outputs": {"answers": digest(tmp_path / "answers")}}
    write_json(tmp_path / "run", record)
    return {name: tmp_path / name for name in ("answers", "run", "problems", "scores")}


def score(answers, scorer, seed=3):
    named = {"benchmark": "sums", "models": ["small"], "stage": "eval", "system": "cl"}
    score_team.main(cell=cell(scorer, **named), code="def", seed=seed, workers=1, **answers)
    return read_json(answers["scores"])


def test_a_late_program_is_wrong_and_a_late_check_unknown(answers, scorer):
    found = score(answers, scorer)
    programs = scorer == "multipl_e"
    assert (found["system"], found["seed"], found["num_problems"]) == ("cl", 3, 5)
    assert found["counts"] == {"errors": 1, "timed_out": 1, "not_run": 1}
    # One right answer of right, wrong, late and broken programs; of right, wrong and broken formulas.
    assert found["metrics"]["weighted" if programs else "accuracy"] == pytest.approx(25 if programs else 100 / 3)
    problems = found["problems"]
    assert [bool(row["metrics"]) for row in problems.values()] == [True, True, programs, True, False]
    assert problems["q0"]["candidates"] == [True, False, False if programs else None, False, None]
    assert [row["error"] for row in problems.values()] == [score.error for score in VERDICTS.values()]
    assert problems["q4"]["task"] == "mbpp/4"
    assert found["provenance"]["code"] == {"answers": "abc", "scores": "def"}
    assert ("tools" in found["provenance"]) == programs


def test_answers_of_another_seed_or_another_run_are_refused(answers, scorer):
    with pytest.raises(ArtifactError, match="not the answers of seed 4"):
        score(answers, scorer, seed=4)
    write_json(answers["run"], read_json(answers["run"]) | {"outputs": {"answers": "0" * 64}})
    with pytest.raises(ArtifactError, match="not the answers of seed 3"):
        score(answers, scorer)
    assert not answers["scores"].exists()
