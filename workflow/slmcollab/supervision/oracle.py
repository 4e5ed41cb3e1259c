"""The true quality of steps in the toy world, by rule: what a learned evaluator is measured against, or replaced by."""

from collections.abc import Callable, Sequence

from slmcollab.artifacts import Problem
from slmcollab.benchmarks import toy_world
from slmcollab.protocol.trajectory import TERMINATE, Step, Trajectory


def knows(problem: Problem) -> bool:
    """Tell whether a problem is of the toy world, whose questions say which look-ups they need."""
    return "steps" in problem.metadata


def judge(
    problem: Problem, trajectory: Trajectory, look_up: Callable[[str], str | None] | None = None
) -> list[tuple[float, float]]:
    """Return (s_rea, s_act) of each step, each -1, 0 or 1; what is true is what `look_up` says, the truth by default.

    s_rea: 1 where reasoning and answer are a look-up that the question needs, with its true value, given what was
    claimed before, true or not; 0 where a step says nothing; else -1. s_act: 1 where the action fits, which is to
    terminate with the question's last step and not before; -1 where it does not, or the protocol is broken. Raises
    ValueError for a problem of another world.
    """
    if not knows(problem):
        raise ValueError(f"{problem.id}: the oracle judges toy benchmarks only, whose problems have metadata.steps")
    look_up = look_up or toy_world.values().get
    claimed, scores = "", []
    for step in trajectory.steps:
        place, is_right = _claim(step, problem.metadata["steps"], claimed, look_up)
        is_silent = not step.reasoning and not step.answer
        reasoning = 0.0 if is_silent else 1.0 if is_right else -1.0
        fits = step.anomaly is None and (step.action == TERMINATE) == (place == 1)
        scores.append((reasoning, 1.0 if fits else -1.0))
        if place == 0 and step.answer:
            claimed = step.answer
    return scores


def _claim(
    step: Step, templates: Sequence[toy_world.Step], claimed: str, look_up: Callable[[str], str | None]
) -> tuple[int | None, bool]:
    """Return which of the question's look-ups a step made, None for none of them, and whether it is right.

    claimed: the answer of the first look-up as it stands on record, "" where there is none.
    """
    for place in (1, 0) if claimed else (0,):
        query = toy_world.fill(templates[place]["query"], claimed)
        before, sign, value = step.reasoning.rpartition(" = ")
        if sign and before == query:
            answer = toy_world.fill(templates[place]["answer"], claimed, value)
            is_known = query in toy_world.values()
            return place, is_known and look_up(query) == value and step.answer == answer
    return None, False
