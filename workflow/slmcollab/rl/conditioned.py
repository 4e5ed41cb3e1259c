"""A policy and how the experts reach it, from files: its model, its context, its prompts and its router."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from peft import PeftModel
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from slmcollab import choice, seeding
from slmcollab.artifacts import Problem
from slmcollab.context.operator import Operator, Shapes
from slmcollab.context.router import Router
from slmcollab.generation.greedy import generate_greedy
from slmcollab.models import chat, hub
from slmcollab.rl import exposed
from slmcollab.rl.policy import Context, PolicySettings, attach_context, check_rotary, embedding_rms
from slmcollab.rl.routing import Routing


@dataclass(frozen=True)
class Prompts:
    """The prompts of a split, each encoded when it is asked for: a job reads few of them more than once.

    answers: per problem, those of the experts in the order they are shown; position: where C stands, None without C.
    """

    tokenizer: PreTrainedTokenizerBase
    problems: Sequence[Problem]
    operator: Operator
    answers: Sequence[Sequence[str]]
    context: Context | None
    position: str | None

    @property
    def are_plain(self) -> bool:
        """Whether the operator adds nothing to the problems."""
        return self.context is None and self.operator.write is None

    def plain(self, row: int) -> list[int]:
        """Return the ids of the problem alone."""
        return chat.encode(self.tokenizer, self.problems[row].messages)

    def conditioned(self, row: int, choice: int = 0) -> list[int]:
        """Return the ids of [x ‖ C] (Eq. 3), with the answers in x; choice: the one expert heard, if one is routed."""
        messages, shown = self.problems[row].messages, self.answers[row]
        if self.operator.write:
            messages = self.operator.write(messages, [shown[choice]] if self.operator.routes else shown)
        if self.context is None:
            return chat.encode(self.tokenizer, messages)
        slots = self.context.ids(row, choice)
        if self.position == "end":
            return chat.encode(self.tokenizer, messages) + slots
        turn, header = chat.encode_parts(self.tokenizer, messages)
        return turn + slots + header


@dataclass(frozen=True)
class ConditionedPolicy:
    """A policy and how the experts reach it; context, routing: None where there is none."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    experts: list[str]
    context: Context | None
    routing: Routing | None
    prompts: Prompts

    @property
    def learned_router(self) -> Router | None:
        """The router if it is one that learns, None for a control and where nothing is routed."""
        return self.routing.router if self.routing and self.routing.settings.selection == "learned" else None

    def decided_prompts(self) -> list[list[int]]:
        """Return one prompt per problem: in evaluation the router takes its likeliest expert."""
        num_problems = len(self.prompts.problems)
        chosen = self.routing.decide(num_problems) if self.routing else [0] * num_problems
        return [self.prompts.conditioned(row, choice) for row, choice in enumerate(chosen)]

    def answer(self, model: PreTrainedModel | PeftModel, settings: dict[str, Any]) -> list[list[int]]:
        """Return the ids of `model`'s greedy answer to each problem; settings: max_new_tokens and batch_size."""
        how = {key: settings[key] for key in ("max_new_tokens", "batch_size")}
        return generate_greedy(model, self.tokenizer, self.decided_prompts(), **how)


def load_policy(
    manifest: Path,
    problems: Sequence[Problem],
    files: exposed.ExpertFiles,
    cell: dict[str, Any],
    *,
    seed: int,
    split: str,
) -> ConditionedPolicy:
    """Return the policy of `manifest` with an untrained operator, the cell's, over what experts expose of `split`."""
    settings = PolicySettings.from_cell(cell)
    weights = hub.weights(manifest)
    model, tokenizer = hub.load_model(weights, dtype=settings.dtype), hub.load_tokenizer(weights)
    shuffle = seeding.python_generator(seed, "shuffled", split) if settings.shuffled else None
    features = exposed.load_features(files.features, settings.experts, settings.pooling, problems, shuffle)
    answers = exposed.load_answers(files.answers, problems, tokenizer, settings.answer_tokens or 0)
    answers_by_problem = [list(row) for row in zip(*answers, strict=True)] or [[] for _ in problems]
    if settings.shuffled_order and settings.router is None and split == "train":
        for problem, row in zip(problems, answers_by_problem, strict=True):
            seeding.python_generator(seed, "order", problem.id).shuffle(row)
    return condition(
        model,
        tokenizer,
        problems,
        settings,
        features=features,
        answers=answers_by_problem,
        embeddings=exposed.load_embedding(files.embedding, settings.router and settings.router.encoder, problems),
        best=exposed.best_expert(files.expert_scores, settings.experts),
        seed=seed,
    )


def condition(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    problems: Sequence[Problem],
    settings: PolicySettings,
    *,
    features: list[Float[Tensor, "problem _"]],
    answers: Sequence[Sequence[str]],
    embeddings: Float[Tensor, "problem width"] | None,
    best: int | None,
    seed: int,
) -> ConditionedPolicy:
    """Give `model` the operator of `settings`; answers: per problem, those of the experts, in the order shown."""
    check_rotary(model)
    embedding = model.get_input_embeddings()
    shapes = Shapes([rows.shape[1] for rows in features], embedding.embedding_dim, embedding_rms(embedding))
    operator = choice.get(choice.OPERATOR, settings.operator).build(settings.adapter, shapes, seed)
    num_choices = len(settings.experts) if operator.routes else 1
    context = attach_context(model, operator.adapter, features, num_choices) if operator.adapter else None
    routing = None
    if operator.routes:
        router = Router(embeddings.shape[1], settings.router.router_width, num_choices, seed)
        routing = Routing(settings.router, router, embeddings, num_choices, best, seed)
    position = settings.adapter.context_position if settings.adapter else None
    prompts = Prompts(tokenizer, problems, operator, answers, context, position)
    return ConditionedPolicy(model, tokenizer, settings.experts, context, routing, prompts)
