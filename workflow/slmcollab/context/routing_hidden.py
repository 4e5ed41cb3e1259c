"""Hard routing to hidden states: the picked expert's state becomes m context tokens by linear maps."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from slmcollab.context.operator import (
    AdapterSettings,
    Alignment,
    ContextTokens,
    Operator,
    Shapes,
    initialised_from,
)

USES = ("adapter", "features", "router")


def build(settings: AdapterSettings, shapes: Shapes, seed: int) -> Operator:
    """Return the operator with one choice per expert: m tokens made from its hidden state."""
    with initialised_from(seed):
        return Operator(adapter=LinearTokens(settings, shapes), routes=True)


class LinearTokens(nn.Module):
    """The m tokens of expert i are W_o LN(W_i h_i); all experts' tokens stand one after the other."""

    def __init__(self, settings: AdapterSettings, shapes: Shapes) -> None:
        super().__init__()
        width = settings.latent_dim
        self.m = settings.m * len(shapes.expert_widths)
        self.align = Alignment(shapes.expert_widths, width)
        # ASSUME: routed hidden states reach the policy through the latent width, so that all operators are of one size.
        self.norm = nn.LayerNorm(width)
        self.to_policy = nn.Linear(width, settings.m * shapes.policy_width)
        nn.init.normal_(self.to_policy.weight, std=shapes.embedding_rms * width**-0.5)
        nn.init.zeros_(self.to_policy.bias)

    def forward(self, features: Sequence[Float[Tensor, "problem _"]]) -> ContextTokens:
        """Return the tokens (problem, n × m, policy width) of all choices."""
        rows = self.to_policy(self.norm(self.align(features)))  # (problem, expert, m × width)
        return ContextTokens(rows.reshape(len(rows), self.m, -1), None)
