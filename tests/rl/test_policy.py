"""Virtual ids: what the policy reads where they stand, in every way that it is run."""

import pytest
import torch
from peft import LoraConfig, get_peft_model

from slmcollab.context.operator import AdapterSettings
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
    assert before.prompts[1] == before.plain_prompts[1][:-1] + before.context.ids(1) + [header]
    assert end.prompts[1] == end.plain_prompts[1] + end.context.ids(1)
    assert end.plain_prompts[1][-1] == header


@pytest.mark.parametrize("position", ["before_header", "end"])
def test_left_padded_cached_generation_equals_unpadded_forward_from_hand_built_embeddings(
    load, base, features, tokenizer, position
):
    loaded, plain = load(position=position), base()
    table = plain.get_input_embeddings().weight.detach()
    with torch.no_grad():
        context = loaded.model.context_adapter(features).tokens
        completions = generate_greedy(loaded.model, tokenizer, loaded.prompts, max_new_tokens=5, batch_size=6)
        for prompt, rows, completion in zip(loaded.prompts, context, completions, strict=True):
            logits = by_hand(plain, table, prompt + completion, rows)[len(prompt) - 1 : -1]
            assert logits.argmax(-1).tolist() == completion


def test_padded_batch_gives_the_logits_of_hand_built_embeddings(load, base, features, tokenizer):
    loaded, plain = load(), base()
    table = plain.get_input_embeddings().weight.detach()
    width = max(map(len, loaded.prompts))
    pad = tokenizer.pad_token_id
    ids = torch.tensor([(width - len(prompt)) * [pad] + prompt for prompt in loaded.prompts])
    mask = torch.tensor([(width - len(prompt)) * [0] + len(prompt) * [1] for prompt in loaded.prompts])
    with torch.no_grad():
        context = loaded.model.context_adapter(features).tokens
        logits = loaded.model(input_ids=ids, attention_mask=mask).logits
        for row, prompt, tokens in zip(logits, loaded.prompts, context, strict=True):
            expected = by_hand(plain, table, prompt, tokens)
            torch.testing.assert_close(row[-len(prompt) :], expected, atol=1e-4, rtol=1e-4)


def test_reference_reads_zeros_and_has_no_lora(adapted, base):
    loaded, model = adapted
    plain, prompt = base(), loaded.prompts[1]
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
    for row, prompt in enumerate(before.prompts):
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


def test_a_policy_without_rotary_positions_is_refused(base, features):
    settings = AdapterSettings(latent_dim=16, num_heads=4, m=4, context_position="end")
    with pytest.raises(ValueError, match="a gpt2 model cannot be the policy"):
        policy.attach_operator(base("gpt2"), "hidden_state", settings, features, 0)


def test_settings_of_a_cell_without_a_team():
    cell = {"dtype": "float32", "operator": "none", "experts": [], "numeric_threads": 1}
    settings = policy.PolicySettings.from_cell(cell)
    assert (settings.adapter, settings.pooling, settings.shuffled) == (None, None, False)
