"""The clip, by hand."""

import pytest
import torch

from slmcollab.supervision.clip import is_clipped, surrogate


def row(*values):
    return torch.tensor([values], dtype=torch.float32)


RATIOS = row(1.0, 1.5, 0.5, 1.5, 0.5).log()
ADVANTAGES = row(2.0, 2.0, 2.0, -2.0, -2.0)


def test_the_surrogate_takes_the_smaller_gain():
    # 2; min(3, 1.2 · 2) = 2.4; min(1, 0.8 · 2) = 1; min(-3, -2.4) = -3; min(-1, -1.6) = -1.6.
    found = surrogate(RATIOS, torch.zeros(1, 5), ADVANTAGES, 0.2)
    assert found.tolist()[0] == pytest.approx([-2.0, -2.4, -1.0, 3.0, 1.6])
    assert is_clipped(RATIOS, torch.zeros(1, 5), ADVANTAGES, 0.2).tolist() == [[False, True, False, False, True]]


def test_at_ratio_1_the_surrogates_gradient_is_that_of_the_log_probability():
    log_probs = row(-0.3, -2.0).requires_grad_()
    surrogate(log_probs, log_probs.detach(), row(1.5, -0.5), 0.2).sum().backward()
    assert log_probs.grad.tolist() == [[-1.5, 0.5]]
