"""Equations 8 and 14 and the clip, by hand and by autograd."""

import pytest
import torch
from torch import tensor

from slmcollab.supervision.clip import is_clipped
from slmcollab.supervision.losses import clipped_loss, reward_weighted_loss

LOG_PROBS = tensor([[0.0, -1.0, -2.0], [-0.5, 0.0, 0.0]])
IS_TRAINED = tensor([[False, True, True], [True, False, False]])


def test_eq_8_is_the_mean_over_examples_of_their_whole_negative_log_probability():
    # -((-1 - 2) + (-0.5)) / 2
    assert reward_weighted_loss(LOG_PROBS, tensor([1.0, 1.0]), 2) == pytest.approx(1.75)


def test_eq_14_weighs_each_example_by_its_reward_also_below_zero():
    # -(0.5 * -3 + -1 * -0.5) / 2
    assert reward_weighted_loss(LOG_PROBS, tensor([0.5, -1.0]), 2) == pytest.approx(0.5)


def test_parts_of_an_update_add_up_to_the_loss_of_all_of_it():
    rewards = tensor([0.5, -1.0])
    parts = [reward_weighted_loss(LOG_PROBS[i : i + 1], rewards[i : i + 1], 2) for i in range(2)]
    assert sum(parts) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("reward", "ratio", "gain", "binds"),
    [
        (1.0, 1.1, 1.1, False),
        (1.0, 1.5, 1.2, True),  # likely enough already
        (1.0, 0.5, 0.5, False),  # min(0.5, 0.8): what fell may come back
        (-1.0, 0.9, -0.9, False),
        (-1.0, 0.5, -0.8, True),  # unlikely enough already
        (-1.0, 1.5, -1.5, False),  # min(-1.5, -1.2): what rose may come down
        (0.5, 2.0, 0.6, True),
        (0.0, 2.0, 0.0, False),
    ],
)
def test_the_clip_of_one_token_for_both_signs(reward, ratio, gain, binds):
    sampler = tensor([[-1.0]])
    log_probs, trained = sampler + tensor(ratio).log(), tensor([[True]])
    assert clipped_loss(log_probs, sampler, trained, tensor([reward]), 1, 0.2) == pytest.approx(-gain, abs=1e-6)
    assert bool(is_clipped(log_probs, sampler, tensor([[reward]]), 0.2)) == binds


def test_where_the_clip_binds_no_gradient_is_left():
    sampler = tensor([[-1.0, -1.0]])
    log_probs = tensor([[-0.5, -1.0]], requires_grad=True)  # ratios e^0.5 = 1.65 and 1
    clipped_loss(log_probs, sampler, tensor([[True, True]]), tensor([1.0]), 1, 0.2).backward()
    assert log_probs.grad.tolist() == [[0.0, -1.0]]


def test_the_clip_counts_tokens_and_leaves_out_what_is_not_trained():
    sampler = LOG_PROBS.clone()
    # all ratios are 1, of three trained tokens: -(2 * 0.5 + 1 * -1) / 2
    assert clipped_loss(LOG_PROBS, sampler, IS_TRAINED, tensor([0.5, -1.0]), 2, 0.2) == pytest.approx(0.0)
    assert clipped_loss(LOG_PROBS, sampler, IS_TRAINED, tensor([0.5, 1.0]), 2, 0.2) == pytest.approx(-1.0)
    far = LOG_PROBS + 1
    assert is_clipped(far, sampler, tensor([[1.0], [1.0]]), 0.2)[IS_TRAINED].sum() == 3
    assert is_clipped(far, sampler, tensor([[1.0], [-1.0]]), 0.2)[IS_TRAINED].sum() == 2


def test_at_the_sampler_the_clipped_gradient_is_that_of_eq_14():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, 7, generator=generator, dtype=torch.double)
    tokens = torch.randint(7, (3, 5, 1), generator=generator)
    trained = torch.rand(3, 5, generator=generator) < 0.6
    rewards = tensor([0.7, -0.4, 1.0], dtype=torch.double)
    gradients = []
    for clip in (None, 0.2):
        leaf = logits.clone().requires_grad_()
        log_probs = leaf.log_softmax(-1).gather(2, tokens)[..., 0] * trained
        if clip is None:
            loss = reward_weighted_loss(log_probs, rewards, 3)
        else:
            loss = clipped_loss(log_probs, log_probs.detach(), trained, rewards, 3, clip)
        loss.backward()
        gradients.append(leaf.grad)
    assert gradients[0].abs().max() > 0.05
    assert torch.allclose(*gradients, atol=1e-12)
