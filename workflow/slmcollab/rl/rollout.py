"""Rollouts with and without context, and their reward."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from trl import GRPOTrainer

from slmcollab.artifacts import Problem
from slmcollab.rl import trl_hooks
from slmcollab.rl.policy import Context
from slmcollab.scoring.grader import TIMED_OUT, Grader
from slmcollab.scoring.score import Score

WITHOUT_CONTEXT = "completion_without_context"


@dataclass(frozen=True)
class Rollout:
    """TRL's rollout_func: prompts are chosen by the `example_id` in their last message, not read again.

    prompts: of each problem, with its context; plain_prompts: without, None where there is no context to leave out.
    Every `without_context_every` steps each prompt is answered from the plain prompt too; these answers draw from a
    fork of the random streams, so that training goes the same way with them and without them.
    """

    prompts: list[list[int]]
    plain_prompts: list[list[int]] | None
    without_context_every: int

    def __call__(self, prompts: list[list[dict[str, Any]]], trainer: GRPOTrainer) -> dict[str, Any]:
        rows = [messages[-1]["example_id"] for messages in prompts]
        ids = [self.prompts[row] for row in rows]
        rollouts = {"prompt_ids": ids, "completion_ids": trl_hooks.sample(trainer, ids), "logprobs": None}
        if self.plain_prompts is not None and trainer.state.global_step % self.without_context_every == 0:
            with torch.random.fork_rng():
                probe = trl_hooks.sample(trainer, [self.plain_prompts[row] for row in rows])
            rollouts[WITHOUT_CONTEXT] = trainer.processing_class.batch_decode(probe, skip_special_tokens=True)
        return rollouts


@dataclass(frozen=True)
class Reward:
    """TRL's reward function: the score of each completion; what a history needs besides goes to TRL's log."""

    grader: Grader
    problems: Sequence[Problem]
    context: Context | None
    experts: Sequence[str]
    __name__ = "reward"

    def __call__(
        self,
        *,
        completions: list[list[dict[str, Any]]] | list[str],
        row: list[int],
        log_metric: Callable[[str, float], None],
        **columns: Any,
    ) -> list[float]:
        scores = self._grade(completions, row)
        timed_out = sum(score.error == TIMED_OUT for score in scores)
        log_metric("num_errors", sum(score.error is not None for score in scores) - timed_out)
        log_metric("num_timed_out", timed_out)
        unparsed = sum(score.error is None and score.extracted is None for score in scores)
        log_metric("share_unparsed", unparsed / len(scores))
        if WITHOUT_CONTEXT in columns:
            log_metric("reward_without_context", fmean(map(_reward, self._grade(columns[WITHOUT_CONTEXT], row))))
        attention = self.context.attention(row) if self.context else None
        if attention is not None:
            for name, value in attention_metrics(attention, self.experts).items():
                log_metric(name, value)
        return [_reward(score) for score in scores]

    def _grade(self, completions: list[list[dict[str, Any]]] | list[str], rows: list[int]) -> Sequence[Score]:
        texts = [text if isinstance(text, str) else text[-1]["content"] for text in completions]
        return self.grader.grade(texts, [self.problems[row] for row in rows])


def _reward(score: Score) -> float:
    """Return the score; one that could not be had counts 0, and one that is no finite number is no score at all."""
    # ASSUME: the reward is the task's own score, partial credit included, without terms for format or length.
    if score.error is not None:
        return 0.0
    if not math.isfinite(score.score):
        raise ValueError(f"the scorer returned {score.score} as a score: rewards have to be finite numbers")
    return float(score.score)


def attention_metrics(attention: Float[Tensor, "rollout context expert"], experts: Sequence[str]) -> dict[str, float]:
    """Return a step's share of attention mass per expert, the entropy of these shares and the prompts' mean entropy.

    Mass is the mean over heads and context tokens; entropies are in nats, ln n where n experts share equally.
    """
    by_prompt = attention.double().mean(dim=1)
    shares = by_prompt.mean(dim=0)
    metrics = {f"attention_share/{name}": share for name, share in zip(experts, shares.tolist(), strict=True)}
    metrics["attention_entropy"] = torch.special.entr(shares).sum().item()
    metrics["attention_entropy_prompt"] = torch.special.entr(by_prompt).sum(dim=-1).mean().item()
    return metrics
