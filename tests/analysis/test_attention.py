"""Attention over training steps: shares, entropy, tenths, rank correlation with reward."""

import math

import numpy as np
import pandas as pd
import pytest

from slmcollab.analysis.attention import (
    Dynamics,
    block_means,
    dynamics,
    entropy,
    entropy_reward_correlation,
    entropy_trend,
    last_tenth,
    mean_dynamics,
    read_history,
)

LN2 = math.log(2)


def history(**columns):
    """Two experts over three steps: equal, then a quarter to three quarters, then all to b."""
    # -(1/4 ln 1/4 + 3/4 ln 3/4) = 1/4 · 1.386294 + 3/4 · 0.287682 = 0.562335
    frame = {
        "step": [1, 2, 3],
        "reward": [0.0, 0.25, 0.5],
        "reward_without_context": [0.0, None, None],
        "attention_entropy": [LN2, 0.562335, 0.0],
        "attention_entropy_prompt": [0.5, 0.4, 0.0],
        "attention_share/b": [0.5, 0.75, 1.0],
        "attention_share/a": [0.5, 0.25, 0.0],
    }
    return pd.DataFrame(frame | columns)


def run(entropies, rewards, steps=None):
    values = np.array(entropies, dtype=float)
    steps = np.arange(len(values)) if steps is None else np.array(steps)
    return Dynamics(steps, np.ones((len(values), 1)), values, values, np.array(rewards, dtype=float))


def test_entropy_is_in_nats_and_zero_where_one_expert_has_all():
    found = entropy(np.array([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]]))
    assert found == pytest.approx([0.693147, 0.0, 0.562335], abs=1e-6)


def test_shares_come_in_the_order_of_the_team():
    found = dynamics("history.csv", history(), ["a", "b"])
    assert found.shares.tolist() == [[0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]
    assert found.step.tolist() == [1, 2, 3]
    assert found.reward.tolist() == [0.0, 0.25, 0.5]
    assert found.entropy_prompt.tolist() == [0.5, 0.4, 0.0]


@pytest.mark.parametrize(
    ("columns", "experts", "message"),
    [
        ({}, ["a", "c"], "attention_share/c"),
        ({}, ["a"], "attention shares"),
        ({"reward": [0.0, None, 0.5]}, ["a", "b"], "'reward'"),
        ({"reward": ["0", "x", "1"]}, ["a", "b"], "'reward'"),
        ({"attention_entropy_prompt": [math.inf, 0.0, 0.0]}, ["a", "b"], "'attention_entropy_prompt'"),
        ({"step": [1, 3, 2]}, ["a", "b"], "steps"),
        ({"step": [1, 2, 2]}, ["a", "b"], "steps"),
        ({"attention_share/a": [0.5, 0.25, 0.1]}, ["a", "b"], "add up to 1"),
        ({"attention_share/a": [0.5, 0.25, -1.0], "attention_share/b": [0.5, 0.75, 2.0]}, ["a", "b"], "at least 0"),
        ({"attention_entropy": [1.0, 0.811278, 0.0]}, ["a", "b"], "nats"),  # the same in bits
    ],
)
def test_a_history_that_is_not_one_is_refused(columns, experts, message):
    with pytest.raises(ValueError, match=message):
        dynamics("history.csv", history(**columns), experts)


def test_an_empty_history_and_one_without_attention_are_refused():
    with pytest.raises(ValueError, match="steps"):
        dynamics("history.csv", history().iloc[:0], ["a", "b"])
    with pytest.raises(ValueError, match="attention shares"):
        dynamics("history.csv", pd.DataFrame({"step": [1], "reward": [0.5]}), ["a"])


def test_history_is_read_as_it_was_written(tmp_path):
    value = 0.1 + 0.2
    (tmp_path / "history.csv").write_text(f"step,reward,reward_without_context\n1,{value!r},\n")
    found = read_history(tmp_path / "history.csv")
    assert found["reward"].tolist() == [value]
    assert found["reward_without_context"].isna().all()


@pytest.mark.parametrize("text", ["", "step,reward\n1,0.5\n2,0.12"])
def test_a_history_that_is_cut_is_refused(tmp_path, text):
    (tmp_path / "history.csv").write_text(text)
    with pytest.raises(ValueError, match="cut in its last line"):
        read_history(tmp_path / "history.csv")


def test_mean_over_runs_step_by_step():
    found = mean_dynamics([run([1.0, 0.5], [0.0, 0.2]), run([0.5, 0.1], [0.1, 0.4])])
    assert found.entropy == pytest.approx([0.75, 0.3])
    assert found.reward == pytest.approx([0.05, 0.3])
    assert found.step.dtype == np.int64


def test_runs_of_different_steps_have_no_mean():
    with pytest.raises(ValueError, match="steps"):
        mean_dynamics([run([1.0, 0.5], [0.0, 0.2]), run([1.0, 0.5], [0.0, 0.2], steps=[1, 2])])


def test_block_means_keep_the_rest():
    assert block_means(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 2).tolist() == [1.5, 3.5, 5.0]


def test_spearman_by_hand():
    # Ranks 4 3 2 1 and 1 2 4 3: squared differences 9 + 1 + 4 + 4 = 18, 1 - 6 · 18 / (4 · 15) = -0.8.
    assert entropy_reward_correlation(run([0.9, 0.7, 0.5, 0.1], [0.1, 0.2, 0.9, 0.3])) == pytest.approx(-0.8)


def test_spearman_with_ties_by_hand():
    # Ranks 4 3 2 1 and 1.5 1.5 3.5 3.5: covariance -4, norms √5 and √4, -4 / √20 = -0.894427.
    assert entropy_reward_correlation(run([0.9, 0.7, 0.5, 0.1], [0.1, 0.1, 0.9, 0.9])) == pytest.approx(-0.894427)


@pytest.mark.parametrize(("entropies", "rewards"), [([0.5], [0.5]), ([0.5, 0.5], [0.1, 0.2]), ([0.5, 0.4], [0.0, 0.0])])
def test_no_correlation_where_nothing_changes(entropies, rewards):
    assert entropy_reward_correlation(run(entropies, rewards)) is None


def test_the_last_tenth_is_rounded_down_and_at_least_one_step():
    values = np.arange(1.0, 30.0)[:, np.newaxis]  # 29 steps: the last two
    assert last_tenth(values).tolist() == [28.5]
    assert last_tenth(values[:5]).tolist() == [5.0]
    assert last_tenth(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist() == [3.0, 4.0]


def test_kendall_of_block_means_by_hand():
    # Means over two steps 4, 3, 1, 2: of six pairs five fall and one rises, so τ = -4/6; the steps themselves differ.
    # Orders of four with at most one rising pair, or at most one falling: 4 and 4 of 24, so p = 1/3.
    tau, p_value = entropy_trend(run([5, 3, 2, 4, 1, 1, 2, 2], np.zeros(8)), 2)
    assert (tau, p_value) == (pytest.approx(-2 / 3), pytest.approx(1 / 3))


def test_no_trend_where_nothing_changes():
    assert entropy_trend(run([1.0] * 30, np.zeros(30))) is None
    assert entropy_trend(run([2.0, 1.0], np.zeros(2))) is None  # one block
