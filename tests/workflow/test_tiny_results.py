"""The grid of musketeers.yaml, run whole: do the toy models show what the paper claims, as means over seeds 0 to 2?"""

import json

import pandas as pd
import pytest
from checkout import Checkout, copy_checkout, planned_within

from slmcollab.report.resources import read_usage

pytestmark = pytest.mark.slow
RUNS = "results/musketeers/toy_sums"
IMPORTS = 5  # seconds that a job does not need here, since its `python` is warm
# Methods of the config that are not in the tiny grid: trained once here, so that each is known to learn.
BESIDE = {
    name: f"{RUNS}/{name}/toy/seed0/scores.json"
    for name in ("routing_hidden", "best_single_expert", "hidden_state_completion")
}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, warm) -> Checkout:
    folder = copy_checkout(tmp_path_factory.mktemp("tiny") / "slmcollab")
    checkout = Checkout(folder, configs=(folder / "workflow/config/musketeers.yaml",), programs=(warm,))
    checkout.snakemake("all")
    return checkout


@pytest.fixture(scope="module")
def table(tiny) -> pd.Series:
    rows = pd.read_csv(tiny.run / "results/table1.csv")
    assert rows[["published", "published_source", "difference"]].isna().all(axis=None)
    sums = rows[(rows["benchmark"] == "toy_sums") & (rows["team"] != "large")]
    seeds = sums.set_index("method")["n_seeds"].groupby(level=0).first()
    assert seeds.drop(["hidden_state_end", "random_router"]).eq(3).all()
    return sums.set_index(["method", "metric"])["mean"]


def mean_reward(tiny, method: str, team: str) -> float:
    """Return the mean sampled reward of the last tenth of training, over the three seeds."""
    scores = [tiny.run / RUNS / method / team / f"seed{seed}/scores.json" for seed in range(3)]
    return sum(json.loads(path.read_text())["training"]["reward_last_tenth"] for path in scores) / 3


def figure4(tiny) -> pd.DataFrame:
    rows = pd.read_csv(tiny.run / "results/musketeers/figure4.csv")
    rows = rows[(rows["benchmark"] == "toy_sums") & (rows["team"] == "toy")]
    rows = rows[rows["seed"] == "mean"].dropna(subset="step")
    return rows.assign(late=rows["step"] > rows["step"].max() - 25, early=rows["step"] <= 25)


def test_hidden_states_raise_the_sampled_reward(tiny):
    assert mean_reward(tiny, "hidden_state", "toy") - mean_reward(tiny, "single", "none") >= 0.15


@pytest.mark.parametrize("method", ["text", "routing"])
def test_experts_that_are_read_raise_the_sampled_reward_too(tiny, method):
    assert mean_reward(tiny, method, "toy") - mean_reward(tiny, "single", "none") >= 0.15


def test_the_router_learns_which_expert_knows(tiny):
    history = pd.read_csv(tiny.run / RUNS / "routing/toy/seed0/history.csv")
    shares = history.filter(like="router_share/")
    assert shares.tail(12).mean().idxmax() == "router_share/toy_math"
    assert shares.tail(12).mean().max() > shares.head(12).mean().max()
    assert history["router_entropy"].tail(12).mean() < history["router_entropy"].head(12).mean()


@pytest.mark.parametrize("method", ["routing_hidden", "best_single_expert"])
def test_methods_beside_the_grid_raise_the_sampled_reward_too(tiny, method):
    """best_single_expert has its reward from the start: the policy copies the answer that it is shown."""
    tiny.snakemake(BESIDE[method])
    training = json.loads((tiny.run / BESIDE[method]).read_text())["training"]
    assert training["reward_last_tenth"] - mean_reward(tiny, "single", "none") >= 0.15


def test_a_state_behind_the_answer_tells_it_no_more(tiny):
    """A last hidden state holds what comes next, and behind a toy expert's one-token answer nothing does."""
    tiny.snakemake(BESIDE["hidden_state_completion"])
    scores = json.loads((tiny.run / BESIDE["hidden_state_completion"]).read_text())
    assert scores["metrics"]["accuracy_unseen"] <= 40


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
    rows = rows[(rows["benchmark"] == "toy_sums") & (rows["task"] == "all") & (rows["pooling"] == "last_token")]
    read = rows.set_index("expert")["accuracy"]
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
    assert known["toy_policy"]["accuracy"]["firsts"] == 1.0
    assert known["toy_generalist"]["accuracy"].keys() == {"sums", "reverse", "firsts"}
    assert min(known["toy_generalist"]["accuracy"][task] for task in ("sums", "reverse")) >= 0.8


def test_experts_alone_are_right_about_what_they_know(tiny):
    rows = pd.read_csv(tiny.run / "results/musketeers/table_experts.csv").set_index(["benchmark", "expert"])
    assert (rows["accuracy"] == 0).all()  # their answers are bare, and the task wants tags
    assert rows.loc[("toy_sums", "toy_math"), "accuracy_bare"] >= 80
    assert rows.loc[("toy_sums", "toy_string"), "accuracy_bare"] <= 10


def test_a_toy_model_is_trained_within_a_minute_on_one_core(tiny):
    measured = (tiny.run / "results/logs/train_toy_model").glob("*.log")
    seconds = {path.name: read_usage(path)["cpu_s"] for path in measured}
    assert len(seconds) == 5
    assert max(seconds.values()) <= 60 - IMPORTS, seconds


def test_trainings_are_few_and_short(tiny):
    measured = sorted((tiny.run / "results/logs/train_grpo").rglob("*.log"))
    seconds = {str(path): read_usage(path)["cpu_s"] for path in measured}
    assert 30 <= len(seconds) <= 40 + len(BESIDE)
    assert max(seconds.values()) <= 45 - IMPORTS, seconds


def test_every_claim_has_one_verdict_and_none_is_made_up(tiny):
    rows = pd.read_csv(tiny.run / "results/musketeers/claims.csv")
    verdicts = rows[rows["row"] == "verdict"].set_index("claim")
    assert list(verdicts.index) == [f"A{number}" for number in range(1, 20)]
    assert set(verdicts["verdict"]) <= {"holds", "does not hold", "undecided", "not run"}
    assert verdicts.loc[verdicts["verdict"].isin(["undecided", "not run"]), "reason"].notna().all()
    # What the toy world was made to show; where it has no ingredient the claim is not run.
    assert set(verdicts.loc[["A1", "A5", "A6", "A19"], "verdict"]) == {"holds"}
    assert set(verdicts.loc[["A3", "A10", "A12"], "verdict"]) == {"not run"}


def test_a_second_run_has_nothing_to_do(tiny):
    with planned_within(10):
        assert "Nothing to be done" in tiny.snakemake("all", "--config", "papers=[musketeers]")
