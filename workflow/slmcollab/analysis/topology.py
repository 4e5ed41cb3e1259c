"""The shape of a trajectory: whether control ever returns to a slot that it left, and how long it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from slmcollab.protocol.trajectory import Trajectory

SHORT_LINEAR, LONG_LINEAR, SHORT_CYCLIC, LONG_CYCLIC = KINDS = (
    *("short_linear", "long_linear"),
    *("short_cyclic", "long_cyclic"),
)
MAX_SHORT_LINEAR, MAX_SHORT_CYCLIC = 2, 4  # recorded steps (section 3.5)


@dataclass(frozen=True)
class Topology:
    """The trajectories of one kind: how many, their share of all (0 to 1) and their mean number of recorded steps."""

    count: int
    share: float | None
    mean_steps: float | None


def kind(trajectory: Trajectory) -> str:
    """Return one of KINDS (paper, section 3.5).

    Linear: no slot is revisited after control left it; cyclic: one is. Raises ValueError where there are no steps.
    """
    # ASSUME: consecutive steps of one slot are one visit, but a trajectory's length counts all its recorded steps.
    if not trajectory.steps:
        raise ValueError(f"{trajectory.id}: a trajectory without steps has no shape")
    visits = [slot for slot, _ in groupby(step.slot for step in trajectory.steps)]
    if len(set(visits)) == len(visits):
        return SHORT_LINEAR if len(trajectory.steps) <= MAX_SHORT_LINEAR else LONG_LINEAR
    return SHORT_CYCLIC if len(trajectory.steps) <= MAX_SHORT_CYCLIC else LONG_CYCLIC


def topologies(trajectories: Sequence[Trajectory]) -> dict[str, Topology]:
    """Return all four kinds; share is None where there is no trajectory, mean_steps where there is none of the kind."""
    lengths: dict[str, list[int]] = {name: [] for name in KINDS}
    for trajectory in trajectories:
        lengths[kind(trajectory)].append(len(trajectory.steps))
    total = len(trajectories)
    return {
        name: Topology(len(found), len(found) / total if total else None, fmean(found) if found else None)
        for name, found in lengths.items()
    }
