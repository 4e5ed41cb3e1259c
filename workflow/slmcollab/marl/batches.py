"""Responses as tensors: prompts padded on the left, so that all responses of a batch begin at one place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from slmcollab.marl.learner import Sample
from slmcollab.models.chat import encode
from slmcollab.seeding import python_generator


@dataclass(frozen=True)
class Row:
    """The ids that a slot read and said; credit: see `learner.Sample`."""

    prompt: Sequence[int]
    response: Sequence[int]
    credit: float


@dataclass(frozen=True)
class Batch:
    ids: Int[Tensor, "response place"]
    mask: Int[Tensor, "response place"]
    said: Int[Tensor, "response token"]
    is_trained: Bool[Tensor, "response token"]
    credits: Sequence[float]


def encode_samples(
    samples: Iterable[Sample], tokenizer: PreTrainedTokenizerBase, max_tokens: int
) -> tuple[list[Row], int]:
    """Return the samples as ids, and how many were left out: without a token, or with more than `max_tokens` in all."""
    rows = [
        Row(encode(tokenizer, sample.asked.messages), sample.asked.call.output_ids or (), sample.credit)
        for sample in samples
    ]
    fitting = [row for row in rows if row.response and len(row.prompt) + len(row.response) <= max_tokens]
    return fitting, len(rows) - len(fitting)


def divide(rows: Sequence[Row], mini_batches: int, micro_batch_size: int, seed: int) -> list[list[list[Row]]]:
    """Return the micro batches of each mini batch: rows are dealt out at random, those of a mini batch go by length.

    There are `mini_batches`, or as many as there are rows.
    """
    # ASSUME: an iteration's mini batches are dealt out once; each epoch goes through them in an order of its own.
    drawn = python_generator(seed, "mini batches").sample(list(rows), len(rows))
    dealt = [drawn[first::mini_batches] for first in range(min(mini_batches, len(rows)))]
    ordered = [sorted(mini, key=lambda row: -len(row.prompt) - len(row.response)) for mini in dealt]
    starts = [range(0, len(mini), micro_batch_size) for mini in ordered]
    cut = zip(ordered, starts, strict=True)
    return [[mini[start : start + micro_batch_size] for start in places] for mini, places in cut]


def pad(rows: Sequence[Row], pad_id: int, device: torch.device | str) -> Batch:
    """Return a batch of rows; `pad_id` stands where there is no token."""
    before, after = max(len(row.prompt) for row in rows), max(len(row.response) for row in rows)
    ids, mask, said, is_trained = [], [], [], []
    for row in rows:
        left, right = before - len(row.prompt), after - len(row.response)
        ids.append([*left * [pad_id], *row.prompt, *row.response, *right * [pad_id]])
        mask.append(left * [0] + (len(row.prompt) + len(row.response)) * [1] + right * [0])
        said.append(ids[-1][before:])
        is_trained.append(len(row.response) * [True] + right * [False])
    tensors = [torch.tensor(each, device=device) for each in (ids, mask, said, is_trained)]
    return Batch(*tensors, credits=[row.credit for row in rows])
