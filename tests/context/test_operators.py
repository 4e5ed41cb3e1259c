"""The other operators: what each gives the policy, and that what it uses is what its file says."""

import pytest
import torch

from slmcollab import choice
from slmcollab.context import no_cross_attention, none, prefix, routing, routing_hidden
from slmcollab.context.answer_block import append_answers
from slmcollab.context.operator import AdapterSettings, Shapes

SETTINGS = AdapterSettings(latent_dim=8, num_heads=2, m=3, context_position="end")
SHAPES = Shapes([5, 7], 6, 0.1)
CHAT = [{"role": "system", "content": "Think."}, {"role": "user", "content": "What is 3 + 4?"}]


def features(num_problems=4):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(num_problems, width, generator=generator) for width in SHAPES.expert_widths]


@pytest.mark.parametrize("name", sorted(choice.names(choice.OPERATOR)))
def test_an_operator_makes_what_it_says_it_uses(name):
    uses = choice.uses(name)
    made = choice.get(choice.OPERATOR, name).build(SETTINGS, SHAPES, 0)
    assert (made.adapter is not None) == ("adapter" in uses)
    assert (made.write is not None) == ("text" in uses)
    assert made.routes == ("router" in uses)
    assert uses == choice.get(choice.OPERATOR, name).USES


def test_an_operator_that_does_not_say_what_it_uses_is_refused(tmp_path, monkeypatch):
    (tmp_path / "context").mkdir()
    (tmp_path / "context/silent.py").write_text("def build(settings, shapes, seed):\n    pass\n")
    monkeypatch.setattr(choice, "__file__", str(tmp_path / "choice.py"))
    with pytest.raises(ValueError, match=r"silent\.py: no line `USES"):
        choice.uses("silent")


def test_none_gives_nothing():
    made = none.build(None, SHAPES, 0)
    assert (made.adapter, made.write, made.routes) == (None, None, False)


def test_answers_stand_in_a_numbered_block_below_the_question():
    assert append_answers(CHAT, ["7", " It is 8.\n"]) == [
        CHAT[0],
        {
            "role": "user",
            "content": "What is 3 + 4?\n\nAnswers of assistants:\n[1] 7\n[2] It is 8.\n\n"
            "Give your final answer in <answer> </answer> tags.",
        },
    ]
    assert CHAT[1]["content"] == "What is 3 + 4?"


def test_without_answers_the_chat_is_the_problem():
    assert append_answers(CHAT, []) == CHAT


def test_a_prefix_is_m_rows_whatever_the_problem():
    adapter = prefix.build(SETTINGS, SHAPES, 0).adapter
    context = adapter([])
    assert (adapter.m, context.tokens.shape, context.attention) == (3, (1, 3, 6), None)
    assert [weight.shape for weight in adapter.parameters()] == [(3, 6)]


def test_without_cross_attention_each_expert_is_one_token_and_reads_no_other():
    adapter, rows = no_cross_attention.build(SETTINGS, SHAPES, 0).adapter, features()
    tokens = adapter(rows).tokens
    assert (adapter.m, tokens.shape) == (2, (4, 2, 6))
    other = adapter([rows[0], rows[1] + 1]).tokens
    assert torch.equal(other[:, 0], tokens[:, 0])
    assert not torch.allclose(other[:, 1], tokens[:, 1])


def test_without_cross_attention_by_hand():
    adapter = no_cross_attention.build(AdapterSettings(2, 1, 9, "end"), Shapes([2, 2], 2, 1.0), 0).adapter
    with torch.no_grad():
        for parameter in adapter.parameters():
            parameter.zero_()
        for layer in adapter.align:
            layer.weight.copy_(torch.eye(2))
        adapter.feed_forward.norm.weight.fill_(1.0)
        adapter.feed_forward.to_policy.weight.copy_(torch.tensor([[1.0, 2.0], [0.0, 3.0]]))
        tokens = adapter([torch.tensor([[3.0, 4.0]]), torch.tensor([[4.0, -3.0]])]).tokens
    # FFN is 0; LayerNorm of (0.85, 1.13) is (-1, 1), of (1.13, -0.85) is (1, -1); to_policy: (-1 + 2, 3), (1 - 2, -3)
    torch.testing.assert_close(tokens, torch.tensor([[[1.0, 3.0], [-1.0, -3.0]]]), atol=1e-3, rtol=0)


def test_routed_hidden_states_are_m_tokens_per_expert_made_of_that_expert_alone():
    adapter, rows = routing_hidden.build(SETTINGS, SHAPES, 0).adapter, features()
    tokens = adapter(rows).tokens
    assert (adapter.m, tokens.shape) == (6, (4, 6, 6))
    other = adapter([rows[0], rows[1] + 1]).tokens
    assert torch.equal(other[:, :3], tokens[:, :3])
    assert not torch.allclose(other[:, 3:], tokens[:, 3:])


@pytest.mark.parametrize("operator", [no_cross_attention, prefix, routing_hidden])
def test_tokens_start_at_the_rms_of_the_embeddings(operator):
    settings, shapes = AdapterSettings(64, 4, 8, "end"), Shapes([5, 7], 512, 0.03)
    tokens = operator.build(settings, shapes, 0).adapter(features(32)).tokens
    assert tokens.square().mean().sqrt().item() == pytest.approx(0.03, rel=0.1)


def test_routing_shows_one_answer_as_text_does():
    assert routing.build(None, SHAPES, 0).write is append_answers
