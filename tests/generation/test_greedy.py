"""Greedy generation against token by token argmax without padding, cache or batch."""

import pytest
import torch
from transformers import GenerationConfig

from slmcollab.generation.greedy import end_ids, generate_greedy
from slmcollab.models import toy
from slmcollab.models.toy_tokenizer import build_tokenizer

BUDGET = 7


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer()


@pytest.fixture(scope="module")
def model(tokenizer):
    model = toy.build_model(toy.Architecture("qwen2", 32, 2, 4), tokenizer, seed=0)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=generator)
    return model


@pytest.fixture(scope="module")
def prompts(tokenizer):
    texts = ["a", "What is 3 + 4?", "Reverse abc.", "12", "zzzzzzzzzzzzzz", "b", "What is 9 + 9?"]
    return [tokenizer(text).input_ids for text in texts]


def by_hand(model, prompt, ends):
    ids = list(prompt)
    while len(ids) < len(prompt) + BUDGET and (len(ids) == len(prompt) or ids[-1] not in ends):
        with torch.no_grad():
            ids.append(model(torch.tensor([ids])).logits[0, -1].argmax().item())
    return ids[len(prompt) :]


def generate(model, tokenizer, prompts, batch_size=3):
    return generate_greedy(model, tokenizer, prompts, max_new_tokens=BUDGET, batch_size=batch_size)


@pytest.fixture
def ends_often(model, tokenizer, prompts):
    """Let the model's second most wanted token end a completion, so that some end and some are cut."""
    every = [token for prompt in prompts for token in by_hand(model, prompt, [])[1:3]]
    model.generation_config = GenerationConfig(eos_token_id=[max(set(every), key=every.count)])
    yield
    model.generation_config = GenerationConfig()


@pytest.mark.parametrize("batch_size", [1, 3, 100])
@pytest.mark.usefixtures("ends_often")
def test_rows_come_back_in_order_and_equal_unbatched_argmax(model, tokenizer, prompts, batch_size):
    ends = end_ids(model, tokenizer)
    expected = [by_hand(model, prompt, ends) for prompt in prompts]
    assert generate(model, tokenizer, prompts, batch_size) == expected
    lengths = {len(completion) for completion in expected}
    assert BUDGET in lengths
    assert min(lengths) < BUDGET
    assert all(completion[-1] in ends for completion in expected if len(completion) < BUDGET)


def test_the_models_own_defaults_do_not_matter_and_stay(model, tokenizer, prompts):
    plain = generate(model, tokenizer, prompts)
    defaults = {
        "do_sample": True,
        "top_p": 0.5,
        "temperature": 3.0,
        "repetition_penalty": 5.0,
        "no_repeat_ngram_size": 1,
    }
    model.generation_config = GenerationConfig(**defaults)
    torch.manual_seed(0)
    assert generate(model, tokenizer, prompts) == plain
    assert model.generation_config.repetition_penalty == 5.0
    model.generation_config = GenerationConfig()
    repeated = [completion for completion in plain if len(set(completion)) < len(completion)]
    assert repeated, "no completion repeats a token, so a repetition penalty could not show"


def test_ends_are_the_tokenizers_and_the_models(model, tokenizer):
    assert end_ids(model, tokenizer) == [tokenizer.eos_token_id]
    model.generation_config = GenerationConfig(eos_token_id=[3, 5])
    assert end_ids(model, tokenizer) == sorted([3, 5, tokenizer.eos_token_id])
    model.generation_config = GenerationConfig()


def test_no_prompts_no_completions(model, tokenizer):
    assert generate(model, tokenizer, []) == []
