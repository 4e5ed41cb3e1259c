"""What toys are taught about answering whole questions in a team without a protocol, alone or with others' replies.

A toy works out both facts of a question as it believes them: that is its reasoning. Its answer is what follows, unless
most of the replies that it reads, and at least two, give another: then it may take that. Its bad habits break the form
of what it says, which is left for reinforcement learning to repair.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import SLIPS, Believer
from slmcollab.benchmarks.toy_world import facts, solve, table_of, values
from slmcollab.graph.nodes import Node, Reply
from slmcollab.graph.prompt import GraphPrompt, messages
from slmcollab.protocol.response import MALFORMED, Fields, serialise
from slmcollab.protocol.toy_corpora import OTHER_SLIPS, RETRIED, SLIPS_BY_HABIT, Manners
from slmcollab.protocol.trajectory import TERMINATE
from slmcollab.seeding import python_generator

ANSWER, DEBATE = "answer", "debate"  # sections of the prompt: of a reply that reads no other, and of one that does
NONE, SOME, ANY = {0: 1}, {1: 1, 2: 8, 3: 3}, {0: 4, 1: 1, 2: 8, 3: 3}  # how many replies it reads, and how often
# What a reply that is read takes for the value of a fact (the truth, its reader's belief, an error that is the same in
# all of them, or any value), where replies mostly agree on an error, and where they do not; and the share of the first.
HERD, CROWD, HERDS = (0.1, 0.1, 0.7, 0.1), (0.5, 0.2, 0.1, 0.2), 0.65
SILENT = 0.12  # share of the replies read that could not be
# How a habit of breaking the protocol shows where there are no actions.
BROKEN = {"no_action": "unclosed", "self_handoff": "empty_answer", "two_actions": "acts"}

Solved = Sequence[tuple[str, str, str]]
Row = dict[str, Any]


def draft_rows(
    believer: Believer,
    manners: Manners,
    problems: Sequence[Problem],
    prompt: GraphPrompt,
    num_rows: int,
    data_seed: int,
    *,
    read: Mapping[int, int] = NONE,
) -> list[Row]:
    """Return rows {question, messages, completion} of one whole answer each; read: numbers of replies -> weight."""
    generator = python_generator(data_seed, "drafts", believer.name, *read)
    rows = []
    for _ in range(num_rows):
        problem = generator.choice(problems)
        replies = draw_replies(problem, believer, generator.choices(list(read), list(read.values()))[0], generator)
        complaint = MALFORMED if generator.random() < RETRIED else None
        node = Node("reader", "a1", DEBATE if replies else ANSWER)
        work, answer = think(believer, problem, replies if generator.random() < manners.yields else ())
        said = _said(Fields(work, answer), believer, manners.slips, generator)
        rows.append(row(prompt, node, problem, replies, said, complaint))
    return rows


def claim_rows(believer: Believer, manners: Manners, prompt: GraphPrompt, num_rows: int, data_seed: int) -> list[Row]:
    """Return rows on single facts, on most of which replies are read: a short lesson in whom to believe."""
    problems = [
        Problem(query, query, [{"role": "user", "content": query}], value, {"steps": [_step(query)]})
        for query, value in values().items()
    ]
    sound = Manners(slips=0, yields=manners.yields)
    return draft_rows(believer, sound, problems, prompt, num_rows, data_seed, read=ANY)


def _step(query: str) -> dict[str, str]:
    return {"query": query, "answer": "[value]"}


def row(
    prompt: GraphPrompt,
    node: Node,
    problem: Problem,
    replies: Sequence[Reply],
    said: str,
    complaint: str | None = None,
    slots: Sequence[str] = (),
) -> Row:
    """Return a row of what a node reads of a problem and these replies, as when a team is asked, and what it says."""
    heard = {reply.node.name: reply for reply in replies}
    node = Node(node.name, node.slot, node.kind, tuple(heard), texts=node.texts)
    read = messages(prompt, node, problem, heard, complaint, slots=slots)
    return {"question": problem.question, "messages": read, "completion": said}


def draw_replies(problem: Problem, believer: Believer, number: int, generator: random.Random) -> list[Reply]:
    """Return replies of others, right and wrong, some of which agree and some of which could not be read."""
    decoys: dict[str, str] = {}
    weights = HERD if generator.random() < HERDS else CROWD
    replies = []
    for place in range(number):
        node = Node(f"reply{place}", f"a{1 + place % 3}", ANSWER)
        if generator.random() < SILENT:
            replies.append(Reply(node, 0, "", "", "", MALFORMED))
            continue
        solved = solve(problem.metadata["steps"], lambda query: _drawn(query, believer, decoys, weights, generator))
        replies.append(Reply(node, 0, "", _reasoning(solved), solved[-1][2]))
    return replies


def think(believer: Believer, problem: Problem, replies: Sequence[Reply]) -> tuple[str, str]:
    """Return its reasoning, as it believes, and its answer: what most, and at least two, replies give, or its own.

    Answers that equally many give persuade nobody.
    """
    solved = solve(problem.metadata["steps"], believer.look_up)
    votes = Counter(reply.answer for reply in replies if reply.answer).most_common(2)
    (answer, most), (_, next_most) = [*votes, ("", 0), ("", 0)][:2]
    return _reasoning(solved), answer if most > max(1, next_most) else solved[-1][2]


def _reasoning(solved: Solved) -> str:
    return " ; ".join(f"{query} = {value}" for query, value, _ in solved)


def _drawn(
    query: str, believer: Believer, decoys: dict[str, str], weights: Sequence[float], generator: random.Random
) -> str:
    table = facts()[table_of(query)]
    others = sorted(set(table.values()))
    decoy = decoys.setdefault(query, generator.choice(others))
    drawn = table[query], believer.look_up(query), decoy, generator.choice(others)
    return generator.choices(drawn, weights)[0]


def _said(fields: Fields, believer: Believer, slips: float | int, generator: random.Random) -> str:
    """Return the text of a whole answer, broken where that is a habit about the last value of its reasoning."""
    query, value = fields.reasoning.split(" ; ")[-1].split(" = ")
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
