"""What a toy evaluator is taught: scripted collaborations, and the scores that its own beliefs give their steps."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.benchmarks.toy_world import facts, fill, table_of
from slmcollab.protocol.prompt import Prompt
from slmcollab.protocol.response import NO_ACTION, Fields, serialise
from slmcollab.protocol.trajectory import (
    ANOMALIES,
    CONTINUE,
    HANDOFF,
    STEP_LIMIT,
    TERMINATE,
    TERMINATED,
    Step,
    Trajectory,
)
from slmcollab.seeding import python_generator
from slmcollab.supervision.evaluator import evaluation_messages
from slmcollab.supervision.oracle import judge

SLOTS = ("a1", "a2", "a3")
MOST_STEPS = 4
WRONG, BROKEN, MISPLACED = 0.4, 0.15, 0.15  # shares of steps with a wrong value, without an action, with a bad one


def verdict_rows(
    believer: Believer,
    problems: Sequence[Problem],
    prompt: Prompt,
    num_rows: int,
    data_seed: int,
    *,
    longest: int = MOST_STEPS,
) -> list[dict[str, Any]]:
    """Return rows {question, messages, completion} of an evaluator that scores by what it believes.

    longest: steps of a collaboration, at most.
    """
    generator = python_generator(data_seed, "verdicts", believer.name)
    rows = []
    for _ in range(num_rows):
        problem = generator.choice(problems)
        trajectory = _collaborate(problem, believer, longest, generator)
        read = evaluation_messages(prompt, problem, trajectory, sees_gold=False)
        said = write_scores(judge(problem, trajectory, believer.look_up))
        rows.append({"question": problem.question, "messages": read, "completion": said})
    return rows


def write_scores(scores: Sequence[tuple[float, float]]) -> str:
    """Return a reply that `evaluator.parse_scores` reads as these scores."""
    lines = [f"step {n}: reasoning {pair[0]:g}, action {pair[1]:g}" for n, pair in enumerate(scores, start=1)]
    return "\n".join(["<scores>", *lines, "</scores>"])


def _collaborate(problem: Problem, believer: Believer, longest: int, generator: random.Random) -> Trajectory:
    steps: list[Step] = []
    slot, claimed = generator.choice(SLOTS), ""
    while len(steps) < longest:
        step = _step(problem.metadata["steps"][1 if claimed else 0], slot, claimed, believer, generator)
        steps.append(step)
        claimed = claimed or step.answer
        slot = step.target or slot
        if step.action == TERMINATE:
            return Trajectory(problem.id, 0, tuple(steps), TERMINATED)
        if len(steps) > 1 and steps[-1].anomaly and steps[-2].anomaly:
            return Trajectory(problem.id, 0, tuple(steps), ANOMALIES)
    return Trajectory(problem.id, 0, tuple(steps), STEP_LIMIT)


def _step(template: Mapping[str, str], slot: str, claimed: str, believer: Believer, generator: random.Random) -> Step:
    query = fill(template["query"], claimed)
    value = believer.look_up(query)
    if generator.random() < WRONG:
        value = generator.choice(sorted(set(facts()[table_of(query)].values()) - {value}))
    fields = f"{query} = {value}", fill(template["answer"], claimed, value)
    if generator.random() < BROKEN:
        return Step(slot, serialise(Fields(*fields)), *fields, None, anomaly=NO_ACTION)
    ends = bool(claimed) != (generator.random() < MISPLACED)
    target = None if ends or generator.random() < 0.2 else generator.choice([name for name in SLOTS if name != slot])
    action = TERMINATE if ends else CONTINUE if target is None else HANDOFF
    return Step(slot, serialise(Fields(*fields, action, target)), *fields, action, target)
