"""Losses of single tokens by hand."""

import math

import pytest
import torch

from slmcollab.marl import losses


def row(*values):
    return torch.tensor([values], dtype=torch.float32)


def test_k3_is_zero_where_both_agree_and_never_negative():
    # log(q / p) = log 2: 2 - log 2 - 1. log(q / p) = -log 2: 0.5 + log 2 - 1.
    found = losses.k3(row(-1.0, -1.0, -1.0), row(-1.0, -1.0 + math.log(2), -1.0 - math.log(2)))
    assert found.tolist()[0] == pytest.approx([0.0, 1 - math.log(2), math.log(2) - 0.5])


def test_k3s_mean_is_the_kl():
    p, q = torch.tensor([0.7, 0.3]), torch.tensor([0.4, 0.6])
    found = (p * losses.k3(p.log().unsqueeze(0), q.log().unsqueeze(0))[0]).sum()
    assert found.item() == pytest.approx((p * (p / q).log()).sum().item())


def test_values_are_held_near_what_they_were():
    # V 1, R 0: 0.5. V moved from 0 to 1, held at 0.2; R 1: free 0, held 0.8² / 2 = 0.32. Held where it overshoots: 0.5.
    found = losses.value_loss(row(1.0, 1.0, 1.0), row(1.0, 0.0, 0.0), row(0.0, 1.0, 0.0), 0.2)
    assert found.tolist()[0] == pytest.approx([0.5, 0.32, 0.5])


def test_tokens_are_averaged_before_responses():
    per_token = torch.tensor([[1.0, 3.0, 100.0], [2.0, 2.0, 5.0]])
    is_trained = torch.tensor([[True, True, False], [True, True, True]])
    assert losses.response_means(per_token, is_trained).tolist() == [2.0, 3.0]


def test_what_is_not_trained_has_no_gradient_even_if_it_is_infinite():
    per_token = torch.tensor([[1.0, math.inf]], requires_grad=True)
    losses.response_means(per_token, torch.tensor([[True, False]])).sum().backward()
    assert per_token.grad.tolist() == [[1.0, 0.0]]


def test_whitening_is_over_all_batches():
    # 1, 3 and 5: mean 3, variance 8/3.
    rows, trained = [row(1.0, 3.0), row(5.0, 9.0)], [torch.tensor([[True, True]]), torch.tensor([[True, False]])]
    found = losses.whitened(rows, trained)
    assert found[0].tolist()[0] == pytest.approx([-2 / math.sqrt(8 / 3), 0.0])
    assert found[1].tolist()[0] == pytest.approx([2 / math.sqrt(8 / 3), 0.0])
    assert losses.whitened([row(0.5)], [torch.tensor([[True]])])[0].tolist() == [[0.0]]  # no NaN
