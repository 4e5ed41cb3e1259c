"""Greedy answers to short prompts against transformers' `generate` in the order of the prompts."""

import random

import torch
from measure import Figure, interleaved
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from slmcollab.generation.greedy import end_ids, generate_greedy
from slmcollab.models.toy_tokenizer import build_tokenizer

NUM_PROMPTS, PEER_BATCH, BATCH, BUDGET, PREFIX, VOCABULARY = 64, 16, 64, 64, 24, 8192


def prompts() -> list[list[int]]:
    """Return prompts of 58 to 66 tokens that share a chat template's first 24, in mixed order."""
    draw = random.Random(0)
    prefix = [draw.randrange(200, VOCABULARY) for _ in range(PREFIX)]
    return [
        prefix + [draw.randrange(200, VOCABULARY) for _ in range(draw.randint(58, 66) - PREFIX)]
        for _ in range(NUM_PROMPTS)
    ]


def random_model():
    """Return a random qwen2 that now and then ends a completion."""
    config = AutoConfig.for_model(
        "qwen2",
        vocab_size=VOCABULARY,
        hidden_size=256,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=8,
        intermediate_size=768,
        initializer_range=0.1,  # at the usual 0.02 an untrained model says one thing again and again
    )
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    model.generation_config = GenerationConfig(eos_token_id=list(range(0, VOCABULARY, 80)))
    return model


def plain_answers(model, tokenizer, rows: list[list[int]]) -> list[list[int]]:
    ends, pad = end_ids(model, tokenizer), tokenizer.pad_token_id
    config = GenerationConfig(do_sample=False, max_new_tokens=BUDGET, eos_token_id=ends, pad_token_id=pad)
    answers = []
    for start in range(0, len(rows), PEER_BATCH):
        batch = rows[start : start + PEER_BATCH]
        width = max(map(len, batch))
        ids = torch.tensor([(width - len(row)) * [pad] + row for row in batch])
        mask = torch.tensor([(width - len(row)) * [0] + len(row) * [1] for row in batch])
        for row in model.generate(input_ids=ids, attention_mask=mask, generation_config=config)[:, width:].tolist():
            stop = next((at for at, id in enumerate(row) if id in ends), len(row))
            answers.append(row[: stop + 1])
    return answers


def expert_answers() -> Figure:
    model, tokenizer, rows = random_model(), build_tokenizer(), prompts()
    found = {}
    ours, peer = interleaved(
        3,
        lambda: found.update(
            ours=generate_greedy(model, tokenizer, rows, max_new_tokens=BUDGET, batch_size=BATCH),
        ),
        lambda: found.update(peer=plain_answers(model, tokenizer, rows)),
    )
    assert found["ours"] == found["peer"]
    tokens = sum(map(len, found["ours"]))
    ended = sum(len(row) < BUDGET for row in found["ours"])
    note = f"{ended} of {NUM_PROMPTS} end early"
    return Figure(
        "expert_answers", peer / ours, 1.5, tokens / ours, "tokens/s", tokens / peer, at_least=True, note=note
    )
