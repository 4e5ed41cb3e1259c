"""The step: files in, scores.json out."""

import json

import pytest

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json, write_jsonl, write_problems
from slmcollab.benchmarks import toy_digits
from slmcollab.steps import score_answers

CELL = {
    "benchmark": "toy_sums",
    "experts": ["toy_math"],
    "method": "hidden_state",
    "policy": "toy_policy",
    "scorer": "exact",
    "team": "toy",
    "time_limit_s": 10,
}


@pytest.fixture
def files(tmp_path):
    """A run that is right on the sums below 10 and cut on the others."""
    block = {"benchmark": "toy_sums", "tasks": {"sums": {}}, "num_train": 75, "num_test": 100}
    splits = toy_digits.load(block, 42)
    names = ("answers", "answering", "problems", "train_problems", "run", "history", "scores")
    paths = {name: tmp_path / name for name in names}
    write_problems(paths["problems"], splits.test)
    write_problems(paths["train_problems"], splits.train)
    rows = [
        {
            "id": problem.id,
            "completion": f"<answer>{problem.answer}</answer>" if int(problem.answer) < 10 else "<answer>1",
            "num_tokens": 3,
            "cut": int(problem.answer) >= 10,
        }
        for problem in splits.test
    ]
    write_jsonl(paths["answers"], reversed(rows))
    paths["history"].write_text(
        "step,reward,share_cut,share_unparsed,frac_reward_zero_std,kl\n1,0.25,0,0.5,1,\n2,0.75,1,0.5,0,0.1\n"
    )
    write_json(paths["run"], {"seed": 3, "code": "abc", "outputs": {"history": digest(paths["history"])}})
    write_json(paths["answering"], {"seed": 3, "code": "abc", "outputs": {"answers": digest(paths["answers"])}})
    return paths


def test_scores_of_a_run(files):
    score_answers.main(cell=json.dumps(CELL), code="def", seed=3, **files)
    result = read_json(files["scores"])
    heads = {key: result[key] for key in ("benchmark", "method", "team", "seed", "policy", "experts")}
    assert heads == {key: CELL[key] for key in heads if key != "seed"} | {"seed": 3}
    # 10 + 9 + ... + 1 of the 100 sums stay below 10
    assert result["num_problems"] == 100
    assert result["metrics"]["accuracy"] == pytest.approx(55.0)
    seen = [entry for entry in result["problems"].values() if entry["seen"]]
    assert len(seen) == 75
    right_and_seen = sum(entry["score"] == 1 for entry in seen)
    assert result["metrics"]["accuracy_seen"] == pytest.approx(100 * right_and_seen / 75)
    assert result["metrics"]["accuracy_unseen"] == pytest.approx(100 * (55 - right_and_seen) / 25)
    assert result["shares"] == {"cut": pytest.approx(0.45), "unparsed": pytest.approx(0.45)}
    assert result["counts"] == {"errors": 0, "timed_out": 0, "unseen": 25}
    assert result["training"]["reward_last_tenth"] == 0.75
    assert result["provenance"]["run"] == read_json(files["run"])
    assert result["provenance"]["code"] == {"answers": "abc", "scores": "def"}
    inputs = ("answers", "problems", "train_problems", "history")
    assert result["provenance"]["inputs"] == {name: digest(files[name]) for name in inputs}
    read = (*inputs, "run", "answering")
    assert result["provenance"]["digests"] == {str(files[name]): digest(files[name]) for name in read}


def test_scores_are_the_same_bytes_again(files):
    score_answers.main(cell=json.dumps(CELL), code="def", seed=3, **files)
    first = files["scores"].read_bytes()
    score_answers.main(cell=json.dumps(CELL), code="def", seed=3, **files)
    assert files["scores"].read_bytes() == first


def test_the_run_of_another_seed_is_refused(files):
    with pytest.raises(ArtifactError, match=r"history: not the history of seed 4 that .*run records"):
        score_answers.main(cell=json.dumps(CELL), code="def", seed=4, **files)


def test_unanswered_problems_are_refused(files):
    lines = files["answers"].read_text().splitlines(keepends=True)
    files["answers"].write_text("".join(lines[:-1]))
    with pytest.raises(ArtifactError, match=r"answers: not the answers of seed 3 that .*answering records"):
        score_answers.main(cell=json.dumps(CELL), code="def", seed=3, **files)
    record = read_json(files["answering"])
    write_json(files["answering"], record | {"outputs": {"answers": digest(files["answers"])}})
    with pytest.raises(ArtifactError, match="1 of 100 problems unanswered"):
        score_answers.main(cell=json.dumps(CELL), code="def", seed=3, **files)
    assert not files["scores"].exists()


def test_a_history_that_the_run_does_not_record_is_refused(files):
    files["history"].write_text(files["history"].read_text().replace("0.75", "0.85"))
    with pytest.raises(ArtifactError, match="not the history of seed 3 that"):
        score_answers.main(cell=json.dumps(CELL), code="def", seed=3, **files)
