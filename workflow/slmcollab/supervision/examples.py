"""Pairs of context and response, by the slot that gave the response (slices, 2.2.2: D_i of eq. 8 and 14)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slmcollab.artifacts import Problem
from slmcollab.generation.calls import Call
from slmcollab.protocol.prompt import Prompt, messages, task_text
from slmcollab.protocol.response import TRUNCATED
from slmcollab.protocol.trajectory import Trajectory


@dataclass(frozen=True)
class Example:
    """What a slot read and said in step `step` of a trajectory; reward: r of eq. 14, 1 for a demonstration.

    completion_ids: the response as it was sampled, with its end token if it had one; None where only its text is known.
    cut: whether its budget ended before it did.
    """

    messages: list[dict[str, str]]
    completion: str
    completion_ids: tuple[int, ...] | None
    reward: float
    trajectory: str
    step: int
    cut: bool = False


def examples(
    trajectories: Sequence[Trajectory],
    problems: Iterable[Problem],
    prompt: Prompt,
    slots: Sequence[str],
    rewards: Mapping[str, Sequence[float]] | None = None,
    calls: Iterable[Call] = (),
) -> dict[str, list[Example]]:
    """Return slot -> the steps in which it was active, in their order.

    Without rewards the steps are demonstrations, and anomalous ones are left out. With rewards, trajectory id -> r of
    each step, trajectories that have none are left out, and a step's sampled ids come from its last call among `calls`.
    Raises ValueError where rewards or a call do not fit their trajectory.
    """
    tasks = {problem.id: task_text(problem) for problem in problems}
    last_calls = {(call.qid, call.sample, call.step): call for call in calls}  # a retry comes after what it repeats
    found: dict[str, list[Example]] = {slot: [] for slot in slots}
    for trajectory in trajectories:
        if rewards is not None and trajectory.id not in rewards:
            continue
        given = [1.0] * len(trajectory.steps) if rewards is None else rewards[trajectory.id]
        if len(given) != len(trajectory.steps):
            raise ValueError(f"{trajectory.id}: {len(given)} rewards for {len(trajectory.steps)} steps")
        for index, (step, reward) in enumerate(zip(trajectory.steps, given, strict=True)):
            # ASSUME: a step at a second attempt is learned with the complaint that it read; the first attempt is not.
            # ASSUME: steps that break the protocol are refined by their reward like any other, but never demonstrated.
            if rewards is None and step.anomaly:
                continue
            read = messages(
                prompt, tasks[trajectory.problem], trajectory.steps[:index], step.slot, slots, step.complaint
            )
            ids = _sampled_ids(trajectory, index, last_calls)
            cut = step.anomaly == TRUNCATED
            found[step.slot].append(Example(read, step.text, ids, reward, trajectory.id, index, cut))
    return found


def _sampled_ids(
    trajectory: Trajectory, index: int, last_calls: Mapping[tuple[str, int, int], Call]
) -> tuple[int, ...] | None:
    """Return the ids that a step was sampled as, None where no call of it is known or its backend told none."""
    call = last_calls.get((trajectory.problem, trajectory.sample, index))
    if call is None:
        return None
    step = trajectory.steps[index]
    if (call.agent, call.text) != (step.slot, step.text):
        raise ValueError(f"{trajectory.id}: step {index} is not what its call {call.id} says")
    return call.output_ids
