"""Our decoding loop against transformers' `generate`: the same tokens, greedy or drawn, whatever the family."""

import functools
from contextlib import nullcontext

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, Qwen2ForCausalLM

from slmcollab.generation import decode
from slmcollab.generation.greedy import generate_greedy
from slmcollab.models.toy_tokenizer import build_tokenizer

TOKENIZER, BUDGET = build_tokenizer(), 12
VOCABULARY, PAD = len(TOKENIZER), TOKENIZER.pad_token_id
WINDOW = {"sliding_window": 16}
FAMILIES = {
    "qwen2": ("qwen2", {}),
    "qwen3": ("qwen3", {"head_dim": 8}),
    "llama": ("llama", {}),
    "gpt2": ("gpt2", {}),
    "mistral": ("mistral", {"sliding_window": None}),
    "gemma2 in its window": ("gemma2", {"head_dim": 8, "sliding_window": 64}),
}
OTHERS = {
    "gemma2 beyond its window": ("gemma2", {"head_dim": 8, **WINDOW}),
    "mistral beyond its window": ("mistral", WINDOW),
    "phi3": ("phi3", {}),
    "mamba": ("mamba", {"state_size": 4}),
    "bloom": ("bloom", {}),
}


def make(family, **changes):
    """Return a random model with opinions: two layers, weights far from zero."""
    kind, own = family
    shape = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    shape |= {"intermediate_size": 64, "num_key_value_heads": 2, "tie_word_embeddings": False}
    shape |= {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None, **own, **changes}
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **shape), dtype=torch.float32).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.2 * torch.randn(weight.shape)
    return model


def ragged(lengths=(3, 17, 9, 17, 1, 30), shared=0):
    """Return prompts of these lengths after a shared prefix; the second comes twice."""
    generator = torch.Generator().manual_seed(1)
    prefix = torch.randint(0, PAD, (shared,), generator=generator).tolist()
    prompts = [prefix + torch.randint(0, PAD, (length,), generator=generator).tolist() for length in lengths]
    return [*prompts, list(prompts[1])]


def plain(model, prompts, ends, **options):
    """Return what `generate` gives for the prompts as one batch, without what follows an end id."""
    width = max(map(len, prompts))
    ids = torch.tensor([(width - len(prompt)) * [PAD] + prompt for prompt in prompts])
    mask = torch.tensor([(width - len(prompt)) * [0] + len(prompt) * [1] for prompt in prompts])
    options = {"do_sample": False, "top_k": 0, "max_new_tokens": BUDGET, "eos_token_id": ends or None, **options}
    config = GenerationConfig(pad_token_id=PAD, **options)
    rows = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)[:, width:].tolist()
    stops = [next((at for at, id in enumerate(row) if id in ends), BUDGET) for row in rows]
    return [row[: stop + 1] for row, stop in zip(rows, stops, strict=True)]


def often(rows):
    """Return ids that end some of these completions early, and leave others whole."""
    for token in sorted({token for row in rows for token in row[1:6]}):
        if 1 <= sum(token in row for row in rows) < len(rows):
            return [token]
    raise AssertionError("no token ends some completions and not others")


def ours(model, prompts, ends, pick=decode.argmax):
    return decode.decode(model, prompts, pick, max_new_tokens=BUDGET, ends=ends)


@pytest.mark.parametrize("shared", [0, 20])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_greedy_tokens_are_those_of_generate(family, shared):
    model, prompts = make(family), ragged(shared=shared)
    assert decode.supports(model, 62)
    whole = plain(model, prompts, [])
    assert ours(model, prompts, []) == whole
    ends = often(whole)
    expected = plain(model, prompts, ends)
    assert len({len(row) for row in expected}) > 1
    assert ours(model, prompts, ends) == expected


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_drawn_tokens_are_those_of_generate_though_rows_end_at_different_times(family, temperature):
    model, prompts, ends = (
        make(family),
        [prompt for prompt in ragged() for _ in range(3)],
        list(range(0, VOCABULARY, 8)),
    )
    torch.manual_seed(6)
    expected, after = plain(model, prompts, ends, do_sample=True, temperature=temperature), torch.rand(3)
    torch.manual_seed(6)
    assert ours(model, prompts, ends, decode.sampler(temperature)) == expected
    assert torch.equal(torch.rand(3), after)  # as many numbers were drawn, so what follows is the same too
    assert len({len(row) for row in expected}) > 2
    assert len({tuple(row) for row in expected}) > len(prompts) / 2


def test_the_draw_stops_when_the_last_row_ends():
    """All rows end at once and early: `generate` stops drawing then, and so does the loop."""
    model, prompts = make(FAMILIES["qwen2"]), ragged()
    ends = list(range(VOCABULARY))
    torch.manual_seed(6)
    expected, after = plain(model, prompts, ends, do_sample=True), torch.rand(3)
    torch.manual_seed(6)
    assert ours(model, prompts, ends, decode.sampler(1.0)) == expected
    assert torch.equal(torch.rand(3), after)
    assert all(len(row) == 1 for row in expected)


def test_logits_are_those_of_each_row_alone_whatever_has_been_shared_or_dropped():
    model, prompts = make(FAMILIES["qwen2"]), ragged(shared=20)
    seen = []

    def pick(logits, rows):
        seen.append((logits, rows))
        return logits.argmax(dim=-1)

    completions = ours(model, prompts, often(ours(model, prompts, [])), pick)
    assert len(seen[-1][1]) < len(prompts)
    for step, (logits, rows) in enumerate(seen):
        for row, found in zip(rows, logits, strict=True):
            with torch.no_grad():
                alone = model(torch.tensor([prompts[row] + completions[row][:step]])).logits[0, -1]
            torch.testing.assert_close(found, alone, atol=1e-4, rtol=1e-4)


@pytest.fixture
def read(monkeypatch):
    """Return the shapes of all ids that qwen2 models read from now on."""
    shapes, forward = [], Qwen2ForCausalLM.forward

    @functools.wraps(forward)
    def recording(self, *args, input_ids, **kwargs):
        shapes.append(tuple(input_ids.shape))
        return forward(self, *args, input_ids=input_ids, **kwargs)

    monkeypatch.setattr(Qwen2ForCausalLM, "forward", recording)
    return shapes


def test_equal_prompts_and_a_shared_prefix_are_read_once_and_ended_rows_no_more(read):
    model = make(FAMILIES["qwen2"])
    group, other = ragged((6, 4), shared=20)[:2]
    prompts = [group, other, group, group]
    completions = ours(model, prompts, [])
    assert read == [(1, 20), (2, 6)] + (BUDGET - 1) * [(4, 1)]
    assert completions[0] == completions[2] == completions[3] != completions[1]
    end = next(token for token in completions[1] if token not in completions[0])
    length = completions[1].index(end) + 1
    read.clear()
    assert [len(row) for row in ours(model, prompts, [end])] == [BUDGET, length, BUDGET, BUDGET]
    assert read == [(1, 20), (2, 6)] + (length - 1) * [(4, 1)] + (BUDGET - length) * [(3, 1)]


def test_a_prefix_too_short_to_pay_is_read_with_each_prompt(read):
    ours(make(FAMILIES["qwen2"]), ragged((25, 30), shared=2)[:2], [])
    assert read[0] == (2, 32)


@pytest.mark.parametrize("length", [1, 2])
def test_prompts_that_are_a_prefix_of_one_another(length):
    model, prompts = make(FAMILIES["qwen2"]), [[5] * length, [5] * (length + 4), [5] * length]
    assert ours(model, prompts, []) == plain(model, prompts, [])


@pytest.mark.parametrize("family", OTHERS.values(), ids=OTHERS)
def test_what_the_loop_does_not_support_is_answered_by_generate(family, monkeypatch):
    model, prompts, tokenizer = make(family), ragged(), TOKENIZER
    assert not decode.supports(model, 42)
    expected = plain(model, prompts, [tokenizer.eos_token_id])
    monkeypatch.setattr("slmcollab.generation.greedy.decode", None)
    assert generate_greedy(model, tokenizer, prompts, max_new_tokens=BUDGET, batch_size=10) == expected


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_greedy_answers_are_those_of_generate_at_any_batch_size(family, batch_size):
    model, prompts, tokenizer = make(family), ragged(shared=7), TOKENIZER
    model.generation_config = GenerationConfig(eos_token_id=often(plain(model, prompts, [])))
    ends = [tokenizer.eos_token_id, *model.generation_config.eos_token_id]
    expected = plain(model, prompts, ends)
    assert generate_greedy(model, tokenizer, prompts, max_new_tokens=BUDGET, batch_size=batch_size) == expected


@pytest.mark.parametrize("autocast", [False, True])
def test_an_adapter_is_in_the_logits_and_training_mode_stays(autocast):
    prompts, base = ragged(), make(FAMILIES["qwen2"])
    bare = ours(base, prompts, [])
    model = get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM"))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight += 0.3 * torch.randn(weight.shape)
    model.train()
    with torch.autocast("cpu", dtype=torch.bfloat16) if autocast else nullcontext():
        expected = plain(model, prompts, [])
        assert ours(model, prompts, []) == expected
    assert expected != bare
    assert model.training
    with model.disable_adapter():
        assert ours(model, prompts, []) == bare


def test_a_bfloat16_model_answers_as_under_generate():
    """One row: sums in bfloat16 round as the shape of a batch has it, so that more rows need not agree."""
    model, prompts = make(FAMILIES["qwen2"]).to(torch.bfloat16), ragged()
    for prompt in prompts:
        assert ours(model, [prompt], []) == plain(model, [prompt], [])
