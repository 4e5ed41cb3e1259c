"""The data of Figure 5 of slices: the shapes of collaboration before and after training."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from slmcollab.analysis.slices_claims.evidence import CL, NO_TRAINING, Run
from slmcollab.analysis.topology import KINDS, Topology
from slmcollab.report.tables import format_number

COLUMNS = ("benchmark", "method", "when", "step_scorer", "topology", "seed", "count", "share", "mean_steps")
WHEN = {NO_TRAINING: "before", CL: "after"}
Shape = Mapping[str, Topology]  # kind -> of one run's trajectories


@dataclass(frozen=True)
class Shapes:
    """One panel: method -> seed -> its kinds of trajectory; a method without seeds was not run."""

    benchmark: str
    seeds: Mapping[str, Mapping[int, Shape]]

    def share(self, method: str, kind: str) -> float | None:
        """Return the mean over seeds of a kind's share (0 to 1), None for no seed."""
        shares = [shape[kind].share for shape in self.seeds[method].values() if shape[kind].share is not None]
        return fmean(shares) if shares else None

    def mean_steps(self, method: str, kind: str) -> float | None:
        """Return the mean over the seeds that have such trajectories of their mean number of steps, None for none."""
        found = [shape[kind].mean_steps for shape in self.seeds[method].values() if shape[kind].count]
        return fmean(found) if found else None


def shapes(found: Mapping[Run, Shape]) -> list[Shapes]:
    """Return a panel per benchmark in the order of the runs of cl_no_training and cl; raises ValueError for none.

    found: run -> what `topologies` says of its trajectories.
    """
    if not found or any(run.method not in WHEN for run in found):
        raise ValueError(f"runs of {sorted({run.method for run in found})}, expected some of {list(WHEN)}")
    return [
        Shapes(
            benchmark,
            {
                method: {run.seed: shape for run, shape in found.items() if run[:2] == (benchmark, method)}
                for method in WHEN
            },
        )
        for benchmark in dict.fromkeys(run.benchmark for run in found)
    ]


def figure5_rows(panels: Sequence[Shapes], scorers: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Return a row per kind and seed, and one for the mean over seeds; share is 0 to 1, with six decimals.

    Empty: mean_steps where there is no such trajectory, the mean's count, and what was not run.
    """
    for panel in panels:
        for method, seeds in panel.seeds.items():
            for kind in KINDS:
                of = [
                    (str(seed), str(one[kind].count), one[kind].share, one[kind].mean_steps)
                    for seed, one in seeds.items()
                ]
                mean = ("mean", "", panel.share(method, kind), panel.mean_steps(method, kind))
                for seed, count, share, steps in [*of, mean]:
                    numbers = (count, format_number(share, 6), format_number(steps, 6))
                    row = (panel.benchmark, method, WHEN[method], scorers.get(method, ""), kind, seed, *numbers)
                    yield dict(zip(COLUMNS, row, strict=True))
