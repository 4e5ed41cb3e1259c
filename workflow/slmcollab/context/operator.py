"""The operator g: context tokens C = g(h_1, ..., h_n) from what the experts expose (Eq. 2); one module per method.

An operator module has `build(settings, *, expert_widths, policy_width, embedding_rms, seed)`. It returns a torch module
with a number of context tokens `m` and `forward(features) -> ContextTokens`, or None where the policy gets no context.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from slmcollab import seeding

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
class ContextTokens:
    """C as input embeddings of the policy, and how much each token drew from each expert (rows add up to 1)."""

    tokens: Float[Tensor, "problem context policy_width"]
    attention: Float[Tensor, "problem context expert"] | None


@contextlib.contextmanager
def initialised_from(seed: int) -> Iterator[None]:
    """Draw the weights made inside from the stream `adapter` of run `seed`; the global stream stays where it was."""
    with torch.random.fork_rng(devices=[]):
        torch.set_rng_state(seeding.torch_generator(seed, "adapter").get_state())
        yield
