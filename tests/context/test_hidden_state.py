"""The cross-attention operator, with numbers worked out by hand."""

import pytest
import torch

from slmcollab.context import hidden_state
from slmcollab.context.operator import AdapterSettings, Shapes, unit_rms


def build(expert_widths=(5, 7, 9), policy_width=6, latent_dim=16, num_heads=4, m=3, rms=0.1, seed=0):
    settings = AdapterSettings(latent_dim, num_heads, m, "before_header")
    return hidden_state.build(settings, Shapes(expert_widths, policy_width, rms), seed).adapter


def features(num_problems, expert_widths=(5, 7, 9)):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(num_problems, width, generator=generator) for width in expert_widths]


def test_unit_rms():
    # (3, 4): mean square 12.5, root 3.5355; 3 / 3.5355 = 0.8485, 4 / 3.5355 = 1.1314
    scaled = unit_rms(torch.tensor([[3.0, 4.0], [-30.0, 40.0]]))
    torch.testing.assert_close(scaled, torch.tensor([[0.8485, 1.1314], [-0.8485, 1.1314]]), atol=1e-4, rtol=0)


def test_one_query_over_two_experts_by_hand():
    adapter = build(expert_widths=(2, 2), policy_width=2, latent_dim=2, num_heads=1, m=1)
    with torch.no_grad():
        for parameter in adapter.parameters():
            parameter.zero_()
        for layer in adapter.align:
            layer.weight.copy_(torch.eye(2))
        adapter.queries.copy_(torch.tensor([[1.0, 0.0]]))
        adapter.attention.in_proj_weight.copy_(torch.eye(2).repeat(3, 1))
        adapter.attention.out_proj.weight.copy_(torch.eye(2))
        adapter.attention_norm.weight.fill_(1.0)
        adapter.feed_forward.norm.weight.fill_(1.0)
        adapter.feed_forward.to_policy.weight.copy_(torch.tensor([[1.0, 2.0], [0.0, 3.0]]))
        context = adapter([torch.tensor([[3.0, 4.0]]), torch.tensor([[-4.0, 3.0]])])
    # v_1 = (0.8485, 1.1314), v_2 = (-1.1314, 0.8485); q·v/√2 = 0.6 and -0.8; softmax: 1 / (1 + e^-1.4) = 0.80218
    torch.testing.assert_close(context.attention, torch.tensor([[[0.80218, 0.19782]]]), atol=1e-4, rtol=0)
    # read = 0.80218 v_1 + 0.19782 v_2 = (0.4569, 1.0755); plus q = (1.4569, 1.0755); LayerNorm of two values: (1, -1);
    # FFN is 0, LayerNorm again (1, -1); to_policy: (1 - 2, -3)
    torch.testing.assert_close(context.tokens, torch.tensor([[[-1.0, -3.0]]]), atol=1e-3, rtol=0)


def test_attention_is_a_distribution_over_the_experts_for_each_token():
    context = build()(features(4))
    assert context.tokens.shape == (4, 3, 6)
    assert context.attention.shape == (4, 3, 3)
    torch.testing.assert_close(context.attention.sum(-1), torch.ones(4, 3))
    assert (context.attention > 0).all()


def test_tokens_start_at_the_rms_of_the_embeddings():
    adapter = build(policy_width=512, latent_dim=64, m=8, rms=0.03)
    assert adapter(features(32)).tokens.square().mean().sqrt().item() == pytest.approx(0.03, rel=0.1)


def test_context_ignores_the_scale_of_features_and_the_other_problems():
    adapter, rows = build(), features(4)
    whole = adapter(rows).tokens
    alone = adapter([1000 * rows[0][1:2], rows[1][1:2], 0.01 * rows[2][1:2]]).tokens
    torch.testing.assert_close(alone, whole[1:2])


def test_each_expert_matters_through_its_own_map():
    adapter, rows = build(expert_widths=(5, 5)), features(1, (5, 5))
    assert not torch.allclose(adapter(rows).tokens, adapter(rows[::-1]).tokens)


def test_heads_average_to_the_attention_that_is_reported():
    adapter, rows = build(), features(4)
    by_head = adapter.attend(rows)
    assert by_head.shape == (4, 4, 3, 3)
    torch.testing.assert_close(by_head.mean(dim=1), adapter(rows).attention)


def test_frozen_at_its_own_attention_nothing_changes():
    adapter, rows = build(), features(1)
    free = adapter(rows)
    adapter.frozen = adapter.attend(rows)[0]
    frozen = adapter(rows)
    torch.testing.assert_close(frozen.tokens, free.tokens)
    torch.testing.assert_close(frozen.attention, free.attention)


def test_frozen_attention_is_the_same_for_every_problem_and_values_are_still_read():
    adapter, rows = build(), features(4)
    adapter.frozen = torch.tensor([0.0, 1.0, 0.0]).expand(4, 3, 3)  # the second expert alone
    context = adapter(rows)
    assert torch.equal(context.attention, torch.tensor([0.0, 1.0, 0.0]).expand(4, 3, 3))
    torch.testing.assert_close(adapter([rows[0] + 1, rows[1], rows[2] * 3 + 1]).tokens, context.tokens)
    assert not torch.allclose(adapter([rows[0], rows[1].flip(0), rows[2]]).tokens, context.tokens)
