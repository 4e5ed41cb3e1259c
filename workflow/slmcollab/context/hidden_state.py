"""Hidden-state collaboration (n-Musketeers, §4): learned queries read the experts by one cross-attention."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from slmcollab.context.operator import AdapterSettings, ContextTokens, initialised_from


def build(
    settings: AdapterSettings, *, expert_widths: Sequence[int], policy_width: int, embedding_rms: float, seed: int
) -> "CrossAttention":
    """Return g_φ with weights that depend on `seed` alone; its tokens start at the RMS of the policy's embeddings."""
    if not expert_widths:
        raise ValueError("operator hidden_state needs the features of at least one expert")
    with initialised_from(seed):
        return CrossAttention(settings, expert_widths, policy_width, embedding_rms)


class CrossAttention(nn.Module):
    """C = W_o · FFN(attention(Q, V)), V = (W_1 h_1, ..., W_n h_n), Q the m learned queries (Eq. 6, appendix 7.1)."""

    def __init__(
        self, settings: AdapterSettings, expert_widths: Sequence[int], policy_width: int, embedding_rms: float
    ) -> None:
        super().__init__()
        width = settings.latent_dim
        self.m = settings.m
        self.align = nn.ModuleList([nn.Linear(expert_width, width) for expert_width in expert_widths])
        # ASSUME: queries start at N(0, 0.02), as a Perceiver's do, so that attention starts at equal shares.
        self.queries = nn.Parameter(0.02 * torch.randn(settings.m, width))
        self.attention = nn.MultiheadAttention(width, settings.num_heads, batch_first=True)
        # ASSUME: attention and FFN each add to their input and are followed by LayerNorm; GELU, four times as wide.
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.feed_forward_norm = nn.LayerNorm(width)
        # ASSUME: a linear map leads to the policy's width, and C starts at the RMS of the policy's token embeddings.
        # Rows leave the LayerNorm at RMS 1, hence the scale.
        self.to_policy = nn.Linear(width, policy_width)
        nn.init.normal_(self.to_policy.weight, std=embedding_rms / math.sqrt(width))
        nn.init.zeros_(self.to_policy.bias)

    def forward(self, features: Sequence[Float[Tensor, "problem _"]]) -> ContextTokens:
        """Return C (problem, m, policy width) and attention averaged over heads; features come in the team's order."""
        aligned = [layer(unit_rms(h)) for layer, h in zip(self.align, features, strict=True)]
        values = torch.stack(aligned, dim=1)  # (problem, expert, width)
        queries = self.queries.expand(len(values), -1, -1)
        read, attention = self.attention(queries, values, values)
        latents = self.attention_norm(queries + read)
        latents = self.feed_forward_norm(latents + self.feed_forward(latents))
        return ContextTokens(self.to_policy(latents), attention)


def unit_rms(h: Float[Tensor, "problem width"]) -> Float[Tensor, "problem width"]:
    """Return each row divided by its root mean square."""
    # ASSUME: h_i is divided by its RMS first, since scales differ by orders of magnitude between model families.
    return h / h.square().mean(dim=-1, keepdim=True).sqrt()
