"""Virtual ids: what the policy reads where they stand, in every way that it is run.

LoRA on `target_modules=all-linear`, a PeftModel passed as the policy, and the trainer's `evaluate()` and
`log_completions` are not tested here, because the pipeline never uses them.
"""

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import GenerationConfig

from slmcollab.generation.greedy import generate_greedy
from slmcollab.rl import policy

LORA = LoraConfig(r=4, target_modules=["q_proj", "v_proj"], modules_to_save=["context_adapter"], task_type="CAUSAL_LM")


def by_hand(plain, embedding, prompt, context_rows):
    """Embed a prompt without the code under test: real ids by the table, the m rows of C where virtual ids stand."""
    rows, place = [], 0
    for token in prompt:
        if token < len(embedding):
            rows.append(embedding[token])
        else:
            rows.append(context_rows[place])
            place += 1
    assert place in (0, len(context_rows))
    return plain(inputs_embeds=torch.stack(rows).unsqueeze(0)).logits[0]


def left_padded(prompts, pad):
    """Return the ids of a batch and their attention mask."""
    width = max(map(len, prompts))
    ids = torch.tensor([(width - len(prompt)) * [pad] + prompt for prompt in prompts])
    return ids, torch.tensor([(width - len(prompt)) * [0] + len(prompt) * [1] for prompt in prompts])


def generate(loaded, max_new_tokens=8, **options):
    """Return what transformers' generate gives for all prompts as one batch; the draws are the same every time."""
    ids, mask = left_padded(loaded.decided_prompts(), loaded.tokenizer.pad_token_id)
    ends = {"eos_token_id": loaded.tokenizer.eos_token_id, "pad_token_id": loaded.tokenizer.pad_token_id}
    config = GenerationConfig(max_new_tokens=max_new_tokens, use_cache=True, **ends, **options)
    torch.manual_seed(0)
    return loaded.model.generate(input_ids=ids, attention_mask=mask, generation_config=config)


@pytest.fixture
def adapted(load):
    """Return a loaded policy under LoRA that does something."""
    loaded = load()
    model = get_peft_model(loaded.model, LORA)
    torch.manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight.normal_(std=0.1)
    return loaded, model.eval()


def test_virtual_ids_start_behind_the_embedding_table_and_are_m_per_problem(load, base):
    context = load().context
    size = base().get_input_embeddings().num_embeddings
    assert context.ids(0) == [size, size + 1, size + 2, size + 3]
    assert context.ids(2) == [size + 8, size + 9, size + 10, size + 11]


def test_context_stands_where_it_is_said_to(load, tokenizer, problems):
    before, end = load(position="before_header"), load(position="end")
    header = tokenizer.convert_tokens_to_ids("<a>")
    assert before.decided_prompts()[1] == before.prompts.plain(1)[:-1] + before.context.ids(1) + [header]
    assert end.decided_prompts()[1] == end.prompts.plain(1) + end.context.ids(1)
    assert end.prompts.plain(1)[-1] == header


@pytest.mark.parametrize("position", ["before_header", "end"])
def test_left_padded_cached_generation_equals_unpadded_forward_from_hand_built_embeddings(
    load, base, features, tokenizer, position
):
    loaded, plain = load(position=position), base()
    table = plain.get_input_embeddings().weight.detach()
    with torch.no_grad():
        context = loaded.model.context_adapter(features).tokens
        completions = generate_greedy(loaded.model, tokenizer, loaded.decided_prompts(), max_new_tokens=5, batch_size=6)
        for prompt, rows, completion in zip(loaded.decided_prompts(), context, completions, strict=True):
            logits = by_hand(plain, table, prompt + completion, rows)[len(prompt) - 1 : -1]
            assert logits.argmax(-1).tolist() == completion


@pytest.mark.parametrize("position", ["before_header", "end"])
@pytest.mark.parametrize("do_sample", [True, False])
def test_logits_of_every_generated_step_are_those_of_hand_built_embeddings(load, base, features, do_sample, position):
    """Tokens that are drawn leave the most probable path; what follows an end token is padding, and is read too."""
    loaded, plain = load(position=position), base()
    assert len(set(map(len, loaded.decided_prompts()))) > 1
    table = plain.get_input_embeddings().weight.detach()
    generated = generate(loaded, do_sample=do_sample, output_logits=True, return_dict_in_generate=True)
    completions = generated.sequences[:, -len(generated.logits) :]
    logits = torch.stack(generated.logits, dim=1)
    with torch.no_grad():
        context = loaded.model.context_adapter(features).tokens
        for row, prompt, tokens, completion in zip(
            logits, loaded.decided_prompts(), context, completions.tolist(), strict=True
        ):
            expected = by_hand(plain, table, prompt + completion, tokens)[len(prompt) - 1 : -1]
            torch.testing.assert_close(row, expected, atol=1e-5, rtol=0)
    assert (logits.argmax(-1)[:, 0] != completions[:, 0]).any() == do_sample


@pytest.mark.parametrize(
    ("options", "per_prompt"),
    [
        ({"repetition_penalty": 1.5}, 1),
        ({"no_repeat_ngram_size": 1}, 1),  # bans each id of the prompt, so the virtual ones too
        ({"no_repeat_ngram_size": 2}, 1),
        ({"do_sample": True, "num_return_sequences": 3}, 3),
    ],
)
def test_generation_options_that_look_at_the_prompt_meet_virtual_ids(load, options, per_prompt):
    loaded = load()
    width, first = max(map(len, loaded.decided_prompts())), loaded.context.first_id
    generated = generate(loaded, **options)
    assert len(generated) == per_prompt * len(loaded.decided_prompts())
    assert (generated[:, :width] >= first).sum(dim=1).tolist() == len(generated) * [loaded.context.m]
    assert (generated[:, width:] < first).all()


def test_virtual_ids_decode_to_nothing(load, tokenizer, problems):
    """The tokenizer has no token of such an id, and leaves it out whether it skips special tokens or not."""
    loaded = load()
    for prompt, problem in zip(loaded.decided_prompts(), problems, strict=True):
        assert tokenizer.decode(prompt, skip_special_tokens=True) == problem.question
        assert tokenizer.decode(prompt, skip_special_tokens=False) == f"<u>{problem.question}<a>"


def test_padded_batch_gives_the_logits_of_hand_built_embeddings(load, base, features, tokenizer):
    loaded, plain = load(), base()
    table = plain.get_input_embeddings().weight.detach()
    ids, mask = left_padded(loaded.decided_prompts(), tokenizer.pad_token_id)
    with torch.no_grad():
        context = loaded.model.context_adapter(features).tokens
        logits = loaded.model(input_ids=ids, attention_mask=mask).logits
        for row, prompt, tokens in zip(logits, loaded.decided_prompts(), context, strict=True):
            expected = by_hand(plain, table, prompt, tokens)
            torch.testing.assert_close(row[-len(prompt) :], expected, atol=1e-4, rtol=1e-4)


def test_reference_reads_zeros_and_has_no_lora(adapted, base):
    loaded, model = adapted
    plain, prompt = base(), loaded.decided_prompts()[1]
    table = plain.get_input_embeddings().weight.detach()
    with torch.no_grad():
        policy_logits = model(input_ids=torch.tensor([prompt])).logits[0]
        with model.disable_adapter():
            reference_logits = model(input_ids=torch.tensor([prompt])).logits[0]
        again = model(input_ids=torch.tensor([prompt])).logits[0]
        expected = by_hand(plain, table, prompt, torch.zeros(4, 32))
    torch.testing.assert_close(reference_logits, expected, atol=1e-4, rtol=1e-4)
    assert (policy_logits - expected).abs().max() > 0.01
    assert torch.equal(policy_logits, again)


def test_a_feature_reaches_its_own_problem_only(load, features):
    changed = [features[0].clone(), *features[1:]]
    changed[0][2] += 1.0
    before, after = load(), load(features=changed)
    for row, prompt in enumerate(before.decided_prompts()):
        with torch.no_grad():
            same = torch.equal(
                before.model(input_ids=torch.tensor([prompt])).logits,
                after.model(input_ids=torch.tensor([prompt])).logits,
            )
        assert same == (row != 2)


def test_attention_is_per_row_asked_for(load, features):
    loaded = load()
    expected = loaded.model.context_adapter(features).attention
    attention = loaded.context.attention([4, 1, 4])
    torch.testing.assert_close(attention, expected.detach()[[4, 1, 4]])


def test_features_are_no_weights(load):
    loaded = load()
    names = set(loaded.model.state_dict())
    assert any(name.startswith("context_adapter.") for name in names)
    assert not any(tensor.shape[:1] == (6,) for tensor in loaded.model.state_dict().values())


def test_operator_starts_at_the_rms_of_what_the_embedding_gives(load, base):
    table = base().get_input_embeddings().weight
    loaded = load()
    rms = loaded.context.read(torch.arange(6)).tokens.square().mean().sqrt()
    assert rms.item() == pytest.approx(table.square().mean().sqrt().item(), rel=0.2)


def test_a_policy_without_rotary_positions_is_refused(load):
    with pytest.raises(ValueError, match="a gpt2 model cannot be the policy"):
        load(architecture="gpt2")


def test_settings_of_a_cell_without_a_team():
    cell = {"dtype": "float32", "operator": "none", "experts": [], "numeric_threads": 1}
    settings = policy.PolicySettings.from_cell(cell)
    assert (settings.adapter, settings.pooling, settings.shuffled) == (None, None, False)
