"""Sentence embeddings against one question at a time, with an encoder that looks both ways and with causal models."""

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

from slmcollab.experts.embedding import embed, encode_questions
from slmcollab.models import toy
from slmcollab.models.toy_tokenizer import build_tokenizer

PAD = 0
IDS = [[5, 6, 7], [1, 2], list(range(3, 40)), [9], [8, 0, 0, 8], [0, 8]]  # with the pad token within, first and last


def bert():
    config = AutoConfig.for_model(
        "bert",
        vocab_size=192,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    torch.manual_seed(0)
    return AutoModel.from_config(config).eval()


@pytest.fixture(params=["bert", "llama", "gpt2"])
def encoder(request):
    if request.param == "bert":
        return bert()
    return toy.build_model(toy.Architecture(request.param, 16, 2, 2), build_tokenizer(), seed=0).base_model


def read_alone(encoder, row):
    with torch.inference_mode():
        mean = encoder(torch.tensor([row])).last_hidden_state[0].mean(0)
    return mean / mean.square().sum().sqrt()


@pytest.mark.parametrize("batch_tokens", [1, 40, 4096])
def test_every_embedding_equals_that_of_its_question_alone(encoder, batch_tokens):
    embeddings = embed(encoder, IDS, pad_id=PAD, batch_tokens=batch_tokens)
    assert embeddings.shape == (6, 16)
    assert torch.allclose(embeddings.norm(dim=-1), torch.ones(6))
    for row, found in zip(IDS, embeddings, strict=True):
        assert torch.allclose(found, read_alone(encoder, row), atol=1e-5), row
    assert torch.cdist(embeddings, embeddings).fill_diagonal_(1).min() > 1e-2


def test_order_of_questions_changes_nothing_but_the_order(encoder):
    embeddings = embed(encoder, IDS, pad_id=PAD, batch_tokens=40)
    assert torch.allclose(embed(encoder, IDS[::-1], pad_id=PAD, batch_tokens=40), embeddings.flip(0), atol=1e-5)


def test_what_padding_is_made_of_does_not_matter(encoder):
    embeddings = [embed(encoder, IDS, pad_id=pad, batch_tokens=4096) for pad in (PAD, 77)]
    assert torch.allclose(*embeddings, atol=1e-5)


def test_bfloat16_encoder_gives_fp32_embeddings():
    assert embed(bert().to(torch.bfloat16), IDS, pad_id=PAD, batch_tokens=64).dtype == torch.float32


def test_questions_keep_the_tokenizers_special_tokens_when_cut():
    backend = Tokenizer(models.WordLevel({"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4}))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]")
    questions = ["a b", "a b a", "b b b b b"]
    assert encode_questions(tokenizer, questions, 5) == ([[1, 3, 4, 2], [1, 3, 4, 3, 2], [1, 4, 4, 4, 2]], 1)
    tokenizer.model_max_length = 4
    assert encode_questions(tokenizer, questions, 5) == ([[1, 3, 4, 2], [1, 3, 4, 2], [1, 4, 4, 2]], 2)


def test_toy_tokenizer_reads_the_question_alone():
    tokenizer = build_tokenizer()
    ids, cut = encode_questions(tokenizer, ["What is 1 + 2?"], 512)
    assert (tokenizer.decode(ids[0]), cut) == ("What is 1 + 2?", 0)
