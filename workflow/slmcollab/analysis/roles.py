"""What each slot does in a team: revise answers, hand control over, end the trajectory, give the final answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slmcollab.analysis.rates import Rate, rate
from slmcollab.protocol.trajectory import HANDOFF, TERMINATE, Step, Trajectory
from slmcollab.scoring.equality import plain


@dataclass(frozen=True)
class Role:
    """One slot: its steps; revision, of those after an earlier answer; handoff and termination, of all its steps.

    final_answer: the questions whose final answer it gave, of all questions.
    """

    steps: int
    revision: Rate
    handoff: Rate
    termination: Rate
    final_answer: Rate


def roles(
    trajectories: Sequence[Trajectory], slots: Sequence[str], equal: Callable[[str], str] = plain
) -> dict[str, Role]:
    """Return slot -> Role in the order of `slots` (paper, section 3.5).

    equal: answers that it maps to one text are one answer. A revision is an answer that differs from the last non-empty
    one before it; the steps that could be one have such an answer before them, an empty answer revises nothing. Raises
    ValueError for a step of another slot.
    """
    # ASSUME: a handoff or termination counts where it took effect, so not in a step that broke the protocol.
    steps: dict[str, list[Step]] = {slot: [] for slot in slots}
    revised: dict[str, list[bool]] = {slot: [] for slot in slots}
    final: list[str | None] = []
    for trajectory in trajectories:
        earlier = ""
        for step in trajectory.steps:
            if step.slot not in steps:
                raise ValueError(f"{trajectory.id}: slot {step.slot!r} is none of {list(slots)}")
            steps[step.slot].append(step)
            if earlier:
                revised[step.slot].append(step.answer != "" and equal(step.answer) != equal(earlier))
            earlier = step.answer or earlier
        answering = trajectory.answering
        final.append(None if answering is None else trajectory.steps[answering].slot)
    return {
        slot: Role(
            steps=len(own),
            revision=rate(revised[slot]),
            handoff=rate(step.action == HANDOFF and step.anomaly is None for step in own),
            termination=rate(step.action == TERMINATE and step.anomaly is None for step in own),
            final_answer=rate(speaker == slot for speaker in final),
        )
        for slot, own in steps.items()
    }
