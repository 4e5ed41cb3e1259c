"""What a search has tried, which workflow it changes next, and when it ends; pure functions of the trials so far."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from slmcollab.search.workflow import Workflow, read_workflow


@dataclass(frozen=True)
class Measured:
    """How a workflow did on dev questions: the share it solved, and the mean score, which has partial credit.

    ranked: the two numbers by which workflows are compared, the first one first. num_graded: questions whose answer
    could be graded. failures: (problem id, answer) of those that it did not solve.
    """

    accuracy: float
    score: float
    ranked: tuple[float, float]
    num_graded: int
    failures: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Trial:
    """An iteration: 0 is the hand-written start. parent: the iteration whose workflow was to be changed.

    rejected: why there is nothing to measure, else None.
    """

    iteration: int
    parent: int | None
    workflow: Workflow | None = None
    rejected: str | None = None
    measured: Measured | None = None

    def described(self) -> dict[str, Any]:
        """Return what `read_trial` reads, as JSON."""
        workflow = None if self.workflow is None else self.workflow.described()
        measured = None if self.measured is None else asdict(self.measured)
        plain = {"iteration": self.iteration, "parent": self.parent, "rejected": self.rejected}
        return plain | {"workflow": workflow, "measured": measured}


def read_trial(row: Mapping[str, Any]) -> Trial:
    workflow = None if row["workflow"] is None else read_workflow(row["workflow"])
    measured = row["measured"]
    if measured is not None:
        lists = {"ranked": tuple(measured["ranked"]), "failures": tuple(map(tuple, measured["failures"]))}
        measured = Measured(**measured | lists)
    return Trial(row["iteration"], row["parent"], workflow, row["rejected"], measured)


def visits(trials: Sequence[Trial]) -> dict[int, int]:
    """Return how often each measured workflow was visited: its own trial, and every proposal made from it."""
    counts = {trial.iteration: 1 for trial in trials if trial.measured is not None}
    for trial in trials:
        if trial.parent is not None:
            counts[trial.parent] += 1
    return counts


def choose_parent(trials: Sequence[Trial], exploration: float) -> Trial:
    """Return argmax of s + exploration · sqrt(ln(N + 1) / n): s the first of `ranked`, n its visits, N all visits.

    Of equal ones the earliest. There has to be a measured trial.
    """
    # ASSUME: AFlow's visits of a workflow are its own trial and the proposals made from it, N those of all workflows.
    counts = visits(trials)
    bonus = math.log(sum(counts.values()) + 1)

    def value(trial: Trial) -> float:
        return _ranked(trial)[0] + exploration * math.sqrt(bonus / counts[trial.iteration])

    return max((trial for trial in trials if trial.measured is not None), key=value)


def best(trials: Sequence[Trial]) -> Trial:
    """Return the workflow that is deployed: the highest by `ranked`, of equal ones the earliest."""
    return max((trial for trial in trials if trial.measured is not None), key=_ranked)


def is_over(trials: Sequence[Trial], iterations: int, patience: int) -> bool:
    """Tell whether all iterations were done, or `patience` of them in a row found nothing better."""
    return len(trials) > iterations or trials[-1].iteration - best(trials).iteration >= patience


def _ranked(trial: Trial) -> tuple[float, float]:
    assert trial.measured is not None
    return trial.measured.ranked


def rows(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return a row for each iteration: what it proposed, how that did, and the best so far; numbers are in [0, 1]."""
    found = []
    for index, trial in enumerate(trials):
        so_far, measured = best(trials[: index + 1]), trial.measured
        found.append(
            {
                "iteration": trial.iteration,
                "parent": trial.parent,
                "outcome": "accepted" if trial.rejected is None else "rejected",
                "reason": trial.rejected,
                "num_nodes": None if trial.workflow is None else len(trial.workflow.nodes),
                "accuracy": measured and measured.accuracy,
                "score": measured and measured.score,
                "num_graded": measured and measured.num_graded,
                "best": so_far.iteration,
                "best_accuracy": so_far.measured and so_far.measured.accuracy,
                "best_score": so_far.measured and so_far.measured.score,
            }
        )
    return found
