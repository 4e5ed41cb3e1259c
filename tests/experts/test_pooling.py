"""Pooled hidden states against one prompt at a time, unpadded."""

import itertools

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from slmcollab.experts import pooling
from slmcollab.models import toy
from slmcollab.models.toy_tokenizer import build_tokenizer

NUM_LAYERS = 3
EOS, PAD = 190, 191
# Of many lengths; 0 (what rows are padded with), the pad and the end token stand last, first and within.
PROMPTS = [
    [5],
    [7, 0, 0],
    [PAD, 9, EOS, 4, PAD, PAD],
    [1, 2, 3, EOS, EOS],
    list(range(20, 60)),
    [0, 8, 6, 0, 1, 0, 0, 0],
    list(range(9)),
    [7, 0],
]
IDS = [f"problem/{index}" for index in range(len(PROMPTS))]
DRAWS = pooling.Draws(tokens=[0, 1, 5, 2, 20, 7, 4, 0], layers=[1, 2, 3, 3, 2, 1, 3, 2])


@pytest.fixture(params=["qwen2", "llama", "gpt2"])
def model(request):
    return toy.build_model(toy.Architecture(request.param, 16, NUM_LAYERS, 2), build_tokenizer(), seed=0)


def pool(model, prompts=PROMPTS, draws=DRAWS, batch_tokens=64):
    return pooling.pool(model, prompts, draws, batch_tokens=batch_tokens)


def read_alone(model, prompt, token, layer):
    """The plain way: the prompt alone, every layer kept; states[0] is the embeddings, states[L] has been normed."""
    with torch.inference_mode():
        states = model(torch.tensor([prompt], device=model.device), output_hidden_states=True).hidden_states
    return {
        "last_token": states[NUM_LAYERS][0, -1],
        "first_token": states[NUM_LAYERS][0, 0],
        "sampled_token": states[NUM_LAYERS][0, token],
        "first_layer": states[1][0, -1],
        "sampled_layer": states[layer][0, -1],
    }


@pytest.mark.parametrize("batch_tokens", [1, 24, 64, 4096])
def test_every_feature_equals_that_of_its_prompt_alone(model, batch_tokens):
    check_against_single_prompts(model, batch_tokens)


def check_against_single_prompts(model, batch_tokens):
    pooled = pool(model, batch_tokens=batch_tokens)
    assert set(pooled) == set(pooling.POOLINGS)
    for index, (prompt, token, layer) in enumerate(zip(PROMPTS, DRAWS.tokens, DRAWS.layers, strict=True)):
        for name, expected in read_alone(model, prompt, token, layer).items():
            error = (pooled[name][index] - expected.cpu()).abs().max() / pooled[name].abs().max()
            assert error < 1e-5, (name, index)


@pytest.mark.parametrize("family", ["mistral", "phi3", "gemma2", "gpt_oss"])
def test_families_with_windows_caps_sinks_and_mixtures(family):
    config = AutoConfig.for_model(
        family,
        vocab_size=192,
        hidden_size=32,
        num_hidden_layers=NUM_LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        intermediate_size=48,
        sliding_window=8,  # shorter than the longest prompt
        num_local_experts=4,
        num_experts_per_tok=2,
        max_position_embeddings=4096,
        **dict.fromkeys(["pad_token_id", "bos_token_id", "eos_token_id"], 1),
    )
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    check_against_single_prompts(model, batch_tokens=64)


def test_features_tell_prompts_layers_and_tokens_apart(model):
    """Without this, the comparison above could hold for features that are all alike."""
    pooled = pool(model)
    for name, values in pooled.items():
        assert values.dtype == torch.float32
        assert len(values.unique(dim=0)) >= (6 if name == "first_token" else 8), name  # prompts open in 6 ways
    for a, b in itertools.combinations([n for n in pooled if n != "sampled_layer"], 2):
        assert (pooled[a][4] - pooled[b][4]).abs().max() > 1e-2


def test_order_of_prompts_changes_nothing_but_the_order(model):
    order = [3, 1, 7, 0, 6, 2, 5, 4]
    shuffled = pool(
        model,
        [PROMPTS[i] for i in order],
        pooling.Draws([DRAWS.tokens[i] for i in order], [DRAWS.layers[i] for i in order]),
    )
    for name, values in pool(model).items():
        assert torch.allclose(shuffled[name], values[order], atol=1e-5 * values.abs().max().item())


def test_neither_head_nor_cache_nor_mask_is_used_and_no_hook_is_left(model):
    calls = []

    def refuse(*_):
        raise AssertionError("the head ran")

    handles = [
        model.get_output_embeddings().register_forward_pre_hook(refuse),
        model.base_model.register_forward_pre_hook(lambda _, __, given: calls.append(given), with_kwargs=True),
    ]
    pool(model)
    for handle in handles:
        handle.remove()
    assert calls
    assert all(set(given) == {"input_ids", "use_cache"} and given["use_cache"] is False for given in calls)
    assert not any(module._forward_hooks for module in model.modules())


def test_bfloat16_model_gives_fp32_features(model):
    pooled = pool(model.to(torch.bfloat16))
    assert {values.dtype for values in pooled.values()} == {torch.float32}


def test_one_layer_is_first_and_last():
    model = toy.build_model(toy.Architecture("llama", 16, 1, 2), build_tokenizer(), seed=0)
    pooled = pool(model, draws=pooling.Draws(DRAWS.tokens, 8 * [1]))
    assert torch.equal(pooled["first_layer"], pooled["last_token"])  # after the final norm, as transformers has it
    assert torch.equal(pooled["sampled_layer"], pooled["last_token"])


def test_batches_are_sorted_and_within_the_budget():
    lengths = [3, 9, 4, 4, 1, 30, 9, 2]
    groups = pooling.plan_batches(lengths, batch_tokens=18)
    # 30 alone, though longer than 18; 2 x 9; 4 x 4 holds 4, 4, 3, 2 and a fifth would make 20; 1.
    assert groups == [[5], [1, 6], [2, 3, 0, 7], [4]]
    assert pooling.plan_batches([5, 5, 5], batch_tokens=10) == [[0, 1], [2]]
    assert pooling.plan_batches([], batch_tokens=10) == []


def test_draws_depend_on_the_problem_alone():
    lengths = [len(prompt) for prompt in PROMPTS]
    draws = pooling.draw(IDS, lengths, NUM_LAYERS)
    backwards = pooling.draw(IDS[::-1], lengths[::-1], NUM_LAYERS)
    assert (draws.tokens, draws.layers) == (backwards.tokens[::-1], backwards.layers[::-1])
    # Fixed for ever: another machine, process or version must draw the same.
    assert pooling.draw(["gsm8k/7"], [1000], 28) == pooling.Draws(tokens=[202], layers=[6])


def test_draws_are_uniform_over_all_tokens_and_layers():
    draws = pooling.draw([str(i) for i in range(4000)], 4000 * [4], NUM_LAYERS)
    for values, choices in ((draws.tokens, [0, 1, 2, 3]), (draws.layers, [1, 2, 3])):
        assert set(values) == set(choices)
        # 4000 draws of a quarter: 1000, standard deviation 27; of a third: 1333, standard deviation 30.
        assert all(abs(values.count(choice) - 4000 / len(choices)) < 150 for choice in choices)


def test_layers_are_described():
    assert pooling.describe_layers(24) == {
        "layer/last_token": "24, after the final norm",
        "layer/first_token": "24, after the final norm",
        "layer/sampled_token": "24, after the final norm",
        "layer/first_layer": "1, before the final norm",
        "layer/sampled_layer": "drawn from 1 to 24, before the final norm but for 24",
    }
    assert pooling.describe_layers(1)["layer/first_layer"] == "1, after the final norm"
