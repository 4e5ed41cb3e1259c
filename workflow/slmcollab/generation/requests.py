"""What a generation backend is asked for, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

STOP, LENGTH = "stop", "length"


@dataclass(frozen=True)
class Member:
    """One place in a team: the slot that names it, its model, and the LoRA adapter that it speaks with, if any.

    folder: the model's weights; size_b: parameters in billions, which weigh its tokens.
    """

    slot: str
    model: str
    folder: Path
    size_b: float
    adapter: Path | None = None


@dataclass(frozen=True)
class Decoding:
    """temperature 0 is greedy; top_p keeps the most probable tokens that together reach this share, 1 all of them."""

    max_new_tokens: int
    temperature: float
    top_p: float = 1.0


@dataclass(frozen=True)
class Request:
    """One invocation: the slot that is to speak, what it reads, and the seed of its own random numbers."""

    slot: str
    messages: Sequence[dict[str, str]]
    seed: int


@dataclass(frozen=True)
class Response:
    """What came back: the text without special tokens, and what it cost in tokens of the model that spoke.

    finish_reason: `stop`, or `length` where the budget (or the model's context) ended first. output_ids: the sampled
    tokens with their end token, None where a backend does not tell them.
    """

    text: str
    prompt_tokens: int
    output_tokens: int
    finish_reason: str
    output_ids: tuple[int, ...] | None = None


@runtime_checkable
class Backend(Protocol):
    """Anything that answers requests; equal requests and decoding give equal responses, in whatever company."""

    def generate(self, requests: Sequence[Request], decoding: Decoding) -> list[Response]:
        """Return the responses in the order of the requests."""
        ...
