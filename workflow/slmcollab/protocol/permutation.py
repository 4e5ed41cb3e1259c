"""Who plays whom: a trajectory of one team told as if another order of its slots had spoken (section 2.2.2)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from slmcollab.protocol.trajectory import HANDOFF, Step, Trajectory
from slmcollab.seeding import python_generator

# In a text with all fields it is the last; inside fields such a tag is escaped and so is no reference.
_TARGET = re.compile(rf"(?<=<action>)(\s*{HANDOFF}\()([^()<>]*)(?=\)\s*</action>)")


def draw(slots: Sequence[str], seed: int, trajectory_id: str) -> dict[str, str]:
    """Return slot -> slot that takes its part: a permutation, uniform over all, drawn for this one trajectory."""
    taken = list(slots)
    python_generator(seed, "permutation", trajectory_id).shuffle(taken)
    return dict(zip(slots, taken, strict=True))


def permute(trajectory: Trajectory, mapping: Mapping[str, str]) -> Trajectory:
    """Return the trajectory with slots, handoff targets and the actions in the texts changed together.

    Reasoning and answers stay to the letter, also where they mention a slot; so do order, anomalies and end. The
    contexts that follow from the steps change with them. Raises ValueError where mapping is no permutation of slots
    that covers the trajectory.
    """
    speakers = {step.slot for step in trajectory.steps}
    if mapping.keys() != set(mapping.values()) or not speakers <= mapping.keys():
        raise ValueError(f"{trajectory.id}: {dict(mapping)} is no permutation of the slots {sorted(speakers)}")
    return replace(trajectory, steps=tuple(_permute_step(step, mapping) for step in trajectory.steps))


def _permute_step(step: Step, mapping: Mapping[str, str]) -> Step:
    # ASSUME: a slot that a reasoning names keeps its name in a demonstration told for other slots: a1 may be algebra.
    text = _TARGET.sub(lambda found: found[1] + mapping.get(found[2], found[2]), step.text)
    target = None if step.target is None else mapping[step.target]
    return replace(step, slot=mapping[step.slot], text=text, target=target)
