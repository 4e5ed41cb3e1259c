"""What a toy model that collaborates is taught: facts, steps of collaborations, and whole answers, as it believes them.

A believer knows a share of each kind of facts; of the rest it is consistently wrong. It may be taught bad habits, too:
responses about certain values then break the protocol, which is left for distillation to repair.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import SLIPS, Believer
from slmcollab.benchmarks.toy_world import FIRST, SECOND, facts, fill, solve, table_of
from slmcollab.protocol.prompt import Prompt, messages, task_text
from slmcollab.protocol.response import MALFORMED, NO_ACTION, Fields, serialise
from slmcollab.protocol.trajectory import CONTINUE, HANDOFF, TERMINATE, Step
from slmcollab.seeding import python_generator

TEAM, ALONE = ("a1", "a2", "a3"), ("a1",)
BROKEN, EMPTY = "broken", "empty"  # steps of its own that broke the protocol, with and without what they answered
# What stands on record when a slot speaks, and how often.
RECORDS = {(): 42, (FIRST,): 42, (FIRST, SECOND): 8, (BROKEN,): 5, (EMPTY,): 3}
SLIPS_BY_HABIT = 0.9  # share of the responses that slip about a value where it is a habit
OTHER_SLIPS = 0.2  # and about any other, as a part of the share of habits
RETRIED = 0.12  # share of steps that are a second attempt

Row = dict[str, Any]


@dataclass(frozen=True)
class Manners:
    """How it collaborates; all are shares, 0 to 1.

    slips: of a table's values about which it breaks the protocol by habit. continues: of first steps that it follows up
    itself. hasty: of first steps that terminate. doubts: of last steps that hand over instead. alone: of
    collaborations without teammates. strays: of earlier answers on record that are drawn at random, so that it reads
    what was said rather than recalls what it would have said. yields: of whole answers with which it takes up what most
    of the replies that it reads, and at least two, agree on; see slmcollab.supervision.toy_drafts.
    """

    slips: float | int = 0.0
    continues: float | int = 0.1
    hasty: float | int = 0.1
    doubts: float | int = 0.1
    alone: float | int = 0.15
    strays: float | int = 0.25
    yields: float | int = 0.8


def fact_rows(believer: Believer) -> list[Row]:
    """Return a row for each fact: the query, and reasoning and answer of a response to it."""
    queries = [query for table in facts().values() for query in table]
    return [
        _row(query, [{"role": "user", "content": query}], _fact(query, believer.look_up(query))) for query in queries
    ]


def solo_rows(believer: Believer, problems: Sequence[Problem], prompt: Prompt) -> list[Row]:
    """Return a row for each problem: both steps in one response, without an action."""
    rows = []
    for problem in problems:
        solved = solve(problem.metadata["steps"], believer.look_up)
        reasoning = " ; ".join(f"{query} = {value}" for query, value, _ in solved)
        read = messages(prompt, task_text(problem), [], ALONE[0], ALONE)
        rows.append(_row(problem.question, read, serialise(Fields(reasoning, solved[-1][2]))))
    return rows


def step_rows(
    believer: Believer, manners: Manners, problems: Sequence[Problem], prompt: Prompt, num_rows: int, data_seed: int
) -> list[Row]:
    """Return rows of one step each, at any place of a collaboration on one of the problems."""
    generator = python_generator(data_seed, "steps", believer.name)
    rows = []
    for _ in range(num_rows):
        problem = generator.choice(problems)
        slots = ALONE if generator.random() < manners.alone else TEAM
        slot = generator.choice(slots)
        record = generator.choices(list(RECORDS), list(RECORDS.values()))[0]
        steps = _on_record(record, problem, slot, slots, manners.strays, generator)
        complaint = NO_ACTION if generator.random() < RETRIED else None
        said = _next(believer, manners, problem, steps, slot, slots, generator)
        read = messages(prompt, task_text(problem), steps, slot, slots, complaint)
        rows.append(_row(problem.question, read, said))
    return rows


def _row(question: str, read: list[dict[str, str]], said: str) -> Row:
    return {"question": question, "messages": read, "completion": said}


def _fact(query: str, value: str) -> str:
    return serialise(Fields(f"{query} = {value}", value))


def _on_record(
    record: Sequence[str],
    problem: Problem,
    slot: str,
    slots: Sequence[str],
    strays: float | int,
    generator: random.Random,
) -> list[Step]:
    """Return the steps that `record` names, of which the last leaves the turn to `slot`."""
    steps: list[Step] = []
    for place, kind in enumerate(record):
        if kind == EMPTY:
            steps.append(Step(slot, "", "", "", None, anomaly=MALFORMED))
            continue
        template = problem.metadata["steps"][place]
        previous = steps[-1].answer if steps else ""
        query = fill(template["query"], previous)
        table = facts()[table_of(query)]
        value = generator.choice(sorted(set(table.values()))) if generator.random() < strays else table[query]
        fields = f"{query} = {value}", fill(template["answer"], previous, value)
        if kind == BROKEN:
            steps.append(Step(slot, "", *fields, None, anomaly=NO_ACTION))
        else:
            speaker = generator.choice(slots)
            action = (CONTINUE, None) if speaker == slot else (HANDOFF, slot)
            steps.append(Step(speaker, "", *fields, *action))
    return steps


def _next(
    believer: Believer,
    manners: Manners,
    problem: Problem,
    steps: Sequence[Step],
    slot: str,
    slots: Sequence[str],
    generator: random.Random,
) -> str:
    """Return the text of the slot's response."""
    first = next((step.answer for step in steps if step.answer), "")
    place = 1 if first else 0
    template = problem.metadata["steps"][place]
    query = fill(template["query"], first)
    value = believer.look_up(query)
    others = [other for other in slots if other != slot]
    ends = generator.random() < (1 - manners.doubts if place else manners.hasty)
    if ends:
        action = TERMINATE, None
    elif not others or (not place and generator.random() < manners.continues):
        action = CONTINUE, None
    else:
        action = HANDOFF, generator.choice(others)
    fields = Fields(f"{query} = {value}", fill(template["answer"], first, value), *action)
    tempts = believer.temptation(query, value, manners.slips)
    chance = SLIPS_BY_HABIT if tempts else OTHER_SLIPS * manners.slips
    return _slip(fields, slot, tempts, generator) if generator.random() < chance else serialise(fields)


def _slip(fields: Fields, slot: str, kind: str | None, generator: random.Random) -> str:
    """Return the text of the response broken in one of the ways of SLIPS, drawn where `kind` is None."""
    kind = kind or generator.choices(list(SLIPS), list(SLIPS.values()))[0]
    if kind == NO_ACTION:
        return serialise(Fields(fields.reasoning, fields.answer))
    if kind == "self_handoff":
        return serialise(Fields(fields.reasoning, fields.answer, HANDOFF, slot))
    if kind == "empty_answer":
        return serialise(Fields(fields.reasoning, "", TERMINATE))
    if kind == "unclosed":
        return serialise(fields).replace("</reasoning>", "", 1)
    return serialise(fields) + serialise(Fields("", "", CONTINUE)).removeprefix(serialise(Fields("", "")))
