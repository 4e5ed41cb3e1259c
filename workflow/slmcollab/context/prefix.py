"""A control without experts: m free learned rows, the same for every problem (prefix-style latent conditioning)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from slmcollab.context.operator import AdapterSettings, ContextTokens, Operator, Shapes, initialised_from

USES = ("adapter",)


def build(settings: AdapterSettings, shapes: Shapes, seed: int) -> Operator:
    """Return m rows with values that depend on `seed` alone, at the RMS of the policy's embeddings."""
    with initialised_from(seed):
        return Operator(adapter=Prefix(settings.m, shapes))


class Prefix(nn.Module):
    """C = m parameters of the policy's width."""

    def __init__(self, m: int, shapes: Shapes) -> None:
        super().__init__()
        self.m = m
        self.rows = nn.Parameter(shapes.embedding_rms * torch.randn(m, shapes.policy_width))

    def forward(self, features: Sequence[Float[Tensor, "problem _"]]) -> ContextTokens:
        """Return C (1, m, policy width), one row for all problems; no feature is read."""
        return ContextTokens(self.rows.unsqueeze(0), None)
