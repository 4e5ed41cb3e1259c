"""How much of the attention depends on the prompt, and a policy whose attention is frozen."""

import pytest
import torch
from peft import LoraConfig, get_peft_model

from slmcollab.rl import static_attention

LORA = LoraConfig(r=4, target_modules=["q_proj"], modules_to_save=["context_adapter"], task_type="CAUSAL_LM")


def test_prompt_variance_share_by_hand():
    # two prompts, one token, two experts: (0.9, 0.1) and (0.7, 0.3); static (0.8, 0.2)
    attention = torch.tensor([[[0.9, 0.1]], [[0.7, 0.3]]])
    # between prompts: 4 × 0.1² = 0.04; about 1/2: 2 × 0.4² + 2 × 0.2² = 0.40
    assert static_attention.prompt_variance_share(attention) == pytest.approx(0.1, abs=1e-6)


def test_a_static_preference_has_no_part_of_the_prompt_and_equal_shares_have_no_variance():
    assert static_attention.prompt_variance_share(torch.tensor([[[0.9, 0.1]], [[0.9, 0.1]]])) == 0.0
    assert static_attention.prompt_variance_share(torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])) == pytest.approx(1.0)
    assert static_attention.prompt_variance_share(torch.full((3, 2, 4), 0.25)) is None


def test_attention_is_that_of_one_pass_however_it_is_cut(load, features, monkeypatch):
    operator = load().model.context_adapter
    whole = static_attention.attend(operator, features)
    monkeypatch.setattr(static_attention, "CHUNK", 4)
    torch.testing.assert_close(static_attention.attend(operator, features), whole)
    assert whole.shape == (6, 4, 4, 3)


def test_a_frozen_policy_attends_as_on_the_mean_of_train_and_says_how_it_attended_before(load, features):
    loaded = load()
    policy = get_peft_model(loaded.model, LORA).eval()
    rows = torch.arange(6)
    free = loaded.context.read(rows)
    train = [h[:2] for h in features]
    found = static_attention.freeze(policy, loaded.experts, features, train)
    expected = free.attention.detach().mean(dim=(0, 1))
    assert list(found["shares"]) == loaded.experts
    assert list(found["shares"].values()) == pytest.approx(expected.tolist(), abs=1e-6)
    assert found["prompt_variance_share"] == pytest.approx(
        static_attention.prompt_variance_share(free.attention.detach()), abs=1e-6
    )
    frozen = loaded.context.read(rows)
    torch.testing.assert_close(frozen.attention, free.attention[:2].mean(dim=0).expand(6, -1, -1))
    assert not torch.allclose(frozen.tokens, free.tokens, atol=1e-4)
