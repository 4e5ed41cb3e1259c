"""What a run of a system left behind, read when it is asked for, and the numbers of a run that tables put together."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slmcollab.analysis.outcomes import Outcome, outcomes
from slmcollab.analysis.rates import Rate
from slmcollab.artifacts import ArtifactError, read_json
from slmcollab.generation.calls import SEARCH, Call, read_calls
from slmcollab.protocol.answers import read_answers
from slmcollab.protocol.trajectory import Trajectory, read_trajectories

NAMES = ("benchmark", "method", "stage", "step_scorer")
EVAL = "eval"


@dataclass(frozen=True)
class Quantity:
    """One number of one run. rate: the counts behind a share; n: how many values a mean is made of."""

    value: float | None
    unit: str
    rate: Rate | None = None
    n: int | None = None

    @classmethod
    def share(cls, rate: Rate) -> "Quantity":
        """Return a share in percent."""
        return cls(None if rate.share is None else 100 * rate.share, "percent", rate, rate.total)

    @classmethod
    def count(cls, number: int, of: int) -> "Quantity":
        """Return a number of questions."""
        return cls(float(number), "questions", n=of)

    @classmethod
    def percent(cls, share: float | None, n: int) -> "Quantity":
        """Return a mean of shares, given from 0 to 1, in percent."""
        return cls(None if share is None else 100 * share, "percent", n=n)


Quantities = Mapping[tuple[str, ...], Quantity]


@dataclass(frozen=True)
class RunFiles:
    """The files of one stage of one run.

    entry: {"benchmark", "method", "seed", "step_scorer": who scored its steps or null, "models": [one a slot],
    "baseline": whether its steps are replies of a graph, not turns under the protocol (if not given, no)} and, where it
    is not stage eval, "stage": "eval_sampled". folder is the stage's. Each method reads its file and raises
    ArtifactError naming it.
    """

    entry: Mapping[str, Any]
    folder: Path

    @property
    def names(self) -> dict[str, str]:
        found = {"stage": EVAL, **self.entry}
        return {name: found.get(name) or "" for name in NAMES}

    @property
    def seed(self) -> int:
        return self.entry["seed"]

    @property
    def models(self) -> dict[str, str]:
        """Return slot -> model."""
        return {f"a{place}": model for place, model in enumerate(self.entry["models"], start=1)}

    @property
    def baseline(self) -> bool:
        return self.entry.get("baseline", False)

    def trajectories(self) -> list[Trajectory]:
        return read_trajectories(self.folder / "trajectories.jsonl")

    def calls(self) -> list[Call]:
        return read_calls(self.folder / "calls.parquet")

    def levels(self) -> dict[str, list[int]]:
        """Return trajectory -> the level of each step of a baseline: what has the same one was asked at once."""
        path = self.folder / "calls.parquet"
        found: dict[str, dict[int, int]] = {}
        for call in read_calls(path):
            if call.phase != SEARCH:
                found.setdefault(f"{call.qid}#{call.sample}", {})[call.step] = call.round
        levels = {id_: [steps[step] for step in sorted(steps)] for id_, steps in found.items()}
        for one in self.trajectories():
            if len(levels.get(one.id, [])) != len(one.steps):
                raise ArtifactError(f"{path}: not one level for each of the {len(one.steps)} steps of {one.id}")
        return levels

    def scores(self) -> dict[str, Any]:
        return read_json(self.folder / "scores.json")

    def outcomes(self) -> dict[str, Outcome]:
        try:
            return outcomes(read_answers(self.folder / "answers.jsonl"), self.scores())
        except (KeyError, ValueError) as error:
            raise ArtifactError(f"{self.folder}: {error}") from error


def run_files(entries: Iterable[Mapping[str, Any]], pattern: str) -> Iterator[RunFiles]:
    """Yield the runs of a cell; pattern is the path of a run's folder with {benchmark}, {method} and {seed}."""
    for entry in entries:
        yield RunFiles(entry, Path(pattern.format(**entry)) / entry.get("stage", EVAL))
