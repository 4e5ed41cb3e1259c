"""Generation in fixed batches: what comes out depends on the prompts, the budget and the batch size alone."""

import contextlib
import math
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList, PreTrainedTokenizerBase

from slmcollab.generation.decode import Pick, argmax, decode, supports


def end_ids(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return the ids that end a completion: the tokenizer's, and those that the model names besides."""
    named = model.generation_config.eos_token_id
    named = named if isinstance(named, list) else [named]
    return sorted({id for id in [tokenizer.eos_token_id, *named] if id is not None})


def plain_config(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> GenerationConfig:
    """Return a generation config with nothing but the special ids."""
    return GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=end_ids(model, tokenizer),
        pad_token_id=tokenizer.pad_token_id,
    )


def generate_greedy(
    model: nn.Module,
    tokenizer: PreTrainedTokenizerBase,
    prompt_ids: Sequence[list[int]],
    *,
    max_new_tokens: int,
    batch_size: int,
) -> list[list[int]]:
    """Return the completion of each prompt, in the order of the prompts; each ends with an end id or fills the budget.

    Batches hold prompts of similar length, the longest first, so that a batch that does not fit fails at once.
    """
    order = sorted(range(len(prompt_ids)), key=lambda row: -len(prompt_ids[row]))
    completions: list[list[int]] = [[] for _ in prompt_ids]
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        batch = answer(model, tokenizer, [prompt_ids[row] for row in rows], argmax, max_new_tokens)
        for row, completion in zip(rows, batch, strict=True):
            completions[row] = completion
    return completions


def answer(
    model: nn.Module,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[list[int]],
    pick: Pick,
    max_new_tokens: int | Sequence[int],
) -> list[list[int]]:
    """Return the completions of one batch of prompts, the tokens being those that `pick` takes; see `decode`."""
    budgets = [max_new_tokens] * len(prompts) if isinstance(max_new_tokens, int) else max_new_tokens
    if supports(model, max(map(len, prompts)) + max(budgets)):
        return decode(model, prompts, pick, max_new_tokens=budgets, ends=end_ids(model, tokenizer))
    return _answer_plainly(model, tokenizer, prompts, pick, budgets)


@torch.no_grad()
def _answer_plainly(
    model: nn.Module,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[list[int]],
    pick: Pick,
    budgets: Sequence[int],
) -> list[list[int]]:
    """Return the same by transformers' `generate`."""
    width, pad = max(map(len, prompts)), tokenizer.pad_token_id
    ids = torch.tensor([(width - len(prompt)) * [pad] + prompt for prompt in prompts], device=model.device)
    mask = torch.tensor([(width - len(prompt)) * [0] + len(prompt) * [1] for prompt in prompts], device=model.device)
    config = GenerationConfig(do_sample=False, num_beams=1, max_new_tokens=max(budgets))
    picked = LogitsProcessorList([_Picked(pick)])
    with _plain_defaults(model, tokenizer) as ends:
        rows = model.generate(input_ids=ids, attention_mask=mask, generation_config=config, logits_processor=picked)
    completions = rows[:, width:].tolist()
    return [_cut(completion[:budget], ends) for completion, budget in zip(completions, budgets, strict=True)]


class _Picked(LogitsProcessor):
    """Leaves only the token that a Pick takes, so that `generate` takes it too; rows that have ended are asked on."""

    def __init__(self, pick: Pick) -> None:
        self._pick = pick

    def __call__(
        self, input_ids: Int[Tensor, "row token"], scores: Float[Tensor, "row vocabulary"]
    ) -> Float[Tensor, "row vocabulary"]:
        tokens = self._pick(scores.float(), list(range(len(scores))))
        return torch.full_like(scores, -math.inf).scatter(-1, tokens.unsqueeze(-1), 0.0)


@contextlib.contextmanager
def _plain_defaults(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> Iterator[list[int]]:
    """Yield the end ids; whatever a call leaves open, repetition penalties too, `generate` takes from the model."""
    defaults = model.generation_config
    model.generation_config = plain_config(model, tokenizer)
    try:
        yield model.generation_config.eos_token_id
    finally:
        model.generation_config = defaults


def _cut(completion: list[int], ends: list[int]) -> list[int]:
    """Return the completion up to its first end id, which it keeps."""
    stop = next((place for place, id in enumerate(completion) if id in ends), len(completion))
    return completion[: stop + 1]
