"""What a policy's update makes small, token by token; a loss is the mean over a response's tokens, then responses."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

PerToken = Float[Tensor, "response token"]
IsTrained = Bool[Tensor, "response token"]


def k3(log_probs: PerToken, reference: PerToken) -> PerToken:
    """Return q / p - log(q / p) - 1, q of the reference: its mean over samples of p is the KL of p to q, in nats."""
    difference = reference - log_probs
    return difference.exp() - difference - 1


def value_loss(values: PerToken, before: PerToken, returns: PerToken, clip: float | int) -> PerToken:
    """Return half the larger squared error of V, and of V held within `clip` of what it was before the update."""
    held = before + (values - before).clamp(-clip, clip)
    return 0.5 * torch.maximum((values - returns).square(), (held - returns).square())


def response_means(per_token: PerToken, is_trained: IsTrained) -> Float[Tensor, " response"]:
    """Return the mean over each response's tokens; a response has at least one."""
    return per_token.where(is_trained, 0.0).sum(dim=1) / is_trained.sum(dim=1)


def whitened(rows: Sequence[Tensor], is_trained: Sequence[Tensor]) -> list[Tensor]:
    """Return all batches less the mean over the trained tokens of all, divided by their deviation; 0 elsewhere."""
    tokens = torch.cat([row[trained] for row, trained in zip(rows, is_trained, strict=True)])
    scale = (tokens.var(correction=0) + 1e-8).sqrt()
    return [((row - tokens.mean()) / scale).where(trained, 0.0) for row, trained in zip(rows, is_trained, strict=True)]
