"""Hidden-state collaboration without cross-attention (§4.1, method 5): the token-wise FFN directly on V, so m = n."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from slmcollab.context.operator import (
    AdapterSettings,
    Alignment,
    ContextTokens,
    FeedForward,
    Operator,
    Shapes,
    initialised_from,
)

USES = ("adapter", "features")


def build(settings: AdapterSettings, shapes: Shapes, seed: int) -> Operator:
    """Return g_φ with one context token per expert, whatever settings.m says."""
    with initialised_from(seed):
        return Operator(adapter=TokenwiseFeedForward(settings.latent_dim, shapes))


class TokenwiseFeedForward(nn.Module):
    """C = W_o · FFN(V), V = (W_1 h_1, ..., W_n h_n)."""

    def __init__(self, width: int, shapes: Shapes) -> None:
        super().__init__()
        self.m = len(shapes.expert_widths)
        self.align = Alignment(shapes.expert_widths, width)
        self.feed_forward = FeedForward(width, shapes.policy_width, shapes.embedding_rms)

    def forward(self, features: Sequence[Float[Tensor, "problem _"]]) -> ContextTokens:
        """Return C (problem, expert, policy width); no expert is weighed against another, so no attention."""
        return ContextTokens(self.feed_forward(self.align(features)), None)
