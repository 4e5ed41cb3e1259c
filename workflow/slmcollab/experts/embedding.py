"""Sentence embeddings of the questions, which a router chooses by: a frozen encoder's mean over its tokens."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from slmcollab.experts.pooling import plan_batches


def encode_questions(
    tokenizer: PreTrainedTokenizerBase, questions: Sequence[str], max_positions: int
) -> tuple[list[list[int]], int]:
    """Return the ids of each question, between the tokenizer's own special tokens, and how many questions were cut."""
    limit = min(max_positions, tokenizer.model_max_length)
    whole = [tokenizer(question, verbose=False).input_ids for question in questions]
    ids = [tokenizer(question, truncation=True, max_length=limit).input_ids for question in questions]
    return ids, sum(len(full) > limit for full in whole)


@torch.inference_mode()
def embed(
    encoder: PreTrainedModel, ids: Sequence[list[int]], *, pad_id: int, batch_tokens: int
) -> Float[Tensor, "problem width"]:
    """Return each question's embedding, of length 1, in fp32 on the CPU: the mean of the last hidden state over tokens.

    A row equals that of its question alone: rows are padded on the right and masked, which an encoder that looks both
    ways needs and a causal one does not mind.
    """
    # ASSUME: a question's embedding is the encoder's last state averaged over its tokens, up to its 512 positions.
    embeddings = torch.empty(len(ids), encoder.config.get_text_config().hidden_size)
    for group in plan_batches([len(row) for row in ids], batch_tokens):
        width = max(len(ids[i]) for i in group)
        padded = torch.tensor([ids[i] + (width - len(ids[i])) * [pad_id] for i in group])
        mask = torch.tensor([len(ids[i]) * [1] + (width - len(ids[i])) * [0] for i in group])
        hidden = encoder(input_ids=padded.to(encoder.device), attention_mask=mask.to(encoder.device)).last_hidden_state
        # A state under the mask may be no number, so it is replaced and not multiplied by zero.
        real = hidden.float().cpu().masked_fill(mask.unsqueeze(-1) == 0, 0.0)
        embeddings[torch.tensor(group)] = normalize(real.sum(1) / mask.sum(1, keepdim=True), dim=-1)
    return embeddings
