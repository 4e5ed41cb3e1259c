"""Training from scratch in phases, such as single facts first and whole conversations after them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from slmcollab.models.chat import encode
from slmcollab.models.toy import descend
from slmcollab.seeding import python_generator

WARM_UP = 20  # steps
_BATCHES_PER_BUCKET = 8
_IGNORED = -100  # cross-entropy's label of a position that teaches nothing

Encoded = tuple[list[int], int]  # ids, and how many of them are the prompt


@dataclass(frozen=True)
class Phase:
    """corpora: name -> weight of its rows in a batch. Within a phase the learning rate warms up, then falls to 0."""

    corpora: Mapping[str, float | int]
    steps: int
    learning_rate: float | int


def train_phases(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    corpora: Mapping[str, Sequence[dict[str, Any]]],
    phases: Sequence[Phase],
    batch_size: int,
    seed: int,
) -> list[float]:
    """Teach `model` the completions and their ends, phase by phase; return the last loss of each.

    Rows of a batch are of similar length. Equal arguments give equal weights.
    """
    rows = {name: [_encode(tokenizer, row) for row in corpora[name]] for phase in phases for name in phase.corpora}
    return [_train_phase(model, rows, phase, batch_size, seed, number) for number, phase in enumerate(phases)]


def _train_phase(
    model: PreTrainedModel, rows: Mapping[str, list[Encoded]], phase: Phase, batch_size: int, seed: int, number: int
) -> float:
    batches = islice(_batches(rows, phase.corpora, batch_size, seed, number), phase.steps)
    losses = (_loss(model, batch) for batch in batches)

    def factor(step: int) -> float:
        return min(1, (step + 1) / WARM_UP) * (1 - step / phase.steps)

    return descend(model, losses, phase.learning_rate, factor)


def _encode(tokenizer: PreTrainedTokenizerBase, row: dict[str, Any]) -> Encoded:
    prompt = encode(tokenizer, row["messages"])
    completion = tokenizer(row["completion"], add_special_tokens=False).input_ids
    return [*prompt, *completion, tokenizer.eos_token_id], len(prompt)


def _batches(
    rows: Mapping[str, list[Encoded]], weights: Mapping[str, float | int], batch_size: int, *names: int
) -> Iterator[list[Encoded]]:
    """Yield batches for ever, each of rows of similar length."""
    generator = python_generator(names[0], "batches", *names[1:])
    while True:
        chosen = generator.choices(list(weights), list(weights.values()), k=_BATCHES_PER_BUCKET * batch_size)
        bucket = sorted((generator.choice(rows[name]) for name in chosen), key=lambda row: len(row[0]))
        cut = [bucket[start : start + batch_size] for start in range(0, len(bucket), batch_size)]
        yield from generator.sample(cut, len(cut))


def _loss(model: PreTrainedModel, batch: Sequence[Encoded]) -> Float[Tensor, ""]:
    """Return the mean over learnt tokens; a causal model needs no mask for padding on the right."""
    width = max(len(ids) for ids, _ in batch)
    ids = torch.tensor([ids + (width - len(ids)) * [0] for ids, _ in batch])
    labels = torch.tensor([n * [_IGNORED] + ids[n:] + (width - len(ids)) * [_IGNORED] for ids, n in batch])[:, 1:]
    hidden = model.base_model(ids, use_cache=False).last_hidden_state[:, :-1]
    learnt = labels != _IGNORED
    return nn.functional.cross_entropy(model.get_output_embeddings()(hidden[learnt]), labels[learnt])
