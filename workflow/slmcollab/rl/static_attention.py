"""How far a trained policy's attention depends on the prompt, and the policy with attention frozen at its mean."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from peft import PeftModel
from torch import Tensor

from slmcollab.context.hidden_state import CrossAttention
from slmcollab.rl.policy import ADAPTER

CHUNK = 1024  # problems that go through the operator at once


def active_operator(policy: PeftModel) -> CrossAttention:
    """Return the operator that is in use, which PEFT keeps beside an untrained copy."""
    wrapper = getattr(policy.get_base_model(), ADAPTER)
    return wrapper.modules_to_save[wrapper.active_adapters[0]]


@torch.no_grad()
def attend(
    operator: CrossAttention, features: Sequence[Float[Tensor, "problem _"]]
) -> Float[Tensor, "problem head context expert"]:
    """Return the attention of every head for every problem, on the CPU in fp32."""
    device = operator.queries.device
    chunks = zip(*(rows.split(CHUNK) for rows in features), strict=True)
    return torch.cat([operator.attend([rows.to(device) for rows in chunk]).float().cpu() for chunk in chunks])


def prompt_variance_share(attention: Float[Tensor, "problem context expert"]) -> float | None:
    """Return which share of the attention's variance about equal shares lies between prompts, from 0 to 1.

    The rest is the static preference: the mean over prompts of each context token's attention to each expert. None
    where attention never leaves equal shares.
    """
    attention = attention.double()
    static = attention.mean(dim=0, keepdim=True)
    total = (attention - 1 / attention.shape[-1]).square().sum()
    return ((attention - static).square().sum() / total).item() if total > 0 else None


def freeze(
    policy: PeftModel,
    experts: Sequence[str],
    test: list[Float[Tensor, "problem _"]],
    train: list[Float[Tensor, "row _"]],
) -> dict[str, Any]:
    """Let `policy` attend to every problem as it does on the mean over train features; return how it attended before.

    shares: each expert's share of attention on the test problems, 0 to 1; prompt_variance_share: of the test too.
    """
    operator = active_operator(policy)
    measured = attend(operator, test).mean(dim=1)
    operator.frozen = attend(operator, train).mean(dim=0).to(operator.queries)
    shares = dict(zip(experts, measured.mean(dim=(0, 1)).tolist(), strict=True))
    return {"shares": shares, "prompt_variance_share": prompt_variance_share(measured)}
