"""Rollouts with and without context, and their reward."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import TrainerState
from trl import GRPOTrainer

from slmcollab.artifacts import Problem
from slmcollab.rl import trl_hooks
from slmcollab.rl.conditioned import ConditionedPolicy
from slmcollab.rl.routing import RouterTraining, routing_metrics
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import TIMED_OUT, Score

WITHOUT_CONTEXT = "completion_without_context"


@dataclass(frozen=True)
class Rollout:
    """TRL's rollout_func: prompts are chosen by the `example_id` in their last message, not read again.

    Where experts are routed, each completion gets the prompt of the expert that is drawn for it. Every
    `without_context_every` steps each prompt is answered from the problem alone too; these answers draw from a fork of
    the random streams, so that training goes the same way with them and without them.
    """

    policy: ConditionedPolicy
    without_context_every: int

    def __call__(self, prompts: list[list[dict[str, Any]]], trainer: GRPOTrainer) -> dict[str, Any]:
        rows, step = [messages[-1]["example_id"] for messages in prompts], trainer.state.global_step
        routing, encoder = self.policy.routing, self.policy.prompts
        chosen = routing.draw(rows, "training", step) if routing else [0] * len(rows)
        asked = list(zip(rows, chosen, strict=True))
        encoded = {key: encoder.conditioned(*key) for key in dict.fromkeys(asked)}
        ids = [encoded[key] for key in asked]
        completions = trl_hooks.sample(trainer, ids)
        rollouts = {"prompt_ids": ids, "completion_ids": completions, "logprobs": None}
        if routing:
            rollouts["choice"] = chosen
        if not encoder.are_plain and step % self.without_context_every == 0:
            plain = {row: encoder.plain(row) for row in dict.fromkeys(rows)}
            with torch.random.fork_rng():
                probe = trl_hooks.sample(trainer, [plain[row] for row in rows])
            rollouts[WITHOUT_CONTEXT] = trainer.processing_class.batch_decode(probe, skip_special_tokens=True)
        return rollouts


@dataclass(frozen=True)
class Reward:
    """TRL's reward function: the score of each completion; what a history needs besides goes to TRL's log.

    router: learns from the same rewards, None where none is learned.
    """

    grader: Grader
    problems: Sequence[Problem]
    policy: ConditionedPolicy
    router: RouterTraining | None
    __name__ = "reward"

    def __call__(
        self,
        *,
        completions: list[list[dict[str, Any]]] | list[str],
        row: list[int],
        trainer_state: TrainerState,
        log_metric: Callable[[str, float], None],
        choice: Sequence[int] = (),
        **columns: Any,
    ) -> list[float]:
        scores = self._grade(completions, row)
        rewards = [_reward(score) for score in scores]
        timed_out = sum(score.error == TIMED_OUT for score in scores)
        if all(score.error not in (None, TIMED_OUT) for score in scores):
            raise RuntimeError(f"the scorer failed on all {len(scores)} completions of a step: {scores[0].error}")
        metrics = {
            "num_errors": sum(score.error is not None for score in scores) - timed_out,
            "num_timed_out": timed_out,
            "share_unparsed": sum(score.error is None and score.extracted is None for score in scores) / len(scores),
        }
        if WITHOUT_CONTEXT in columns:
            metrics["reward_without_context"] = fmean(map(_reward, self._grade(columns[WITHOUT_CONTEXT], row)))
        metrics |= self._expert_metrics(row, choice)
        for name, value in metrics.items():
            log_metric(name, value)
        if self.router:
            self.router.update(row, choice, rewards, trainer_state.global_step)
        return rewards

    def _grade(self, completions: list[list[dict[str, Any]]] | list[str], rows: list[int]) -> Sequence[Score]:
        texts = [text if isinstance(text, str) else text[-1]["content"] for text in completions]
        return self.grader.grade(texts, [self.problems[row] for row in rows])

    def _expert_metrics(self, rows: list[int], choice: Sequence[int]) -> dict[str, float]:
        routing, context, experts = self.policy.routing, self.policy.context, self.policy.experts
        if routing:
            with torch.no_grad():
                return routing_metrics(routing.log_probabilities(rows), choice, experts)
        attention = context.attention(rows) if context else None
        return {} if attention is None else attention_metrics(attention, experts)


def _reward(score: Score) -> float:
    """Return the score; one that could not be had counts 0, and one that is no finite number is no score at all."""
    # ASSUME: the reward is the task's own score, partial credit included, without terms for format or length.
    if score.error is not None:
        return 0.0
    if score.score is None or not math.isfinite(score.score):
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
