"""Where the stages of a run's learning lie: some are shared between systems, so a cell says whose folder holds each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Stages:
    """The folders of one run's learning.

    entry: {"benchmark", "method", "seed", "step_scorer": who scored its steps or null,
    "teacher": the system whose folder holds the teacher's trajectories, or null,
    "distilled": the system whose folder holds the distilled adapters, or null,
    "sampled": [for each round of refinement, the system whose folder holds its trajectories and step scores],
    "searched" and "trained": the system whose folder holds a baseline's search or its adapters, or null}.
    pattern: the path of a run's folder with {benchmark}, {method} and {seed}.
    """

    entry: Mapping[str, Any]
    pattern: str

    @property
    def names(self) -> dict[str, str]:
        found = {name: self.entry[name] or "" for name in ("benchmark", "method", "step_scorer")}
        return found | {"seed": str(self.entry["seed"])}

    def folder(self, method: str, stage: str) -> Path:
        return Path(self.pattern.format(**{**self.entry, "method": method})) / stage

    @property
    def teacher(self) -> Path | None:
        return self._whole("teacher")

    @property
    def distilled(self) -> Path | None:
        return self._whole("distilled")

    @property
    def trained(self) -> Path | None:
        return self._whole("trained")

    def _whole(self, stage: str) -> Path | None:
        method = self.entry[stage]
        return self.folder(method, stage) if method else None

    def rounds(self) -> Iterator[tuple[str, Path, Path]]:
        """Yield (round1, the folder of its trajectories and step scores, the folder of its rewards and training)."""
        for number, method in enumerate(self.entry["sampled"], start=1):
            stage = f"round{number}"
            yield stage, self.folder(method, stage), self.folder(self.entry["method"], stage)

    def jobs(self, patterns: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
        """Yield (rule, job) of each stage of the learning.

        patterns: teacher, distilled, sampled, scored, round, searched and trained -> (rule, a job with {benchmark},
        {system}, {seed} and {stage}).
        """
        for kind, method, stage in self._learning():
            rule, job = patterns[kind]
            names = {"benchmark": self.entry["benchmark"], "seed": self.entry["seed"]}
            yield rule, job.format(**names, system=method, stage=stage)

    def _learning(self) -> Iterator[tuple[str, str, str]]:
        yield from ((kind, self.entry[kind], kind) for kind in ("teacher", "distilled") if self.entry[kind])
        for number, method in enumerate(self.entry["sampled"], start=1):
            stage = f"round{number}"
            yield "sampled", method, stage
            if self.entry["step_scorer"]:
                yield "scored", method, stage
            yield "round", self.entry["method"], stage
        yield from ((kind, self.entry[kind], kind) for kind in ("searched", "trained") if self.entry[kind])
