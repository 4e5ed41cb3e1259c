"""The tiny grid, run whole: do the toy models show what the paper claims, as means over seeds 0 to 2?"""

import json
import time

import pandas as pd
import pytest
from checkout import Checkout, copy_checkout

pytestmark = pytest.mark.slow
RUNS = "results/musketeers/toy_sums"
TEAMS = {"single": "none", "hidden_state": "toy", "hidden_state_shuffled": "toy"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Checkout:
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("tiny") / "slmcollab"), configs=())
    checkout.snakemake("all", "results/models/toy_generalist/manifest.json")
    return checkout


@pytest.fixture(scope="module")
def table(tiny) -> pd.Series:
    rows = pd.read_csv(tiny.run / "results/table1.csv")
    assert (rows["n_seeds"] == 3).all()
    assert rows[["published", "published_source", "difference"]].isna().all(axis=None)
    return rows.set_index(["method", "metric"])["mean"]


def mean_reward(tiny, method: str) -> float:
    """Return the mean sampled reward of the last tenth of training, over the three seeds."""
    scores = [tiny.run / RUNS / method / TEAMS[method] / f"seed{seed}/scores.json" for seed in range(3)]
    return sum(json.loads(path.read_text())["training"]["reward_last_tenth"] for path in scores) / 3


def figure4(tiny) -> pd.DataFrame:
    rows = pd.read_csv(tiny.run / "results/musketeers/figure4.csv")
    rows = rows[rows["seed"] == "mean"].dropna(subset="step")
    return rows.assign(late=rows["step"] > rows["step"].max() - 25, early=rows["step"] <= 25)


def test_hidden_states_raise_the_sampled_reward(tiny):
    assert mean_reward(tiny, "hidden_state") - mean_reward(tiny, "single") >= 0.15


def test_hidden_states_answer_questions_that_training_never_asked(table):
    unseen = table.xs("accuracy_unseen", level="metric")
    assert unseen["hidden_state"] - unseen["single"] >= 30


def test_features_of_another_problem_do_not(table):
    unseen = table.xs("accuracy_unseen", level="metric")
    assert abs(unseen["hidden_state_shuffled"] - unseen["single"]) <= 10


def test_attention_moves_to_the_expert_that_knows(tiny):
    rows = figure4(tiny)
    shares = rows[rows["quantity"] == "attention_share"]
    early, late = (shares[shares[when]].groupby("expert")["value"].mean() for when in ("early", "late"))
    assert late.idxmax() == "toy_math"
    assert late["toy_math"] > early["toy_math"]


def test_attention_concentrates(tiny):
    rows = figure4(tiny)
    entropy = rows[rows["quantity"] == "attention_entropy"]
    assert entropy[entropy["late"]]["value"].mean() < entropy[entropy["early"]]["value"].mean()


def test_the_probe_says_beforehand_which_expert_knows(tiny):
    rows = pd.read_csv(tiny.run / "results/musketeers/table_probe.csv")
    read = rows[rows["pooling"] == "last_token"].set_index("expert")["accuracy"]
    assert read["toy_math"] >= 90
    assert max(read["toy_string"], read["toy_naive"]) <= 30


def test_specialists_are_apart_and_the_policy_knows_the_format_but_not_the_sums(tiny):
    known = {
        path.parent.name: json.loads(path.read_text()) for path in (tiny.run / "results/models").glob("*/manifest.json")
    }
    assert known["toy_math"]["accuracy"]["sums"] >= 0.8
    assert known["toy_string"]["accuracy"]["reverse"] >= 0.8
    assert max(known[name]["accuracy"]["sums"] for name in ("toy_policy", "toy_string", "toy_naive")) <= 0.3
    assert known["toy_policy"]["format"]["sums"] == 1.0
    assert min(known["toy_generalist"]["accuracy"].values()) >= 0.8
    assert known["toy_generalist"]["accuracy"].keys() == {"sums", "reverse"}


def test_a_toy_model_is_trained_within_a_minute_on_one_core(tiny):
    measured = (tiny.run / "results/resources/train_toy_model").glob("*.resources.tsv")
    seconds = {path.name: pd.read_csv(path, sep="\t")["cpu_time"].max() for path in measured}
    assert len(seconds) == 5
    assert max(seconds.values()) <= 60, seconds


def test_a_second_run_has_nothing_to_do(tiny):
    begin = time.monotonic()
    assert "Nothing to be done" in tiny.snakemake("all")
    assert time.monotonic() - begin <= 10
