"""Small language models trained from scratch in seconds, which know what their corpora hold and nothing else."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from slmcollab.models.chat import encode_parts
from slmcollab.seeding import derive, torch_generator

Row = dict[str, Any]  # question, messages, completion

MAX_POSITIONS = 512
_IGNORED = -100  # cross-entropy's label of a position that teaches nothing


@dataclass(frozen=True)
class Architecture:
    """type is a transformers model type; gpt2, llama and qwen2 are tried. initial_std: by default width^-1/2."""

    type: str
    hidden_size: int
    num_layers: int
    num_heads: int
    initial_std: float | int | None = None


@dataclass(frozen=True)
class Training:
    """noise_rows: rows of noise where context tokens will stand, in every second batch; 0 for none."""

    steps: int
    batch_size: int
    learning_rate: float
    noise_rows: int


@dataclass(frozen=True)
class Batch:
    ids: Int[Tensor, "row token"]
    labels: Int[Tensor, "row token"]
    is_noise: Bool[Tensor, "row token"]


def build_model(architecture: Architecture, tokenizer: PreTrainedTokenizerBase, seed: int) -> PreTrainedModel:
    """Return an untrained model with tied embeddings; equal seeds give equal weights."""
    config = AutoConfig.for_model(
        architecture.type,
        vocab_size=len(tokenizer),
        hidden_size=architecture.hidden_size,
        num_hidden_layers=architecture.num_layers,
        num_attention_heads=architecture.num_heads,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        # Embeddings of norm 1: at the usual 0.02, a tied head of this width gives logits too flat for GRPO to move.
        initializer_range=architecture.initial_std or architecture.hidden_size**-0.5,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **_family(architecture),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "weights"))
        return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def _family(architecture: Architecture) -> dict[str, Any]:
    if architecture.type == "gpt2":
        return {"n_inner": 4 * architecture.hidden_size, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
    return {"intermediate_size": 3 * architecture.hidden_size, "num_key_value_heads": architecture.num_heads}


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    corpora: Sequence[Sequence[Row]],
    training: Training,
    seed: int,
) -> float:
    """Teach `model` the completions and their ends, each row from a corpus drawn evenly; return the last step's loss.

    In every second batch `noise_rows` rows of noise, from 0 to 1.5 times the RMS of the embeddings, stand where context
    tokens will, before the assistant header and behind it in turn: a model that never saw soft rows there answers
    rubbish once they appear, and no reward ever comes.
    """
    generator = torch_generator(seed, "batches")
    kinds = [(0, False), (training.noise_rows, False), (0, False), (training.noise_rows, True)]  # by step
    made = {kind: partial(_sequence, tokenizer, noise_rows=kind[0], at_end=kind[1]) for kind in kinds}
    sequences = {kind: [[make(row) for row in corpus] for corpus in corpora] for kind, make in made.items()}

    def draw(step: int) -> Batch:
        rows = sequences[kinds[step % 4]]
        which = torch.randint(len(corpora), (training.batch_size,), generator=generator).tolist()
        draws = torch.rand(training.batch_size, generator=generator).tolist()
        return _pad([rows[i][int(u * len(rows[i]))] for i, u in zip(which, draws, strict=True)])

    losses = (_loss(model, draw(step), generator) for step in range(training.steps))
    return descend(model, losses, training.learning_rate, lambda step: 1 - step / training.steps)


def descend(
    model: PreTrainedModel,
    losses: Iterable[Float[Tensor, ""]],
    learning_rate: float | int,
    factor: Callable[[int], float],
) -> float:
    """Take a step of AdamW on each loss as it comes, at factor(step) of the learning rate; return the last loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    for loss in losses:
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    return loss.item()


def _sequence(
    tokenizer: PreTrainedTokenizerBase, row: Row, noise_rows: int, at_end: bool = False
) -> tuple[list[int], list[int], list[bool]]:
    """Return ids, labels and where noise goes, for one row; at_end: behind the assistant header."""
    turn, header = encode_parts(tokenizer, row["messages"])
    turn, header = (turn + header, []) if at_end else (turn, header)
    completion = [*tokenizer(row["completion"], add_special_tokens=False).input_ids, tokenizer.eos_token_id]
    ids = turn + noise_rows * [0] + header + completion
    labels = (len(ids) - len(completion)) * [_IGNORED] + completion
    is_noise = len(turn) * [False] + noise_rows * [True]
    return ids, labels, is_noise + (len(ids) - len(is_noise)) * [False]


def _pad(sequences: Sequence[tuple[list[int], list[int], list[bool]]]) -> Batch:
    """Pad on the right: a causal model needs no mask for what comes after."""
    width = max(len(ids) for ids, _, _ in sequences)
    columns = zip(*sequences, strict=True)
    padded = [
        torch.tensor([values + (width - len(values)) * [fill] for values in column])
        for column, fill in zip(columns, (0, _IGNORED, False), strict=True)
    ]
    return Batch(*padded)


def _loss(model: PreTrainedModel, batch: Batch, generator: torch.Generator) -> Float[Tensor, ""]:
    embedding = model.get_input_embeddings()
    rows = embedding(batch.ids)
    if batch.is_noise.any():
        rms = embedding.weight.detach().square().mean().sqrt()
        scale = 1.5 * rms * torch.rand(len(rows), 1, 1, generator=generator)
        noise = scale * torch.randn(rows.shape, generator=generator)
        rows = torch.where(batch.is_noise.unsqueeze(-1), noise, rows)
    logits = model(inputs_embeds=rows, use_cache=False).logits
    return nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1), batch.labels[:, 1:].flatten(), ignore_index=_IGNORED
    )
