"""Sampling in which every row has random numbers of its own, so that a response does not depend on its batch."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from slmcollab.generation.decode import Pick, argmax

_ROUNDING = 1e-6  # how far sums of probabilities of fp32 logits may be off
_FEW = 64  # tokens that are enough almost always: to order a whole vocabulary costs more than the model's layers


def seeded_sampler(seeds: Sequence[int], temperature: float, top_p: float, *, num_tokens: int) -> Pick:
    """Return a Pick for one batch in which row r draws its k-th token with the k-th number of a generator seeded by r.

    seeds: one per row; num_tokens: how often a row can be asked, at most. Fewer or more leave a row's first numbers as
    they are. Temperature 0 takes the most probable token, the first of equals. Raises ValueError for a temperature
    below 0 and for a top_p outside (0, 1].
    """
    if temperature < 0:
        raise ValueError(f"temperature {temperature}: 0 (greedy) or more")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p {top_p}: more than 0, at most 1")
    if temperature == 0:
        return argmax
    uniforms, step = _uniforms(seeds, num_tokens), -1

    def pick(logits: Float[Tensor, "live vocabulary"], rows: list[int]) -> Int[Tensor, " live"]:
        nonlocal step
        step += 1
        probabilities = nucleus((logits.double() / temperature).softmax(dim=-1), top_p)
        return inverse_cdf(probabilities, uniforms[rows, step].to(logits.device))

    return pick


def _uniforms(seeds: Sequence[int], num_tokens: int) -> Float[Tensor, "row token"]:
    """Return numbers in [0, 1)."""
    generator = torch.Generator()
    rows = [torch.rand(num_tokens, generator=generator.manual_seed(seed), dtype=torch.float64) for seed in seeds]
    return torch.stack(rows)


def nucleus(probabilities: Float[Tensor, "row token"], top_p: float) -> Float[Tensor, "row token"]:
    """Return them with 0 outside the smallest set whose sum reaches top_p; of equals the first are taken (fp64)."""
    if top_p == 1:
        return probabilities
    size = probabilities.shape[-1]
    top = probabilities.topk(min(_FEW, size)).values
    if (top.sum(dim=-1) < top_p - _ROUNDING).any():
        top = probabilities.topk(size).values
    # The first of all is kept whatever top_p is: nothing stands before it.
    number = (top.cumsum(dim=-1) - top < top_p - _ROUNDING).sum(dim=-1, keepdim=True).clamp(min=1)
    least = top.gather(-1, number - 1)
    is_above, is_least = probabilities > least, probabilities == least
    room = number - is_above.sum(dim=-1, keepdim=True)
    return probabilities.where(is_above | (is_least & (is_least.cumsum(dim=-1) <= room)), 0.0)


def inverse_cdf(weights: Float[Tensor, "row token"], uniforms: Float[Tensor, " row"]) -> Int[Tensor, " row"]:
    """Return each row's first token at which the running sum of its weights passes u times their sum.

    Sums run in the order of the tokens, not of their weights: where two are almost equal, rounding then moves a border
    a little instead of swapping them. A token of weight 0 is never returned, also where rounding lets no sum pass.
    """
    sums = weights.cumsum(dim=-1)
    found = (sums <= uniforms.unsqueeze(-1) * sums[:, -1:]).sum(dim=-1)
    last = weights.shape[-1] - 1 - (weights.flip(-1) > 0).int().argmax(dim=-1)
    return found.minimum(last)
