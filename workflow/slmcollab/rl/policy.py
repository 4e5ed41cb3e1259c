"""The policy with context: virtual token ids stand for the rows of C, so whatever moves ids moves C along with them.

A problem's slots are V + k·s .. V + (k+1)·s - 1, V being the number of rows of the policy's token embedding and s the
number of rows of all its choices. Padding, batching, key-value caches and scoring treat a slot like any id; only the
embedding, where it becomes a row of C, knows it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel

from slmcollab.context.operator import AdapterSettings, ContextTokens
from slmcollab.context.router import RouterSettings

ADAPTER = "context_adapter"  # the operator's adapter inside the policy, and so in its files


@dataclass(frozen=True)
class PolicySettings:
    """How the experts reach a policy; a part that the operator does not use is None.

    shuffled: features of another problem; answer_tokens: longest answer that is shown; shuffled_order: the answers of a
    train problem stand in an order drawn for it, unless a router picks one of them.
    """

    dtype: str
    experts: list[str]
    operator: str
    adapter: AdapterSettings | None
    pooling: str | None
    shuffled: bool
    answer_tokens: int | None
    shuffled_order: bool
    router: RouterSettings | None

    @classmethod
    def from_cell(cls, cell: dict[str, Any]) -> "PolicySettings":
        features, text = cell.get("features", {}), cell.get("text", {})
        return cls(
            dtype=cell["dtype"],
            experts=cell["experts"],
            operator=cell["operator"],
            adapter=AdapterSettings(**cell["adapter"]) if "adapter" in cell else None,
            pooling=features.get("pooling"),
            shuffled=features.get("shuffled", False),
            answer_tokens=text.get("answer_tokens"),
            shuffled_order=text.get("shuffled_order", False),
            router=RouterSettings(**cell["router"]) if "router" in cell else None,
        )


@dataclass(frozen=True)
class Context:
    """The virtual ids of one policy and what they stand for; features are frozen, and no part of any state dict.

    m: context tokens of one choice; num_choices: 1 unless a router picks one of several.
    """

    policy: PreTrainedModel
    features: list[Float[Tensor, "problem _"]]
    first_id: int
    m: int
    num_choices: int = 1

    def ids(self, row: int, choice: int = 0) -> list[int]:
        start = self.first_id + (row * self.num_choices + choice) * self.m
        return list(range(start, start + self.m))

    def read(self, rows: Int[Tensor, " problem"]) -> ContextTokens:
        """Return the context of the problems in `rows`, the tokens of all choices one after the other."""
        device = self.policy.device
        with torch.autocast(device.type, enabled=False):  # sampling runs without autocast: the same C in both
            return getattr(self.policy, ADAPTER)([feature[rows.cpu()].to(device) for feature in self.features])

    def attention(self, rows: Sequence[int]) -> Float[Tensor, "rollout context expert"] | None:
        """Return what the context tokens of `rows` draw from each expert, None where the operator does not say."""
        distinct, which = torch.unique(torch.tensor(rows), return_inverse=True)
        with torch.no_grad():
            attention = self.read(distinct).attention
        return None if attention is None else attention.cpu()[which]


def check_rotary(policy: PreTrainedModel) -> None:
    """Raise ValueError for a model whose positions are not rotary.

    Sampling counts positions from the first real token, training from the first padding: equal under rotations.
    """
    if not any("rotary" in module for module, _ in policy.named_modules()):
        raise ValueError(f"a {policy.config.model_type} model cannot be the policy: its positions are not rotary")


def attach_context(
    policy: PreTrainedModel, adapter: nn.Module, features: list[Float[Tensor, "problem _"]], num_choices: int = 1
) -> Context:
    """Make `adapter` part of `policy` and let virtual ids be embedded by it; zeros where PEFT's adapters are disabled.

    The reference policy is this policy with its adapters disabled: no LoRA, and zero rows at the same positions.
    """
    embedding = policy.get_input_embeddings()
    setattr(policy, ADAPTER, adapter.to(policy.device))
    context = Context(policy, features, embedding.num_embeddings, adapter.m // num_choices, num_choices)
    embed = embedding.forward

    def forward(input: Int[Tensor, "rollout token"]) -> Float[Tensor, "rollout token policy_width"]:
        is_virtual = input >= context.first_id
        if not is_virtual.any():
            return embed(input)
        embedded = embed(input.masked_fill(is_virtual, 0))
        if getattr(getattr(policy, ADAPTER), "disable_adapters", False):
            return embedded.masked_fill(is_virtual.unsqueeze(-1), 0.0)
        slots = input[is_virtual] - context.first_id
        # A group's completions share their problem's context: it is computed once.
        problems, which = torch.unique(slots // adapter.m, return_inverse=True)
        tokens = context.read(problems).tokens.to(embedded.dtype).expand(len(problems), -1, -1)
        return embedded.index_put((is_virtual,), tokens[which, slots % adapter.m])

    embedding.forward = forward
    return context


def embedding_rms(embedding: nn.Embedding) -> float:
    """Return the root mean square of what the embedding gives out, which some families scale."""
    with torch.no_grad():
        rows = embedding(torch.arange(embedding.num_embeddings, device=embedding.weight.device))
        return (torch.linalg.vector_norm(rows, dtype=torch.float32) / rows.numel() ** 0.5).item()
