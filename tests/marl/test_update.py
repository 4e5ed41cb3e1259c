"""One update phase: ratios that start at 1, and nothing learned where there is nothing to learn."""

import math
from dataclasses import replace

import pytest
import torch
from learners import LORA, loop_settings, make_policies

from slmcollab.marl.batches import Row, divide, pad
from slmcollab.marl.objectives import Grpo, Ppo
from slmcollab.marl.policies import Policies
from slmcollab.marl.update import update

GRPO, PPO = Grpo(0.2, 0.1), Ppo(0.2, 0.1, 0.1, 0.2, 1.0, 0.95)
MANY = [
    Row([3 + at % 3] * (1 + at % 4), [6] * (at % 3) + [7 + at % 4], (-1.0) ** at * (1 + at % 2)) for at in range(12)
]


def settings(**changes):
    return replace(loop_settings().update, **changes)


def copies(policy):
    return [weight.detach().clone() for weight in policy.weights]


@pytest.mark.parametrize(("name", "objective"), [("magrpo", GRPO), ("maporl", PPO)])
@pytest.mark.parametrize("micro_batch_size", [1, 5, 64])
def test_likelihood_ratios_start_at_exactly_1_and_the_kl_at_0(members, name, objective, micro_batch_size):
    policies = make_policies(members, name)
    for policy in policies.slots.values():
        found = update(policy, MANY, objective, settings(micro_batch_size=micro_batch_size), rate=0.01, seed=0)
        assert found["ratio_first"] == 0.0
        assert found["kl"] == 0.0  # LoRA starts as nothing
        assert found["clip_share"] == 0.0
        assert found["num_updates"] == 1
        again = update(policy, MANY, objective, settings(micro_batch_size=micro_batch_size), rate=0.01, seed=1)
        assert again["ratio_first"] == 0.0  # to the weights that sample now
        assert again["kl"] > 0


def test_epochs_and_mini_batches_are_updates_of_their_own(members):
    policy = make_policies(members, "maporl").slots["a1"]
    found = update(policy, MANY, PPO, settings(epochs=3, mini_batches=4), rate=0.05, seed=0)
    assert found["num_updates"] == 12
    assert found["clip_share"] > 0
    assert update(policy, MANY[:3], PPO, settings(epochs=1, mini_batches=8), rate=0.05, seed=0)["num_updates"] == 3


def test_only_the_slot_that_learns_changes(members):
    for name, objective in (("magrpo", GRPO), ("maporl", PPO)):
        policies = make_policies(members, name)
        before = {slot: copies(policy) for slot, policy in policies.slots.items()}
        frozen = {n: w.clone() for n, w in policies.slots["a1"].model.state_dict().items() if ".a1." not in n}
        update(policies.slots["a1"], MANY, objective, settings(epochs=2), rate=0.01, seed=0)
        now = policies.slots["a1"].model.state_dict()
        assert all(torch.equal(weight, now[name]) for name, weight in frozen.items())
        assert not all(map(torch.equal, before["a1"], copies(policies.slots["a1"])))
        for slot in ("a2", "a3"):
            assert all(map(torch.equal, before[slot], copies(policies.slots[slot])))
        if name == "maporl":
            assert policies.slots["a1"].values.weight.abs().sum() > 0


def test_what_earned_more_becomes_more_likely(members):
    policy = make_policies(members, "magrpo").slots["a1"]
    rows = [Row([3, 4], [8], 1.0), Row([3, 4], [9], -1.0)]
    batch = pad(rows, 0, "cpu")
    policy.switch_on()
    before = policy.score(batch, 1.0)[0].detach()
    update(policy, rows, Grpo(0.2, 0.0), settings(epochs=3), rate=0.01, seed=0)
    after = policy.score(batch, 1.0)[0].detach()
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_equal_rewards_change_nothing(members):
    policy = make_policies(members, "magrpo").slots["a1"]
    before = copies(policy)
    rows = [replace(row, credit=0.0) for row in MANY]
    found = update(policy, rows, GRPO, settings(), rate=0.01, seed=0)
    assert found["loss"] == 0.0
    assert all(map(torch.equal, before, copies(policy)))


def test_one_response_of_one_token_gives_no_nan(members):
    policy = make_policies(members, "maporl").slots["a1"]
    found = update(policy, [Row([3], [7], 1.0)], PPO, settings(epochs=2), rate=0.01, seed=0)
    assert all(math.isfinite(found[name]) for name in found)
    assert all(weight.isfinite().all() for weight in policy.weights)


def test_micro_batches_change_only_rounding(members):
    found = []
    for size in (1, 5, 64):
        policy = make_policies(members, "magrpo").slots["a2"]
        policy.switch_on(training=True)
        update(policy, MANY, GRPO, settings(micro_batch_size=size), rate=1e-3, seed=0)
        found.append(torch.cat([weight.flatten() for weight in copies(policy)]))
    # AdamW's first step is the gradient's sign: where that is rounding, weights may differ by two steps of 1e-3.
    for one in found[1:]:
        assert ((one - found[0]).abs() > 1e-5).float().mean() < 0.02


def test_half_precision_and_recomputed_activations_still_start_at_ratio_1(members):
    """As on a GPU: bf16 weights with fp32 LoRA, activations computed again in the backward pass."""
    for name, objective in (("magrpo", GRPO), ("maporl", PPO)):
        policies = Policies(members, LORA, dtype="bfloat16", seed=0, has_values=name == "maporl", batch_size=8)
        policy = policies.slots["a1"]
        assert policy.model.dtype == torch.bfloat16
        assert {weight.dtype for weight in policy.weights} == {torch.float32}
        policy.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        for _ in range(2):
            found = update(policy, MANY, objective, settings(micro_batch_size=5), rate=0.01, seed=0)
            assert found["ratio_first"] == 0.0
        assert found["kl"] > 0


def test_recomputing_activations_changes_no_bit(members):
    found = []
    for recompute in (False, True):
        policy = make_policies(members, "magrpo").slots["a2"]
        if recompute:
            policy.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        update(policy, MANY, GRPO, settings(epochs=2), rate=0.01, seed=0)
        found.append(copies(policy))
    assert all(map(torch.equal, *found))


def test_rows_are_dealt_out_once_each_by_the_seed_and_by_length():
    minis = divide(MANY, 5, 2, seed=1)
    assert sorted(sum(map(len, mini)) for mini in minis) == [2, 2, 2, 3, 3]
    dealt = [row for mini in minis for micro in mini for row in micro]
    assert sorted(map(repr, dealt)) == sorted(map(repr, MANY))
    for mini in minis:
        lengths = [len(row.prompt) + len(row.response) for micro in mini for row in micro]
        assert lengths == sorted(lengths, reverse=True)
        assert all(len(micro) <= 2 for micro in mini)
    assert minis == divide(MANY, 5, 2, seed=1)
    assert minis != divide(MANY, 5, 2, seed=2)


def test_a_loss_that_is_no_number_is_told(members):
    policy = make_policies(members, "magrpo").slots["a1"]
    with pytest.raises(ValueError, match="a1: the loss is nan: learn more slowly"):
        update(policy, [replace(row, credit=math.nan) for row in MANY], GRPO, settings(), rate=0.01, seed=0)


def test_padding_is_left_of_prompts_and_right_of_responses():
    batch = pad([Row([3, 4], [7], 0.5), Row([5], [6, 8], -1.0)], 0, "cpu")
    assert batch.ids.tolist() == [[3, 4, 7, 0], [0, 5, 6, 8]]
    assert batch.mask.tolist() == [[1, 1, 1, 0], [0, 1, 1, 1]]
    assert batch.said.tolist() == [[7, 0], [6, 8]]
    assert batch.is_trained.tolist() == [[True, False], [True, True]]
    assert batch.credits == [0.5, -1.0]
