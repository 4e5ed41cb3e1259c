"""Hidden-state collaboration (n-Musketeers, §4): learned queries read the experts by one cross-attention."""

from collections.abc import Sequence

import torch
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
    """Return g_φ with weights that depend on `seed` alone; its tokens start at the RMS of the policy's embeddings."""
    with initialised_from(seed):
        return Operator(adapter=CrossAttention(settings, shapes))


class CrossAttention(nn.Module):
    """C = W_o · FFN(attention(Q, V)), V = (W_1 h_1, ..., W_n h_n), Q the m learned queries (Eq. 6, appendix 7.1).

    frozen: attention (head, context, expert) that takes the place of what the queries compute, None in training.
    """

    frozen: Float[Tensor, "head context expert"] | None

    def __init__(self, settings: AdapterSettings, shapes: Shapes) -> None:
        super().__init__()
        width = settings.latent_dim
        self.m = settings.m
        self.align = Alignment(shapes.expert_widths, width)
        # ASSUME: queries start at N(0, 0.02), as a Perceiver's do, so that attention starts at equal shares.
        self.queries = nn.Parameter(0.02 * torch.randn(settings.m, width))
        self.attention = nn.MultiheadAttention(width, settings.num_heads, batch_first=True)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, shapes.policy_width, shapes.embedding_rms)
        self.frozen = None

    def forward(self, features: Sequence[Float[Tensor, "problem _"]]) -> ContextTokens:
        """Return C (problem, m, policy width) and attention averaged over heads; features come in the team's order."""
        values = self.align(features)
        queries = self.queries.expand(len(values), -1, -1)
        if self.frozen is None:
            read, attention = self.attention(queries, values, values)
        else:
            read, attention = self._read_frozen(values)
        return ContextTokens(self.feed_forward(self.attention_norm(queries + read)), attention)

    def attend(self, features: Sequence[Float[Tensor, "problem _"]]) -> Float[Tensor, "problem head context expert"]:
        """Return the attention of every head."""
        values = self.align(features)
        queries = self.queries.expand(len(values), -1, -1)
        return self.attention(queries, values, values, average_attn_weights=False)[1]

    def _read_frozen(self, values: Float[Tensor, "problem expert width"]) -> tuple[Tensor, Tensor]:
        """Return what MultiheadAttention returns, with the frozen attention in the place of its own."""
        width, heads = self.attention.embed_dim, self.attention.num_heads
        weight, bias = self.attention.in_proj_weight[-width:], self.attention.in_proj_bias[-width:]
        by_head = nn.functional.linear(values, weight, bias).unflatten(-1, (heads, -1))
        read = torch.einsum("hce,pehw->pchw", self.frozen, by_head).flatten(-2)
        attention = self.frozen.mean(dim=0).expand(len(values), -1, -1)
        return self.attention.out_proj(read), attention
