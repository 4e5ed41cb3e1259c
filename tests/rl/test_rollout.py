"""Rewards and what is logged beside them."""

import math

import pytest
import torch
from transformers import TrainerState

from slmcollab.rl.rollout import WITHOUT_CONTEXT, Reward, attention_metrics
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score


class ByText(Grader):
    """Scores a completion as the table says."""

    def __init__(self, table):
        super().__init__("exact", 1.0)
        self.table = table

    def grade(self, completions, problems):
        return [self.table[text] for text in completions]


TABLE = {
    "right": Score(1.0, True, "7"),
    "half": Score(0.5, False, "7x"),
    "mute": Score(0.0, False, None),
    "slow": Score(0.0, False, None, "timed_out"),
}


@pytest.fixture
def reward(problems, load):
    return Reward(ByText(TABLE), problems, load("none"), None)


def call(reward, completions, **columns):
    logged = {}
    columns = {"row": [0] * len(completions), "trainer_state": TrainerState(global_step=0), **columns}
    rewards = reward(completions=completions, log_metric=logged.__setitem__, **columns)
    return rewards, logged


def test_rewards_are_scores_and_failures_are_counted_apart_from_missing_answers(reward):
    rewards, logged = call(reward, ["right", "half", "mute", "slow", "mute"])
    assert rewards == [1.0, 0.5, 0.0, 0.0, 0.0]
    assert logged == {"num_errors": 0, "num_timed_out": 1, "share_unparsed": 0.4}  # two of five


def test_texts_and_lists_of_messages_are_graded_alike(reward):
    texts = ["right", "mute"]
    messages = [[{"role": "assistant", "content": text}] for text in texts]
    assert call(reward, texts) == call(reward, messages)


def test_the_probe_is_graded_and_logged_not_rewarded(reward):
    rewards, logged = call(reward, ["mute", "mute"], **{WITHOUT_CONTEXT: ["right", "slow"]})
    assert rewards == [0.0, 0.0]
    assert logged["reward_without_context"] == 0.5
    assert logged["num_errors"] == 0


def test_a_scorer_that_fails_on_a_whole_step_stops_the_run(problems, load):
    table = {"odd": Score(0.0, False, None, "raised: KeyError"), "mute": Score(0.0, False, None)}
    reward = Reward(ByText(table), problems, load("none"), None)
    assert call(reward, ["odd", "mute"])[1]["num_errors"] == 1
    with pytest.raises(RuntimeError, match="failed on all 2 completions of a step: raised: KeyError"):
        call(reward, ["odd", "odd"])


def test_a_score_with_an_error_earns_nothing_whatever_it_says(problems, load):
    reward = Reward(ByText(TABLE | {"odd": Score(0.7, False, "7", "raised: ValueError")}), problems, load("none"), None)
    rewards, logged = call(reward, ["odd", "right"])
    assert (rewards, logged["num_errors"]) == ([0.0, 1.0], 1)


@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_a_score_that_is_no_finite_number_is_refused(problems, load, value):
    odd = Score(0.0, False, "7")
    object.__setattr__(odd, "score", value)  # what a scorer of somebody else may return
    reward = Reward(ByText({"odd": odd}), problems, load("none"), None)
    with pytest.raises(ValueError, match="rewards have to be finite"):
        call(reward, ["odd"])


def test_attention_metrics_by_hand():
    # two prompts, two tokens each, two experts; means over tokens: (0.9, 0.1) and (0.5, 0.5); over prompts: (0.7, 0.3)
    attention = torch.tensor([[[1.0, 0.0], [0.8, 0.2]], [[0.4, 0.6], [0.6, 0.4]]])
    metrics = attention_metrics(attention, ["math", "naive"])
    # entropy of (0.7, 0.3): 0.7·0.35667 + 0.3·1.20397 = 0.61086
    # of the prompts: (0.9·0.10536 + 0.1·2.30259 = 0.32508) and ln 2 = 0.69315; their mean 0.50912
    expected = {
        "attention_share/math": 0.7,
        "attention_share/naive": 0.3,
        "attention_entropy": 0.61086,
        "attention_entropy_prompt": 0.50912,
    }
    assert metrics == pytest.approx(expected, abs=1e-5)


def test_all_attention_on_one_expert_has_no_entropy():
    metrics = attention_metrics(torch.tensor([[[1.0, 0.0]]]), ["math", "naive"])
    assert (metrics["attention_entropy"], metrics["attention_entropy_prompt"]) == (0.0, 0.0)
