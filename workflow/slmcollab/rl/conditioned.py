"""A policy and how the experts reach it, from files: its model, its context, its prompts and its router."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from slmcollab import choice, seeding
from slmcollab.artifacts import Problem
from slmcollab.context.operator import Operator, Shapes
from slmcollab.context.router import Router
from slmcollab.models import chat, hub
from slmcollab.rl import exposed
from slmcollab.rl.policy import Context, PolicySettings, attach_context, check_rotary, embedding_rms
from slmcollab.rl.routing import Routing


@dataclass(frozen=True)
class ConditionedPolicy:
    """prompts: per problem the ids of each choice, one unless a router picks among several; plain_prompts: per problem
    the ids of the problem alone, None where the experts add nothing; context, routing: None where there is none."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    experts: list[str]
    context: Context | None
    routing: Routing | None
    prompts: list[list[list[int]]]
    plain_prompts: list[list[int]] | None

    @property
    def learned_router(self) -> Router | None:
        """The router if it is one that learns, None for a control and where nothing is routed."""
        return self.routing.router if self.routing and self.routing.settings.selection == "learned" else None

    def decided_prompts(self) -> list[list[int]]:
        """Return one prompt per problem: in evaluation the router takes its likeliest expert."""
        chosen = self.routing.decide(len(self.prompts)) if self.routing else [0] * len(self.prompts)
        return [choices[which] for choices, which in zip(self.prompts, chosen, strict=True)]


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
    features = exposed.load_features(files.features, settings.pooling, problems, shuffle)
    answers = exposed.load_answers(files.answers, problems, tokenizer, settings.answer_tokens or 0)
    answers_by_problem = [list(row) for row in zip(*answers, strict=True)] or [[] for _ in problems]
    if settings.shuffled_order and split == "train":
        for problem, row in zip(problems, answers_by_problem, strict=True):
            seeding.python_generator(seed, "order", problem.id).shuffle(row)
    return condition(
        model,
        tokenizer,
        problems,
        settings,
        features=features,
        answers=answers_by_problem,
        embeddings=exposed.load_embedding(files.embedding, problems),
        best=exposed.best_expert(files.expert_scores),
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
    adds = context is not None or operator.write is not None
    plain = [chat.encode(tokenizer, problem.messages) for problem in problems] if adds else None
    position = settings.adapter.context_position if settings.adapter else None
    prompts = [
        [
            encode_prompt(tokenizer, problem, operator, given, context, (row, which), position)
            for which in range(num_choices)
        ]
        for row, (problem, given) in enumerate(zip(problems, answers, strict=True))
    ]
    routing = None
    if operator.routes:
        router = Router(embeddings.shape[1], settings.router.router_width, num_choices, seed)
        routing = Routing(settings.router, router, embeddings, num_choices, best, seed)
    return ConditionedPolicy(model, tokenizer, settings.experts, context, routing, prompts, plain)


def encode_prompt(
    tokenizer: PreTrainedTokenizerBase,
    problem: Problem,
    operator: Operator,
    answers: Sequence[str],
    context: Context | None,
    slot: tuple[int, int],
    position: str | None,
) -> list[int]:
    """Return the ids of the prompt [x ‖ C] (Eq. 3), answers in x and C at `position`; slot: the row of the problem and
    the choice, which where the operator routes is the one expert that is heard."""
    row, choice = slot
    shown = [answers[choice]] if operator.routes and answers else answers
    messages = operator.write(problem.messages, shown) if operator.write else problem.messages
    if context is None:
        return chat.encode(tokenizer, messages)
    if position == "end":
        return chat.encode(tokenizer, messages) + context.ids(row, choice)
    turn, header = chat.encode_parts(tokenizer, messages)
    return turn + context.ids(row, choice) + header
