"""An operator's settings and its start."""

import pytest
import torch

from slmcollab import choice
from slmcollab.context.operator import AdapterSettings, Shapes


def settings(**changes):
    return AdapterSettings(**({"latent_dim": 16, "num_heads": 4, "m": 3, "context_position": "end"} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context_position": "start"}, "context_position: 'start' is not one of before_header, end"),
        ({"latent_dim": 18}, "latent_dim a multiple of num_heads"),
        ({"m": 0}, "m=0"),
    ],
)
def test_settings_that_no_operator_can_have_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        settings(**changes)


@pytest.mark.parametrize("name", ["hidden_state", "no_cross_attention", "prefix", "routing_hidden"])
def test_weights_depend_on_the_seed_alone_and_leave_the_global_stream_alone(name):
    def weights(seed):
        adapter = choice.get(choice.OPERATOR, name).build(settings(), Shapes([5, 7], 6, 0.1), seed).adapter
        return torch.cat([weight.detach().flatten() for weight in adapter.parameters()])

    torch.manual_seed(1)
    first, after = weights(3), torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(after, torch.rand(1))
    torch.manual_seed(2)
    assert torch.equal(first, weights(3))
    assert not torch.equal(first, weights(4))
