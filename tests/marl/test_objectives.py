"""What each token of a response is credited with."""

import pytest
import torch

from slmcollab.marl.objectives import Grpo, Measured, Ppo, Target

PPO = Ppo(clip=0.2, kl=0.1, value_weight=0.5, value_clip=0.2, gamma=1.0, gae_lambda=1.0)


def measured(sampler, reference, values, sizes, earned):
    width = len(sampler[0])
    is_trained = torch.arange(width) < torch.tensor(sizes).unsqueeze(1)
    values = None if values is None else torch.tensor(values)
    return Measured(is_trained, earned, torch.tensor(sampler), torch.tensor(reference), values)


def test_grpo_gives_each_token_the_advantage_of_its_response():
    was = measured([[-1.0, -2.0], [-1.0, 0.0]], [[-1.0, -2.0], [-1.0, 0.0]], None, [2, 1], [0.5, -0.25])
    (target,) = Grpo(0.2, 0.02).targets([was])
    assert target.advantages.tolist() == [[0.5, 0.5], [-0.25, -0.25]]
    assert target.returns is None


def test_grpo_adds_the_kl_to_the_base_model():
    # log(q / p) = -0.5: exp(-0.5) + 0.5 - 1 = 0.10653; 0.02 of it, beside the surrogate's -A = -2.
    was = measured([[-1.0]], [[-1.5]], None, [1], [2.0])
    objective = Grpo(0.2, 0.02)
    loss = objective.losses(torch.tensor([[-1.0]]), None, was, objective.targets([was])[0])
    assert loss.item() == pytest.approx(-2 + 0.02 * 0.1065307)
    assert Grpo(0.2, 0.0).losses(torch.tensor([[-1.0]]), None, was, objective.targets([was])[0]).item() == -2


def test_ppo_pays_kl_at_each_token_and_the_reward_at_the_last():
    # Tokens pay 0.1 · (log p - log q) = 0.1 · 0.5 and 0.1 · -1. Rewards: -0.05 and 0.1 + 0.8 = 0.9; V: 0.2 and 0.4.
    # lambda 1: A(0) = -0.05 + 0.9 - 0.2 = 0.65, A(1) = 0.9 - 0.4 = 0.5. The second row is one token: 0 + 0.3 - 0.1.
    was = measured(
        [[-1.0, -2.0], [-1.0, 0.0]], [[-1.5, -1.0], [-1.0, 7.0]], [[0.2, 0.4], [0.1, 9.0]], [2, 1], [0.8, 0.3]
    )
    (target,) = PPO.targets([was])
    mean, deviation = 0.45, (sum((one - 0.45) ** 2 for one in (0.65, 0.5, 0.2)) / 3) ** 0.5
    white = [(one - mean) / deviation for one in (0.65, 0.5, 0.2)]
    assert target.advantages[0].tolist() == pytest.approx(white[:2], abs=1e-4)
    assert target.advantages[1].tolist() == pytest.approx([white[2], 0.0], abs=1e-4)
    assert target.returns[0].tolist() == pytest.approx([0.85, 0.9])
    assert target.returns[1, 0].item() == pytest.approx(0.3)


def test_ppo_adds_the_loss_of_the_values():
    # Surrogate -1 · 1.5, and half of 0.5 · (0.2 - 0.8)² = 0.18.
    was = measured([[-1.0]], [[-1.0]], [[0.2]], [1], [0.8])
    target = Target(torch.tensor([[1.5]]), torch.tensor([[0.8]]))
    loss = PPO.losses(torch.tensor([[-1.0]]), torch.tensor([[0.2]]), was, target)
    assert loss.item() == pytest.approx(-1.5 + 0.5 * 0.18)
