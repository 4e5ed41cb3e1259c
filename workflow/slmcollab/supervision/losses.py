"""The losses of both trainings (slices, eq. 8 and 14), and the clipped variant of the second."""

from jaxtyping import Bool, Float
from torch import Tensor

from slmcollab.supervision.clip import surrogate


def reward_weighted_loss(
    log_probs: Float[Tensor, "example token"], rewards: Float[Tensor, " example"], num_examples: int
) -> Float[Tensor, ""]:
    """Return -1/N · sum over examples of r · log p(o | x) (eq. 14); with rewards of 1 it is eq. 8.

    log_probs: of the response's tokens in nats, 0 at every other place; num_examples: N, the examples of the whole
    update, of which these may be a part.
    """
    return -(rewards * log_probs.sum(dim=1)).sum() / num_examples


def clipped_loss(
    log_probs: Float[Tensor, "example token"],
    sampler: Float[Tensor, "example token"],
    is_trained: Bool[Tensor, "example token"],
    rewards: Float[Tensor, " example"],
    num_examples: int,
    clip: float,
) -> Float[Tensor, ""]:
    """Return -1/N · sum over examples and tokens of min(r ρ, r clamp(ρ, 1 - c, 1 + c)), ρ = p / p of the sampler.

    Where the weights still are the sampler's, its gradient is that of eq. 14.
    """
    return (surrogate(log_probs, sampler, rewards.unsqueeze(1), clip) * is_trained).sum() / num_examples
