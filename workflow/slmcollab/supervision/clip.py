"""The clip of PPO, token by token: what the clipped refinement and reinforcement learning have in common."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

PerToken = Float[Tensor, "response token"]
Advantages = Float[Tensor, "response _"]  # of every token, or one for all tokens of a response


def surrogate(log_probs: PerToken, sampler: PerToken, advantages: Advantages, clip: float | int) -> PerToken:
    """Return -min(ratio A, clamp(ratio, 1 - c, 1 + c) A), ratio = p / p of the weights that sampled."""
    ratio = (log_probs - sampler).exp()
    return -torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)


def is_clipped(
    log_probs: PerToken, sampler: PerToken, advantages: Advantages, clip: float | int
) -> Bool[Tensor, "response token"]:
    """Say of which tokens the clip binds, so that they no longer move the weights."""
    ratio = (log_probs - sampler).exp()
    return ((advantages > 0) & (ratio > 1 + clip)) | ((advantages < 0) & (ratio < 1 - clip))
