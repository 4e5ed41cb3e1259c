"""What the responses of a slot are made more or less likely by: a group-relative advantage (GRPO), or values (PPO)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from slmcollab.marl.losses import IsTrained, PerToken, k3, value_loss, whitened
from slmcollab.marl.returns import generalised_advantages
from slmcollab.supervision.clip import surrogate


@dataclass(frozen=True)
class Measured:
    """Responses under the weights that sampled them; credits: what each response earned, see `learner.Sample`.

    sampler and reference: log p in nats of each token, of these weights and of the base model without them; values: V
    before each token, None without a value head.
    """

    is_trained: IsTrained
    credits: Sequence[float]
    sampler: PerToken
    reference: PerToken
    values: PerToken | None


@dataclass(frozen=True)
class Target:
    """What an update aims at: the advantage of each token, and the return that its value should have been."""

    advantages: PerToken
    returns: PerToken | None = None


@dataclass(frozen=True)
class Grpo:
    """The clipped surrogate with a response's advantage for all its tokens, and `kl` times the KL to the base model."""

    clip: float | int
    kl: float | int
    has_values: ClassVar[bool] = False

    def targets(self, batches: Sequence[Measured]) -> list[Target]:
        """Return what each batch of one iteration aims at."""
        return [
            Target(torch.tensor(was.credits, device=was.sampler.device).unsqueeze(1).expand_as(was.sampler))
            for was in batches
        ]

    def losses(self, log_probs: PerToken, values: PerToken | None, was: Measured, target: Target) -> PerToken:
        """Return the loss of each token under the present weights."""
        loss = surrogate(log_probs, was.sampler, target.advantages, self.clip)
        return loss + self.kl * k3(log_probs, was.reference) if self.kl else loss


@dataclass(frozen=True)
class Ppo:
    """PPO with a value head: a response's reward comes with its last token, and each token pays its KL.

    kl weighs log p - log q of the weights that sampled to the base model; value_weight the loss of the values, of which
    value_clip holds the change; gamma and gae_lambda: see `generalised_advantages`.
    """

    clip: float | int
    kl: float | int
    value_weight: float | int
    value_clip: float | int
    gamma: float | int
    gae_lambda: float | int
    has_values: ClassVar[bool] = True

    def targets(self, batches: Sequence[Measured]) -> list[Target]:
        """Return what each batch of one iteration aims at."""
        found = [self._advantages(was) for was in batches]
        # ASSUME: PPO's advantages are whitened over all tokens of a slot in an iteration, as in TRL's PPO.
        white = whitened(found, [was.is_trained for was in batches])
        return [Target(even, raw + was.values) for even, raw, was in zip(white, found, batches, strict=True)]

    def _advantages(self, was: Measured) -> PerToken:
        assert was.values is not None
        penalties = -self.kl * (was.sampler - was.reference)
        found = torch.zeros_like(penalties)
        rows = zip(was.is_trained.sum(dim=1).tolist(), was.credits, penalties, was.values, strict=True)
        for row, (size, credit, penalty, values) in enumerate(rows):
            rewards = penalty[:size].tolist()
            rewards[-1] += credit
            how = {"gamma": self.gamma, "gae_lambda": self.gae_lambda}
            found[row, :size] = torch.tensor(generalised_advantages(rewards, values[:size].tolist(), **how))
        return found

    def losses(self, log_probs: PerToken, values: PerToken | None, was: Measured, target: Target) -> PerToken:
        """Return the loss of each token under the present weights, that of its value in it."""
        assert values is not None
        assert was.values is not None
        assert target.returns is not None
        loss = surrogate(log_probs, was.sampler, target.advantages, self.clip)
        return loss + self.value_weight * value_loss(values, was.values, target.returns, self.value_clip)


Objective = Grpo | Ppo
