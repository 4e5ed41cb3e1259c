"""All runs of a system on the questions that it shares with others, and how far apart two systems' seeds are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from slmcollab.analysis.claims.comparisons import Interval, mean_interval, welch
from slmcollab.analysis.claims.verdicts import NotRun
from slmcollab.analysis.slices_claims.measures import Ratio


@dataclass(frozen=True)
class Side:
    """All seeds of one system: sums over the shared questions of each task. sizes: their number; fixed: see Ratio."""

    over: Float[np.ndarray, "seed task"]
    under: Float[np.ndarray, "seed task"]
    sizes: Int[np.ndarray, " task"]
    fixed: bool

    @property
    def seeds(self) -> Float[np.ndarray, " seed"]:
        """Return each seed's ratio, without seeds that have nothing to count in."""
        over, under = self.over.sum(axis=1), self.under.sum(axis=1)
        return over[under > 0] / under[under > 0]

    @property
    def plain(self) -> bool:
        return bool((self.under == self.sizes).all())

    @property
    def questions(self) -> int:
        return int(self.sizes.sum())

    @property
    def values(self) -> Float[np.ndarray, " task"]:
        """Return each task's part in a plain mean: their mean is that over questions and seeds."""
        return self.over.mean(axis=0) * (len(self.sizes) / self.questions)


def sides(*systems: Sequence[Ratio]) -> tuple[list[Side], int]:
    """Return the systems on the questions that all their runs have, and how many tasks these are.

    A question without a task is one. Raises NotRun where no question is shared.
    """
    shared = set.intersection(*(set(run.questions) for system in systems for run in system))
    if not shared:
        raise NotRun("no question that all runs have")
    any_run = systems[0][0]
    named = zip(any_run.questions, any_run.tasks or any_run.questions, strict=True)
    tasks, places = np.unique([task for question, task in named if question in shared], return_inverse=True)
    found = []
    for system in systems:
        chosen = [[name in shared for name in run.questions] for run in system]
        over, under = (
            np.stack([np.bincount(places, getattr(run, side)[mask]) for run, mask in zip(system, chosen, strict=True)])
            for side in ("over", "under")
        )
        found.append(Side(over, under, np.bincount(places), all(run.fixed for run in system)))
    return found, len(tasks)


def between_seeds(
    before: Float[np.ndarray, " seed"], after: Float[np.ndarray, " other"], fixed: tuple[bool, bool]
) -> Interval | None:
    """Return the 95 % interval of after - before over seeds, None where noise between seeds is unknown.

    fixed: of both sides, whether all seeds are alike. One seed of a fixed side is a constant: the interval is Student's
    t of the other side's seeds around it, a point where both sides are constants. Else Welch's, of at least two seeds a
    side.
    """
    constant = [alike and len(side) == 1 for side, alike in zip((before, after), fixed, strict=True)]
    if all(constant):
        return (float(after[0] - before[0]),) * 2
    if any(constant):
        return mean_interval(after - before)[1]
    return welch(after, before) if min(len(before), len(after)) > 1 else None
