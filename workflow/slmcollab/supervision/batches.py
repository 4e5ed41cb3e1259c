"""Examples as token ids, and which of them go into which update."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from slmcollab import seeding
from slmcollab.generation.greedy import end_ids
from slmcollab.models.chat import encode
from slmcollab.supervision.examples import Example

IGNORED = -100  # the label of a token that is not trained
_BATCHES_PER_BUCKET = 8


@dataclass(frozen=True)
class Row:
    """An example's ids, of which those behind the first `num_context` are the response; reward: r of eq. 14."""

    ids: list[int]
    num_context: int
    reward: float

    @property
    def num_trained(self) -> int:
        return len(self.ids) - self.num_context


def encode_examples(
    examples: Sequence[Example], model: nn.Module, tokenizer: PreTrainedTokenizerBase, max_tokens: int
) -> tuple[list[Row], int]:
    """Return the examples as ids, and how many were left out for having more than `max_tokens` of them.

    A response that was sampled is trained as it was sampled; one that is only text ends with the model's end of turn,
    unless its budget ended first.
    A sampled response without any token, which a context gets that fills the model, is left out and counted too.
    """
    end, rows = end_of_turn(model, tokenizer), []
    for example in examples:
        response = example.completion_ids
        if response is None:
            ids = tokenizer(example.completion, add_special_tokens=False).input_ids
            response = ids if example.cut else [*ids, end]
        context = encode(tokenizer, example.messages)
        rows.append(Row([*context, *response], len(context), example.reward))
    # ASSUME: an example that is longer than max_tokens is left out and counted, not cut.
    fitting = [row for row in rows if row.num_trained and len(row.ids) <= max_tokens]
    return fitting, len(rows) - len(fitting)


def end_of_turn(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the id that ends an assistant turn in the chat template; without a template, the end of text."""
    if tokenizer.chat_template is None:
        return tokenizer.eos_token_id
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    text = tokenizer.apply_chat_template(turns, tokenize=False)
    ends = [id for id in tokenizer(text, add_special_tokens=False).input_ids if id in end_ids(model, tokenizer)]
    return ends[-1] if ends else tokenizer.eos_token_id


def plan_updates(lengths: Sequence[int], batch_size: int, epochs: int, seed: int) -> list[list[int]]:
    """Return the rows of every update: each row once an epoch, rows of similar length together, in a drawn order.

    An epoch runs on into the next one, so that only the last update of all may have fewer rows than `batch_size`.
    """
    # ASSUME: batches hold examples of similar length, drawn by the seed, and may reach from one epoch into the next.
    generator = seeding.python_generator(seed, "updates")
    stream = [row for _ in range(epochs) for row in generator.sample(range(len(lengths)), len(lengths))]
    whole = len(stream) - len(stream) % batch_size
    updates = []
    for start in range(0, whole, _BATCHES_PER_BUCKET * batch_size):
        stop = min(start + _BATCHES_PER_BUCKET * batch_size, whole)
        bucket = sorted(stream[start:stop], key=lambda row: lengths[row])
        cut = [bucket[place : place + batch_size] for place in range(0, len(bucket), batch_size)]
        updates += generator.sample(cut, len(cut))
    return updates + ([stream[whole:]] if stream[whole:] else [])


def pad(rows: Sequence[Row], pad_id: int) -> dict[str, torch.Tensor]:
    """Return input_ids, attention_mask, labels and rewards of a batch, padded on the right."""
    width = max(len(row.ids) for row in rows)
    gaps = [width - len(row.ids) for row in rows]
    labels = [row.num_context * [IGNORED] + row.ids[row.num_context :] for row in rows]
    padded = list(zip(rows, labels, gaps, strict=True))
    return {
        "input_ids": torch.tensor([row.ids + gap * [pad_id] for row, _, gap in padded]),
        "attention_mask": torch.tensor([len(row.ids) * [1] + gap * [0] for row, _, gap in padded]),
        "labels": torch.tensor([label + gap * [IGNORED] for _, label, gap in padded]),
        "rewards": torch.tensor([row.reward for row in rows], dtype=torch.float32),
    }
