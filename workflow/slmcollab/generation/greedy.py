"""Greedy generation in fixed batches: what comes out depends on the prompts, the budget and the batch size alone."""

import contextlib
from collections.abc import Iterator, Sequence

import torch
from torch import nn
from transformers import GenerationConfig, PreTrainedTokenizerBase


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
    with _plain_defaults(model, tokenizer):
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = _generate_batch(model, [prompt_ids[row] for row in rows], max_new_tokens)
            for row, completion in zip(rows, batch, strict=True):
                completions[row] = completion
    return completions


@contextlib.contextmanager
def _plain_defaults(model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> Iterator[None]:
    # Whatever a call leaves open, repetition penalties too, is taken from the model's own generation config.
    defaults = model.generation_config
    model.generation_config = plain_config(model, tokenizer)
    try:
        yield
    finally:
        model.generation_config = defaults


@torch.no_grad()
def _generate_batch(model: nn.Module, prompts: list[list[int]], max_new_tokens: int) -> list[list[int]]:
    ends, pad = model.generation_config.eos_token_id, model.generation_config.pad_token_id
    width = max(map(len, prompts))
    ids = torch.tensor([(width - len(prompt)) * [pad] + prompt for prompt in prompts], device=model.device)
    mask = torch.tensor([(width - len(prompt)) * [0] + len(prompt) * [1] for prompt in prompts], device=model.device)
    config = GenerationConfig(do_sample=False, num_beams=1, max_new_tokens=max_new_tokens)
    generated = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)[:, width:].tolist()
    return [_cut(completion, ends) for completion in generated]


def _cut(completion: list[int], ends: list[int]) -> list[int]:
    """Return the completion up to its first end id, which it keeps."""
    stop = next((place for place, id in enumerate(completion) if id in ends), len(completion))
    return completion[: stop + 1]
