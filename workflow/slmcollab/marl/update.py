"""One update phase of a slot: its responses of an iteration, gone through as often as the settings say."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from slmcollab.marl.batches import Batch, Row, divide, pad
from slmcollab.marl.losses import k3, response_means
from slmcollab.marl.objectives import Measured, Objective, Target
from slmcollab.marl.policies import Policy
from slmcollab.seeding import derive, python_generator
from slmcollab.supervision.clip import is_clipped

GRADIENT_NORM = 1.0


@dataclass(frozen=True)
class UpdateSettings:
    """epochs: how often the responses are gone through; mini_batches: updates in each of them.

    micro_batch_size: responses that go through the model at once; temperature: that they were sampled at.
    """

    epochs: int
    mini_batches: int
    micro_batch_size: int
    temperature: float | int


@dataclass(frozen=True)
class _Micro:
    batch: Batch
    was: Measured
    target: Target


def update(
    policy: Policy, rows: Sequence[Row], objective: Objective, settings: UpdateSettings, *, rate: float | int, seed: int
) -> dict[str, Any]:
    """Let a policy learn from rows that its present weights have sampled; return what happened.

    Keys: num_updates; loss, of the first update; ratio_first, the largest distance to 1 of a likelihood ratio in it;
    kl, to the base model in nats (k3), and clip_share, of tokens: both over all updates. Raises ValueError where a loss
    is no number any more.
    """
    for group in policy.optimizer.param_groups:
        group["lr"] = rate
    policy.switch_on(training=True)
    minis = _measure(policy, divide(rows, settings.mini_batches, settings.micro_batch_size, seed), objective, settings)
    sums: Counter[str] = Counter()
    losses, ratios = [], []
    for epoch in range(settings.epochs):
        for mini in python_generator(derive(seed, "epoch"), epoch).sample(minis, len(minis)):
            loss, ratio = _step(policy, mini, objective, settings.temperature, sums)
            losses.append(loss)
            ratios.append(ratio)
    policy.switch_on()
    shares = {"kl": sums["kl"] / sums["tokens"], "clip_share": sums["clipped"] / sums["tokens"]}
    return {"num_updates": len(losses), "loss": losses[0], "ratio_first": ratios[0], **shares}


@torch.no_grad()
def _measure(
    policy: Policy, divided: Sequence[Sequence[Sequence[Row]]], objective: Objective, settings: UpdateSettings
) -> list[list[_Micro]]:
    """Return all batches with what the sampling weights say of them, in the very batches that are trained.

    So each likelihood ratio starts at exactly 1.
    """
    pad_id, device, minis = policy.tokenizer.pad_token_id, policy.model.device, []
    for mini in divided:
        found = []
        for rows in mini:
            batch = pad(rows, pad_id, device)
            sampler, values = policy.score(batch, settings.temperature)
            reference = policy.reference(batch, settings.temperature) if objective.kl else sampler
            found.append((batch, Measured(batch.is_trained, batch.credits, sampler, reference, values)))
        minis.append(found)
    targets = iter(objective.targets([was for mini in minis for _, was in mini]))
    return [[_Micro(batch, was, next(targets)) for batch, was in mini] for mini in minis]


def _step(
    policy: Policy, mini: Sequence[_Micro], objective: Objective, temperature: float | int, sums: Counter[str]
) -> tuple[float, float]:
    """Update the weights once; return the loss, and how far the likelihood ratios were from 1 at most."""
    number = sum(len(micro.was.credits) for micro in mini)
    policy.optimizer.zero_grad()
    total, furthest = 0.0, 0.0
    for micro in mini:
        log_probs, values = policy.score(micro.batch, temperature)
        per_token = objective.losses(log_probs, values, micro.was, micro.target)
        loss = response_means(per_token, micro.was.is_trained).sum() / number
        loss.backward()
        total += loss.item()
        furthest = max(furthest, _observe(log_probs.detach(), micro, objective, sums))
    if not math.isfinite(total):
        raise ValueError(f"{policy.member.slot}: the loss is {total}: learn more slowly")
    torch.nn.utils.clip_grad_norm_(policy.weights, GRADIENT_NORM)
    policy.optimizer.step()
    policy.optimizer.zero_grad()
    return total, furthest


def _observe(log_probs: Tensor, micro: _Micro, objective: Objective, sums: Counter[str]) -> float:
    was, trained = micro.was, micro.was.is_trained
    sums["tokens"] += int(trained.sum())
    sums["kl"] += float(k3(log_probs, was.reference)[trained].sum()) if objective.kl else 0.0
    sums["clipped"] += int(is_clipped(log_probs, was.sampler, micro.target.advantages, objective.clip)[trained].sum())
    return float(((log_probs - was.sampler).exp() - 1)[trained].abs().max())
