"""Features of all poolings from one pass against a plain loop over the prompts."""

import random
import re
import zlib
from functools import cache

import reasoning_gym
import torch
from measure import Figure, interleaved
from transformers import AutoConfig, AutoModelForCausalLM

from slmcollab.experts.features import POOLINGS
from slmcollab.experts.pooling import draw, pool

TASKS = ["gcd", "lcm", "fraction_simplification", "circuit_logic", "knights_knaves", "syllogism"]
NUM_PROMPTS, BATCH, BATCH_TOKENS, VOCABULARY = 256, 16, 1024, 32000


def prompts() -> list[list[int]]:
    """Return arithmetic and logic questions in mixed order; a token is a word or a mark, its id a hash."""
    texts = []
    for task in TASKS:
        count = -(-NUM_PROMPTS // len(TASKS))
        texts += [entry["question"] for entry in reasoning_gym.create_dataset(task, size=count, seed=0)]
    random.Random(0).shuffle(texts)
    return [
        [zlib.crc32(token.encode()) % VOCABULARY for token in re.findall(r"\w+|[^\w\s]", text)]
        for text in texts[:NUM_PROMPTS]
    ]


@torch.no_grad()
def plain_loop(model, rows: list[list[int]]) -> torch.Tensor:
    """Return each prompt's last token in the last layer: dataset order, padded, with logits and all hidden states."""
    features = []
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        width = max(map(len, batch))
        ids = torch.tensor([row + (width - len(row)) * [0] for row in batch])
        mask = torch.tensor([len(row) * [1] + (width - len(row)) * [0] for row in batch])
        hidden = model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[-1]
        features.append(hidden[torch.arange(len(batch)), mask.sum(dim=1) - 1])
    return torch.cat(features)


@cache
def measure() -> tuple[int, float, float]:
    """Return the number of tokens and the CPU seconds of `pool`, for all poolings, and of the loop, for one."""
    config = AutoConfig.for_model(
        "qwen2",
        vocab_size=VOCABULARY,
        hidden_size=256,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=8,
        intermediate_size=768,
    )
    torch.manual_seed(0)
    model, rows = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval(), prompts()
    draws = draw([str(row) for row in range(len(rows))], [len(row) for row in rows], config.num_hidden_layers)
    found = {}
    ours, peer = interleaved(
        1,  # a round takes minutes, and the ratio is far from its bound
        lambda: found.update(ours=pool(model, rows, draws, batch_tokens=BATCH_TOKENS)),
        lambda: found.update(peer=plain_loop(model, rows)),
    )
    torch.testing.assert_close(found["ours"]["last_token"], found["peer"], atol=1e-4, rtol=1e-4)
    return sum(map(len, rows)), ours, peer


def features_one() -> Figure:
    tokens, ours, peer = measure()
    return Figure("features_one", peer / ours, 5, tokens / ours, "tokens/s", tokens / peer, at_least=True)


def features_five() -> Figure:
    """The loop runs once per pooling, and each of its runs costs the same."""
    tokens, ours, one = measure()
    peer = len(POOLINGS) * one
    return Figure("features_five", peer / ours, 25, tokens / ours, "tokens/s", tokens / peer, at_least=True)
