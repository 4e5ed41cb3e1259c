"""From parsed files to evidence: what is read, what is refused, and by which name."""

import copy

import numpy as np
import pandas as pd
import pytest

from slmcollab.analysis.claims.evidence import Run
from slmcollab.analysis.claims.gather import gather
from slmcollab.artifacts import ArtifactError

RUNS = [
    {"benchmark": "sums", "method": "single", "team": "none", "seed": 0},
    {"benchmark": "sums", "method": "hidden_state", "team": "toy", "seed": 0},
]
CELL = {"runs": RUNS, "teams": {"toy": ["a", "b"]}, "poolings": {}, "sizes": {}, "roles": {"gain": "sums"}}
PROBLEMS = {"sums/10": {"score": 1.0, "seen": True}, "sums/2": {"score": 0.5, "seen": False}}


def scores(run, **changes):
    return run | {"metrics": {"accuracy": 50.0}, "problems": PROBLEMS} | changes


def history(**changes):
    frame = {
        "step": [1, 2],
        "reward": [0.25, 0.5],
        "reward_without_context": [None, 0.125],
        "attention_entropy": [np.log(2), 0.0],
        "attention_entropy_prompt": [0.5, 0.0],
        "attention_share/a": [0.5, 1.0],
        "attention_share/b": [0.5, 0.0],
    }
    return pd.DataFrame(frame | changes)


def attention(**changes):
    numbers = {"prompt_variance_share": None, "accuracy": 50.0, "accuracy_frozen": 40.0}
    return RUNS[1] | numbers | {"shares": {"a": 0.75, "b": 0.25}} | changes


def files(**changes):
    found = {
        "scores": {"s0": scores(RUNS[0]), "s1": scores(RUNS[1])},
        "histories": {"h0": pd.DataFrame({"step": [1], "reward": [0.0]}), "h1": history()},
        "attention": {"a1": attention()},
        "manifests": {name: {"model": name, "hidden_size": 64, "num_parameters": 100} for name in ("a", "b")},
        "published": {},
    }
    return found | changes


def test_answers_come_in_one_order_and_only_whole_scores_are_right():
    evidence = gather(CELL, **files())
    assert evidence.answers("sums", "hidden_state", "toy").tolist() == [[1.0, 0.0]]
    assert evidence.accuracies("sums", "single", "none").tolist() == [50.0]
    assert evidence.seen["sums"].tolist() == [True, False]
    assert list(evidence.correct) == [Run(**run) for run in RUNS]


def test_rewards_are_those_of_steps_that_sampled_both():
    rewards = gather(CELL, **files()).rewards[Run(**RUNS[1])]
    assert [values.tolist() for values in rewards] == [[2.0], [0.5], [0.125]]


def test_dynamics_and_attention_are_of_hidden_state_alone():
    evidence = gather(CELL, **files())
    run = Run(**RUNS[1])
    assert list(evidence.dynamics) == list(evidence.attention) == [run]
    assert evidence.dynamics[run].shares.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert evidence.final_shares("sums", "toy").tolist() == [[1.0, 0.0]]


OTHER = {**PROBLEMS, "sums/3": {"score": 0.0, "seen": True}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": {"s0": scores(RUNS[0])}}, r"no scores file for .*hidden_state"),
        ({"scores": {"s0": scores(RUNS[0]), "s1": scores(RUNS[0])}}, "^s1 and s0: both hold"),
        ({"scores": {"s0": scores(RUNS[0]), "s1": scores(RUNS[1] | {"seed": 5})}}, "^s1: .*not asked for"),
        ({"scores": {"s0": scores(RUNS[0]), "s1": {"seed": 0}}}, r"^s1: lacks \['benchmark'"),
        ({"scores": {"s0": scores(RUNS[0]), "s1": scores(RUNS[1], problems=OTHER)}}, "^s1: .*others than in s0"),
        ({"scores": {"s0": scores(RUNS[0]), "s1": scores(RUNS[1], problems={})}}, "^s1: no problems"),
        ({"scores": {"s0": scores(RUNS[0], metrics={"accuracy": 75.0}), "s1": scores(RUNS[1])}}, "^s0: accuracy 75"),
        ({"histories": {"h1": history()}}, "1 histories for the 2 runs"),
        ({"histories": {"h0": history(), "h1": history().drop(columns="attention_share/a")}}, "^h1: .*share/b"),
        ({"histories": {"h0": history(), "h1": history().drop(columns="reward_without_context")}}, "^h1: no column"),
        ({"histories": {"h0": history(), "h1": history(reward_without_context=["x", "y"])}}, "^h1: "),
        ({"attention": {"a1": attention(method="single")}}, "^a1: .*not asked for"),
        ({"attention": {"a1": attention(shares={"a": 0.5, "b": 0.25})}}, "^a1: .*add up to 1"),
        ({"attention": {"a1": attention(shares={"a": 1.0})}}, "^a1: shares"),
        ({"attention": {"a1": []}}, "^a1: lacks"),
        ({"manifests": {"m": {"model": "a", "hidden_size": 1, "num_parameters": 1}}}, r"no manifest of \['b'\]"),
        ({"manifests": {"m": {"model": "a"}}}, r"^m: lacks \['hidden_size', 'num_parameters'\]"),
    ],
)
def test_files_that_do_not_fit_are_named(changes, message):
    with pytest.raises(ArtifactError, match=message):
        gather(copy.deepcopy(CELL), **files(**changes))


def test_a_run_without_attention_is_evidence_all_the_same():
    assert gather(CELL, **files(attention={})).attention == {}
