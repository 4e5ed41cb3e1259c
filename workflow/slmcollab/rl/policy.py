"""The policy with context: virtual token ids stand for the rows of C, so whatever moves ids moves C along with them.

Slot j of problem k is the id V + k·m + j, V being the number of rows of the policy's token embedding. Padding,
batching, key-value caches and scoring treat it like any id; only the embedding, where it becomes a row of C, knows it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from slmcollab import choice, seeding
from slmcollab.artifacts import Problem
from slmcollab.context.operator import AdapterSettings, ContextTokens
from slmcollab.models import chat, hub
from slmcollab.rl.features import load_features

ADAPTER = "context_adapter"  # the operator's name inside the policy, and so in its files


@dataclass(frozen=True)
class Context:
    """The virtual ids of one policy and what they stand for; features are frozen, and no part of any state dict."""

    policy: PreTrainedModel
    features: list[Float[Tensor, "problem _"]]
    first_id: int
    m: int

    def ids(self, row: int) -> list[int]:
        return list(range(self.first_id + row * self.m, self.first_id + (row + 1) * self.m))

    def read(self, rows: Int[Tensor, " problem"]) -> ContextTokens:
        """Return the context of the problems in `rows`."""
        device = self.policy.device
        with torch.autocast(device.type, enabled=False):  # sampling runs without autocast: the same C in both
            return getattr(self.policy, ADAPTER)([feature[rows.cpu()].to(device) for feature in self.features])

    def attention(self, rows: Sequence[int]) -> Float[Tensor, "rollout context expert"] | None:
        """Return what the context tokens of `rows` draw from each expert, None where the operator does not say."""
        distinct, which = torch.unique(torch.tensor(rows), return_inverse=True)
        with torch.no_grad():
            attention = self.read(distinct).attention
        return None if attention is None else attention.cpu()[which]


def attach_operator(
    policy: PreTrainedModel,
    name: str,
    settings: AdapterSettings | None,
    features: list[Float[Tensor, "problem _"]],
    seed: int,
) -> Context | None:
    """Give `policy` the operator `name` over `features`; return its context, or None where the operator has none."""
    if not any("rotary" in module for module, _ in policy.named_modules()):
        # Sampling counts positions from the first real token, training from the first padding: equal under rotations.
        raise ValueError(f"a {policy.config.model_type} model cannot be the policy: its positions are not rotary")
    embedding = policy.get_input_embeddings()
    adapter = choice.get(choice.OPERATOR, name).build(
        settings,
        expert_widths=[feature.shape[1] for feature in features],
        policy_width=embedding.embedding_dim,
        embedding_rms=_rms(embedding),
        seed=seed,
    )
    return None if adapter is None else attach_context(policy, adapter, features)


def attach_context(policy: PreTrainedModel, adapter: nn.Module, features: list[Float[Tensor, "problem _"]]) -> Context:
    """Make `adapter` part of `policy` and let virtual ids be embedded by it; zeros where PEFT's adapters are disabled.

    The reference policy is this policy with its adapters disabled: no LoRA, and zero rows at the same positions.
    """
    embedding = policy.get_input_embeddings()
    setattr(policy, ADAPTER, adapter.to(policy.device))
    context = Context(policy, features, embedding.num_embeddings, adapter.m)
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
        problems, which = torch.unique(slots // context.m, return_inverse=True)
        tokens = context.read(problems).tokens.to(embedded.dtype)
        return embedded.index_put((is_virtual,), tokens[which, slots % context.m])

    embedding.forward = forward
    return context


def _rms(embedding: nn.Embedding) -> float:
    """Return the root mean square of what the embedding gives out, which some families scale."""
    with torch.no_grad():
        rows = embedding(torch.arange(embedding.num_embeddings, device=embedding.weight.device))
        return (torch.linalg.vector_norm(rows, dtype=torch.float32) / rows.numel() ** 0.5).item()


def prompt_ids(
    tokenizer: PreTrainedTokenizerBase, problems: Sequence[Problem], position: str | None, context: Context | None
) -> list[list[int]]:
    """Return each problem's prompt [x ‖ C] (Eq. 3) with C at `position`, or x alone without a context."""
    if context is None:
        return [chat.encode(tokenizer, problem.messages) for problem in problems]
    if position == "end":
        return [chat.encode(tokenizer, problem.messages) + context.ids(row) for row, problem in enumerate(problems)]
    parts = [chat.encode_parts(tokenizer, problem.messages) for problem in problems]
    return [turn + context.ids(row) + header for row, (turn, header) in enumerate(parts)]


@dataclass(frozen=True)
class PolicySettings:
    """What a policy is made of; adapter and pooling are None without a team. shuffled: features of another problem."""

    dtype: str
    experts: list[str]
    operator: str
    adapter: AdapterSettings | None
    pooling: str | None
    shuffled: bool

    @classmethod
    def from_cell(cls, cell: dict[str, Any]) -> "PolicySettings":
        features = cell.get("features", {})
        adapter = AdapterSettings(**cell["adapter"]) if "adapter" in cell else None
        return cls(
            dtype=cell["dtype"],
            experts=cell["experts"],
            operator=cell["operator"],
            adapter=adapter,
            pooling=features.get("pooling"),
            shuffled=features.get("shuffled", False),
        )


@dataclass(frozen=True)
class ConditionedPolicy:
    """A policy, its context (None without one), and the prompt ids of each problem, with the context and without."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    experts: list[str]
    context: Context | None
    prompts: list[list[int]]
    plain_prompts: list[list[int]] | None


def load_policy(
    manifest: Path,
    problems: Sequence[Problem],
    features: Sequence[Path],
    settings: PolicySettings,
    *,
    seed: int,
    split: str,
) -> ConditionedPolicy:
    """Return the policy of `manifest` with an untrained operator over the features of the problems of `split`."""
    shuffle = seeding.python_generator(seed, "shuffled", split) if settings.shuffled else None
    rows = load_features(features, settings.pooling, problems, shuffle)
    weights = hub.weights(manifest)
    model, tokenizer = hub.load_model(weights, dtype=settings.dtype), hub.load_tokenizer(weights)
    context = attach_operator(model, settings.operator, settings.adapter, rows, seed)
    plain = prompt_ids(tokenizer, problems, None, None)
    if context is None:
        return ConditionedPolicy(model, tokenizer, settings.experts, None, plain, None)
    prompts = prompt_ids(tokenizer, problems, settings.adapter.context_position, context)
    return ConditionedPolicy(model, tokenizer, settings.experts, context, prompts, plain)
