"""The policies of a team: what is trained, what is sampled from, and what their files hold."""

from dataclasses import replace

import pytest
import torch
from learners import ANSWERS, LORA, PROBLEMS, SLOTS, WORDS, make_policies
from transformers import AutoModelForCausalLM

from slmcollab.generation.engine import LocalBackend
from slmcollab.generation.requests import Decoding, Request
from slmcollab.marl.batches import Row, pad
from slmcollab.marl.policies import Policies

SAMPLED = Decoding(3, 1.0)
ROWS = [Row([3, 4, 5, 2], [6, 7], 0.0), Row([3], [6, 5, 8], 0.0), Row([3, 3], [1], 0.0)]


def requests(slots=SLOTS):
    return [Request(slot, PROBLEMS[at % 6].messages, at) for at in range(24) for slot in slots]


def stir(policy, seed=0):
    """Give a policy's adapter weights that change what it says."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in policy.weights:
            weight += 0.5 * torch.randn(weight.shape)


def alone(member, row):
    """Return log p of a row's response under a model without adapters, by a plain forward pass."""
    model = AutoModelForCausalLM.from_pretrained(member.folder, dtype=torch.float32)
    logits = model(torch.tensor([[*row.prompt, *row.response]])).logits[0].log_softmax(dim=-1)
    start = len(row.prompt) - 1
    return [logits[start + at, token].item() for at, token in enumerate(row.response)]


def test_log_probabilities_are_those_of_a_plain_forward_pass(members):
    policies = make_policies(members, "magrpo")
    for member in members:
        batch = pad(ROWS, 0, "cpu")
        policy = policies.slots[member.slot]
        policy.switch_on()
        found, values = policy.score(batch, 1.0)
        assert values is None
        for at, row in enumerate(ROWS):
            assert found[at][batch.is_trained[at]].tolist() == pytest.approx(alone(member, row), abs=1e-5)


def test_they_are_those_of_the_distribution_that_is_sampled_from(members):
    policy = make_policies(members, "magrpo").slots["a1"]
    policy.switch_on()
    words = pad([Row([3, 4], [word], 0.0) for word in range(len(WORDS))], 0, "cpu")
    at_one, at_half = (policy.score(words, temperature)[0].squeeze(1) for temperature in (1.0, 0.5))
    assert at_half.exp().sum().item() == pytest.approx(1.0)
    assert torch.allclose(at_half.exp(), (2 * at_one).softmax(dim=0), atol=1e-6)


def test_only_lora_and_the_value_head_of_a_slot_are_trained(members):
    for name, extra in (("magrpo", 0), ("maporl", 2)):
        policies = make_policies(members, name)
        for slot, policy in policies.slots.items():
            policy.switch_on()
            named = {n: w for n, w in policy.model.named_parameters() if w.requires_grad}
            assert all(f".{slot}." in name and "lora_" in name for name in named)
            assert len(policy.weights) == len(named) + extra == 2 * 4 + extra  # A and B of four layers
            assert {id(weight) for weight in named.values()} <= {id(weight) for weight in policy.weights}
        owned = [id(weight) for policy in policies.slots.values() for weight in policy.weights]
        assert len(set(owned)) == len(owned)
    assert all(weight.dtype == torch.float32 for weight in policies.slots["a1"].weights)


def test_slots_that_share_a_model_share_its_weights(members):
    policies = make_policies(members, "magrpo")
    assert policies.slots["a1"].model is policies.slots["a3"].model
    assert policies.slots["a1"].model is not policies.slots["a2"].model


def test_values_start_at_0_and_are_of_the_state_before_a_token(members):
    policy = make_policies(members, "maporl").slots["a2"]
    policy.switch_on()
    batch = pad(ROWS, 0, "cpu")
    assert policy.score(batch, 1.0)[1].abs().max() == 0
    torch.nn.init.ones_(policy.values.weight)
    model = AutoModelForCausalLM.from_pretrained(members[1].folder, dtype=torch.float32)
    states = model(torch.tensor([[*ROWS[0].prompt, *ROWS[0].response]]), output_hidden_states=True).hidden_states[-1]
    found = policy.score(batch, 1.0)[1][0, :2]
    assert found.tolist() == pytest.approx(states[0, 3:5].sum(dim=-1).tolist(), abs=1e-4)


def test_the_reference_is_the_base_model_whatever_was_learned(members):
    policies = make_policies(members, "magrpo")
    policy, batch = policies.slots["a1"], pad(ROWS, 0, "cpu")
    policy.switch_on()
    before = policy.score(batch, 1.0)[0]
    assert torch.equal(policy.reference(batch, 1.0), before)  # LoRA starts as nothing: a KL of exactly 0
    stir(policy)
    assert torch.equal(policy.reference(batch, 1.0), before)
    assert not torch.allclose(policy.score(batch, 1.0)[0], before, atol=1e-2)
    assert torch.equal(policies.slots["a3"].reference(batch, 1.0), before)


def test_a_slot_speaks_with_its_present_weights_and_no_others(members):
    policies = make_policies(members, "magrpo")
    backend = LocalBackend(members, dtype="float32", resident="all", batch_size=64)
    before = policies.generate(requests(), SAMPLED)
    assert before == backend.generate(requests(), SAMPLED)
    assert len({response.text for response in before} & set(ANSWERS)) > 1
    stir(policies.slots["a1"])
    after = policies.generate(requests(), SAMPLED)
    assert after[0::3] != before[0::3]
    assert after[1::3] == before[1::3]
    assert after[2::3] == before[2::3]  # shares its model with a1


def test_written_adapters_speak_as_the_policies_do(members, tmp_path):
    policies = make_policies(members, "maporl")
    for seed, policy in enumerate(policies.slots.values()):
        stir(policy, seed)
    policies.write(tmp_path / "adapters")
    speaking = [replace(member, adapter=tmp_path / "adapters" / member.slot) for member in members]
    backend = LocalBackend(speaking, dtype="float32", resident="all", batch_size=64)
    assert backend.generate(requests(), SAMPLED) == policies.generate(requests(), SAMPLED)
    again = Policies(speaking, LORA, dtype="float32", seed=9, has_values=False, batch_size=64)
    assert again.generate(requests(), SAMPLED) == policies.generate(requests(), SAMPLED)
    again.write(tmp_path / "again")
    files = [path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*") if path.is_file()]
    assert len(files) == 6
    for file in files:
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / "adapters" / file).read_bytes()
        assert str(tmp_path).encode() not in (tmp_path / "again" / file).read_bytes()


def test_adapters_are_drawn_by_the_seed_and_the_slot(members):
    first, same, other = (make_policies(members, "magrpo", seed=seed) for seed in (0, 0, 1))

    def drawn(policies, slot):
        return torch.cat([weight.flatten() for weight in policies.slots[slot].adapter().values()])

    assert torch.equal(drawn(first, "a1"), drawn(same, "a1"))
    assert not torch.equal(drawn(first, "a1"), drawn(other, "a1"))
    assert not torch.equal(drawn(first, "a1"), drawn(first, "a3"))


def test_dropout_is_refused(members):
    with pytest.raises(ValueError, match=r"lora.dropout: 0.05 is not 0"):
        make_policies(members, "magrpo", lora=replace(LORA, dropout=0.05))


def test_a_model_without_the_layers_to_adapt_is_refused(members):
    with pytest.raises(ValueError, match="nowhere"):
        make_policies(members, "magrpo", lora=replace(LORA, target_modules=["nowhere"]))
