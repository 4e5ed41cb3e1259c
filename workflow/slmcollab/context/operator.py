"""The operator g: how what the experts expose reaches the policy (Eq. 2); one module per method.

An operator module has `USES`, the blocks of the config that it reads (adapter, features, text, router), which say what
the experts have to expose: features their hidden states, text their answers, router an embedding of each question; and
`build(settings, shapes, seed) -> Operator`.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from slmcollab import seeding
from slmcollab.context.answer_block import Messages

POSITIONS = ("before_header", "end")


@dataclass(frozen=True)
class AdapterSettings:
    """Shape and place of the context: width and heads of the operator, number m of tokens.

    context_position: `before_header` (between the user turn and the assistant header) or `end` (after both, Eq. 3).
    """

    latent_dim: int
    num_heads: int
    m: int
    context_position: str

    def __post_init__(self) -> None:
        if self.context_position not in POSITIONS:
            allowed = ", ".join(POSITIONS)
            raise ValueError(f"adapter.context_position: {self.context_position!r} is not one of {allowed}")
        if min(self.latent_dim, self.num_heads, self.m) < 1 or self.latent_dim % self.num_heads:
            raise ValueError(
                f"adapter: m, num_heads and latent_dim must be at least 1 and latent_dim a multiple of num_heads, "
                f"got m={self.m}, num_heads={self.num_heads}, latent_dim={self.latent_dim}"
            )


@dataclass(frozen=True)
class Shapes:
    """Widths of the experts' features, in the team's order, and of the policy's embeddings, and the RMS of these."""

    expert_widths: Sequence[int]
    policy_width: int
    embedding_rms: float


@dataclass(frozen=True)
class ContextTokens:
    """C as input embeddings of the policy, and how much each token drew from each expert (rows add up to 1).

    An adapter that reads no expert returns one row of tokens for all problems.
    """

    tokens: Float[Tensor, "problem context policy_width"]
    attention: Float[Tensor, "problem context expert"] | None


@dataclass(frozen=True)
class Operator:
    """What a method gives the policy.

    adapter: a module with a number of context tokens `m` and forward(features) -> ContextTokens; None for no tokens.
    write: (messages, answers) -> messages that hold the experts' answers; None where the problem stands alone.
    routes: whether each expert by itself is one choice, of which every completion gets one. An adapter then makes the
      tokens of all choices, one choice after the other.
    """

    adapter: nn.Module | None = None
    write: Callable[[Messages, Sequence[str]], list[dict[str, str]]] | None = None
    routes: bool = False


@contextlib.contextmanager
def initialised_from(seed: int, stream: str = "adapter") -> Iterator[None]:
    """Draw the weights made inside from a named stream of run `seed`; the global stream stays where it was."""
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(seeding.torch_generator(seed, stream).get_state())
        yield


def unit_rms(h: Float[Tensor, "problem width"]) -> Float[Tensor, "problem width"]:
    """Return each row divided by its root mean square."""
    # ASSUME: h_i is divided by its RMS first, since scales differ by orders of magnitude between model families.
    return h / h.square().mean(dim=-1, keepdim=True).sqrt()


class Alignment(nn.ModuleList):
    """v_i = W_i h_i with one W_i per expert, from its width to a common one (Eq. 6)."""

    def __init__(self, expert_widths: Sequence[int], width: int) -> None:
        super().__init__([nn.Linear(expert_width, width) for expert_width in expert_widths])

    def forward(self, features: Sequence[Float[Tensor, "problem _"]]) -> Float[Tensor, "problem expert width"]:
        """Return V, the stack of all v_i; features come in the team's order."""
        return torch.stack([layer(unit_rms(h)) for layer, h in zip(self, features, strict=True)], dim=1)


class FeedForward(nn.Module):
    """LayerNorm(x + FFN(x)), token by token (appendix 7.1), then the map to the policy's width."""

    def __init__(self, width: int, policy_width: int, embedding_rms: float) -> None:
        super().__init__()
        # ASSUME: attention and FFN each add to their input and are followed by LayerNorm; GELU, four times as wide.
        self.layers = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.norm = nn.LayerNorm(width)
        # ASSUME: a linear map leads to the policy's width, and C starts at the RMS of the policy's token embeddings.
        # Rows leave the LayerNorm at RMS 1, hence the scale.
        self.to_policy = nn.Linear(width, policy_width)
        nn.init.normal_(self.to_policy.weight, std=embedding_rms * width**-0.5)
        nn.init.zeros_(self.to_policy.bias)

    def forward(self, x: Float[Tensor, "problem token width"]) -> Float[Tensor, "problem token policy_width"]:
        return self.to_policy(self.norm(x + self.layers(x)))
