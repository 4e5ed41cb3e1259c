"""The router of hard routing: from a frozen sentence embedding of the question to a probability per expert."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from slmcollab.context.operator import initialised_from

SELECTIONS = ("learned", "uniform", "best")


@dataclass(frozen=True)
class RouterSettings:
    """encoder: the model of the embeddings; selection: `learned`, or a control: `uniform` draws, `best` always takes
    the expert that is best alone on train; entropy_bonus: c at the first step, falling linearly to 0 at the last."""

    encoder: str
    selection: str
    router_width: int
    entropy_bonus: float

    def __post_init__(self) -> None:
        if self.selection not in SELECTIONS:
            raise ValueError(f"router.selection: {self.selection!r} is not one of {', '.join(SELECTIONS)}")


class Router(nn.Module):
    """p(e | x) = softmax(W_2 GELU(W_1 s(x))), s the frozen sentence embedding."""

    def __init__(self, embedding_width: int, width: int, num_experts: int, seed: int) -> None:
        super().__init__()
        with initialised_from(seed, "router"):
            self.layers = nn.Sequential(nn.Linear(embedding_width, width), nn.GELU(), nn.Linear(width, num_experts))

    def forward(self, embeddings: Float[Tensor, "rollout width"]) -> Float[Tensor, "rollout expert"]:
        """Return log p(e | x)."""
        return self.layers(embeddings).log_softmax(dim=-1)
