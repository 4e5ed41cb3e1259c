"""What a toy model is taught about answering whole questions in a team without a protocol, alone or with others' replies.

It works out both facts of a question as it believes them. Where at least two of the replies that it reads give one fact
the same value, it may take that for its own: so a team whose members know different facts can put them together. Its
bad habits break the form of what it says, which is left for reinforcement learning to repair.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import SLIPS, Believer
from slmcollab.benchmarks.toy_world import facts, solve, table_of, values
from slmcollab.graph.nodes import Node, Question, Reply
from slmcollab.graph.prompt import GraphPrompt, messages
from slmcollab.protocol.response import MALFORMED, Fields, serialise
from slmcollab.protocol.toy_corpora import OTHER_SLIPS, RETRIED, SLIPS_BY_HABIT, Manners
from slmcollab.protocol.trajectory import TERMINATE
from slmcollab.seeding import python_generator

READ = {0: 6, 1: 1, 2: 8, 3: 3}  # how many replies a draft is written with, and how often
TRUE, ITS_OWN, DECOY, STRAY = 0.4, 0.15, 0.3, 0.15  # what a reply that is read takes for the value of a fact
SILENT = 0.12  # share of the replies read that could not be
# How a habit of breaking the protocol shows where there are no actions.
BROKEN = {"no_action": "unclosed", "self_handoff": "empty_answer", "two_actions": "acts"}

LookUp = Callable[[str], str]
Row = dict[str, Any]


def draft_rows(
    believer: Believer,
    manners: Manners,
    problems: Sequence[Problem],
    prompt: GraphPrompt,
    kinds: tuple[str, str],
    num_rows: int,
    data_seed: int,
) -> list[Row]:
    """Return rows {question, messages, completion} of one whole answer each.

    kinds: sections of the prompt, that of a draft that reads nothing and that of one that reads replies.
    """
    generator = python_generator(data_seed, "drafts", believer.name)
    rows = []
    for _ in range(num_rows):
        problem = generator.choice(problems)
        replies = draw_replies(problem, believer, generator.choices(list(READ), list(READ.values()))[0], generator)
        look_up = _persuaded(believer, replies) if generator.random() < manners.yields else believer.look_up
        complaint = MALFORMED if generator.random() < RETRIED else None
        read = read_with(prompt, kinds[bool(replies)], problem, replies, complaint)
        said = _said(problem, believer, look_up, manners.slips, generator)
        rows.append({"question": problem.question, "messages": read, "completion": said})
    return rows


def single_facts() -> list[Problem]:
    """Return each fact as a question of its own."""
    return [
        Problem(query, query, [{"role": "user", "content": query}], value, {"steps": [{"query": query, "answer": "[value]"}]})
        for query, value in values().items()
    ]


def read_with(
    prompt: GraphPrompt, kind: str, problem: Problem, replies: Sequence[Reply], complaint: str | None = None, **texts: str
) -> list[dict[str, str]]:
    """Return what a node of this kind reads of the problem and the replies, as when a team is asked."""
    said = {reply.node.name: reply for reply in replies}
    node = Node("reader", "a1", kind, tuple(said), texts=texts)
    return messages(prompt, node, problem, said, complaint)


def draw_replies(problem: Problem, believer: Believer, number: int, generator: random.Random) -> list[Reply]:
    """Return replies of others, right and wrong, some of which agree and some of which could not be read."""
    decoys: dict[str, str] = {}
    replies = []
    for place in range(number):
        node = Node(f"reply{place}", f"a{1 + place % 3}", "read")
        if generator.random() < SILENT:
            replies.append(Reply(node, 0, "", "", "", MALFORMED))
            continue
        solved = solve(problem.metadata["steps"], lambda query: _drawn(query, believer, decoys, generator))
        replies.append(Reply(node, 0, "", _reasoning(solved), solved[-1][2]))
    return replies


def _drawn(query: str, believer: Believer, decoys: dict[str, str], generator: random.Random) -> str:
    table = facts()[table_of(query)]
    others = sorted(set(table.values()))
    decoy = decoys.setdefault(query, generator.choice(others))
    values = table[query], believer.look_up(query), decoy, generator.choice(others)
    return generator.choices(values, (TRUE, ITS_OWN, DECOY, STRAY))[0]


def _persuaded(believer: Believer, replies: Sequence[Reply]) -> LookUp:
    """Return what it takes for a query's value: the one that most, and at least two, replies give, or its belief."""
    votes = Counter(claim for reply in replies for claim in reply.reasoning.split(" ; "))

    def look_up(query: str) -> str:
        values = sorted(set(facts()[table_of(query)].values()), key=lambda value: -votes[f"{query} = {value}"])
        most, next_most = (votes[f"{query} = {value}"] for value in values[:2])
        return values[0] if most > max(1, next_most) else believer.look_up(query)

    return look_up


def _said(problem: Problem, believer: Believer, look_up: LookUp, slips: float | int, generator: random.Random) -> str:
    """Return the text of a whole answer, broken where it is a habit about the last value."""
    solved = solve(problem.metadata["steps"], look_up)
    query, value, answer = solved[-1]
    fields = Fields(_reasoning(solved), answer)
    tempts = believer.temptation(query, value, slips)
    chance = SLIPS_BY_HABIT if tempts else OTHER_SLIPS * slips
    if generator.random() >= chance:
        return serialise(fields)
    kind = tempts or generator.choices(list(SLIPS), list(SLIPS.values()))[0]
    return _broken(fields, BROKEN.get(kind, kind))


def _broken(fields: Fields, kind: str) -> str:
    if kind == "empty_answer":
        return serialise(Fields(fields.reasoning, ""))
    if kind == "acts":
        return serialise(Fields(fields.reasoning, fields.answer, TERMINATE))
    return serialise(fields).replace("</reasoning>", "", 1)


def _reasoning(solved: Sequence[tuple[str, str, str]]) -> str:
    return " ; ".join(f"{query} = {value}" for query, value, _ in solved)
