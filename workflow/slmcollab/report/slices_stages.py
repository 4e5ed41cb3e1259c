"""Where the stages of a run's training lie: some are shared between systems, so a cell says whose folder holds each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Stages:
    """The folders of one run's training.

    entry: {"benchmark", "method", "seed", "evaluator": who scored its steps or null,
    "teacher": the system whose folder holds the teacher's trajectories, or null,
    "distilled": the system whose folder holds the distilled adapters, or null,
    "sampled": [for each round of refinement, the system whose folder holds its trajectories and step scores]}.
    pattern: the path of a run's folder with {benchmark}, {method} and {seed}.
    """

    entry: Mapping[str, Any]
    pattern: str

    @property
    def names(self) -> dict[str, str]:
        found = {name: self.entry[name] or "" for name in ("benchmark", "method", "evaluator")}
        return found | {"seed": str(self.entry["seed"])}

    def folder(self, method: str, stage: str) -> Path:
        return Path(self.pattern.format(**{**self.entry, "method": method})) / stage

    @property
    def teacher(self) -> Path | None:
        method = self.entry["teacher"]
        return self.folder(method, "teacher") if method else None

    @property
    def distilled(self) -> Path | None:
        method = self.entry["distilled"]
        return self.folder(method, "distilled") if method else None

    def rounds(self) -> Iterator[tuple[str, Path, Path]]:
        """Yield (round1, the folder of its trajectories and step scores, the folder of its rewards and training)."""
        for number, method in enumerate(self.entry["sampled"], start=1):
            stage = f"round{number}"
            yield stage, self.folder(method, stage), self.folder(self.entry["method"], stage)
