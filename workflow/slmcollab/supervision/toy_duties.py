"""What the largest toy of a team is taught besides answering: roles, scores, picks, and answers written out."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.benchmarks.toy_world import fill
from slmcollab.graph.nodes import Node, Reply
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.protocol.response import Fields, serialise
from slmcollab.protocol.toy_corpora import TEAM
from slmcollab.seeding import python_generator
from slmcollab.supervision.toy_drafts import Row, draw_replies, row, think

SCORES = ("2", "5", "8", "10")  # by the number of the replies that answer as it does, 0 to 3


@dataclass(frozen=True)
class Duty:
    """A kind of node: the numbers of replies that it may read, and what the believer says of a problem and them."""

    kind: str
    read: tuple[int, ...]
    say: Callable[[Problem, Sequence[Reply], Believer], Fields]


def duty_rows(
    believer: Believer,
    problems: Sequence[Problem],
    agentverse: GraphPrompt,
    aflow: GraphPrompt,
    num_rows: int,
    data_seed: int,
) -> list[Row]:
    """Return rows {question, messages, completion} of the kinds of DUTIES, about as many of each."""
    generator = python_generator(data_seed, "duties", believer.name)
    return [
        _row(generator.choice(DUTIES), generator.choice(problems), believer, (agentverse, aflow), generator)
        for _ in range(num_rows)
    ]


def _row(
    duty: Duty, problem: Problem, believer: Believer, prompts: Sequence[GraphPrompt], generator: random.Random
) -> Row:
    prompt = next(prompt for prompt in prompts if duty.kind in prompt.sections)
    replies = draw_replies(problem, believer, generator.choice(duty.read), generator)
    said = serialise(duty.say(problem, replies, believer))
    return row(prompt, Node("duty", TEAM[-1], duty.kind), problem, replies, said, slots=TEAM)


def _recruit(problem: Problem, replies: Sequence[Reply], believer: Believer) -> Fields:
    """Give the first two slots one fact each to look up, and the last all of it."""
    queries = [fill(step["query"], "").strip() for step in problem.metadata["steps"]]
    roles = zip(TEAM, [*queries, "together"], strict=True)
    return Fields("", "\n".join(f"{slot}: {role}" for slot, role in roles))


def _evaluate(problem: Problem, replies: Sequence[Reply], believer: Believer) -> Fields:
    work, answer = think(believer, problem, replies)
    return Fields(work, SCORES[sum(reply.answer == answer for reply in replies)])


def _pick(problem: Problem, replies: Sequence[Reply], believer: Believer) -> Fields:
    """Name the first reply that answers as it does, else the first that could be read, else the first."""
    work, answer = think(believer, problem, replies)
    given = [reply.answer for reply in replies]
    readable = next((number for number, said in enumerate(given, start=1) if said), 1)
    return Fields(work, str(given.index(answer) + 1 if answer in given else readable))


def _extract(problem: Problem, replies: Sequence[Reply], believer: Believer) -> Fields:
    """Write out what the reply says, its own answer where that could not be read."""
    (reply,) = replies
    return Fields("", reply.answer) if reply.answer else Fields(*think(believer, problem, replies))


DUTIES = (
    Duty("recruit", (0,), _recruit),
    Duty("evaluate", (3,), _evaluate),
    Duty("ensemble", (2, 3), _pick),
    Duty("extract", (1,), _extract),
)
