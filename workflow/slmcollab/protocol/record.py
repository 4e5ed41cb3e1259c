"""The record of a stage: everything that decides how it goes, and what the stage before it recorded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, digest, read_json
from slmcollab.digests import digests

PACKAGES = ("torch", "transformers", "trl", "peft")


@dataclass(frozen=True)
class TeamFiles:
    """What a stage reads: the manifest of each slot's model, the problems of its split, and the prompt.

    start: the folder of the adapters that the team starts with, and before: the record of the training that made them;
    one path each, none for untrained models.
    """

    manifests: list[Path]
    problems: Path
    prompt: Path
    start: list[Path] = field(default_factory=list)
    before: list[Path] = field(default_factory=list)

    def read_before(self) -> dict[str, Any] | None:
        """Return what the training before recorded, None for untrained models.

        Raises ArtifactError where the adapters are not those that it wrote: a training that outlives the workflow which
        started it writes its outputs after the config has moved on.
        """
        if not self.start:
            return None
        (path,), (folder,) = self.before, self.start
        record = read_json(path, "outputs")
        if record["outputs"].get("adapters") != digest(folder):
            raise ArtifactError(f"{folder}: not the adapters that {path} records: train them again")
        return record


@dataclass(frozen=True)
class StageJob:
    """A stage as one job that may be killed.

    cell: JSON, the part of the config that it follows from; code: the digest of what it runs; checkpoints: the folder
    from which the next attempt goes on; job: the cluster's id of this attempt.
    """

    cell: str
    code: str
    seed: int
    files: TeamFiles
    checkpoints: Path
    job: str

    def describe(self, others: Mapping[str, Path] | None = None) -> dict[str, Any]:
        """Return the record of the stage, see `describe_stage`."""
        return describe_stage(json.loads(self.cell), self.code, self.seed, self.files, others)


@dataclass(frozen=True)
class SampledFiles:
    """What a round learns from: trajectories, their calls and the record of their sampling, and rewards of their steps.

    counts: of the rewards, with what they came from.
    """

    calls: Path
    trajectories: Path
    sampling: Path
    rewards: Path
    counts: Path

    def read_records(self, start: list[Path]) -> dict[str, Any]:
        """Return what sampling and rewards recorded; start: the adapters that are to learn, none for untrained models.

        Raises ArtifactError where calls or trajectories are not those that were recorded, or others spoke in them: the
        likelihood ratios of a clipped refinement would be to somebody else.
        """
        record = read_json(self.sampling, "outputs", "inputs")
        for name in ("calls", "trajectories"):
            if record["outputs"].get(name) != digest(getattr(self, name)):
                raise ArtifactError(f"{getattr(self, name)}: not what {self.sampling} records: sample again")
        if record["inputs"].get("start") != (digest(start[0]) if start else None):
            raise ArtifactError(f"{self.sampling}: sampled with other adapters than {start}: sample again")
        return {"sampling": record, "rewards": read_json(self.counts)}


def describe_light(
    cell: Mapping[str, Any], code: str, inputs: Mapping[str, Path], seed: int | None = None
) -> dict[str, Any]:
    """Return {cell, code, seed, inputs, digests} of a light job; inputs: label -> what it reads, as sha256."""
    by_label = {label: digest(path) for label, path in inputs.items()}
    return {"cell": dict(cell), "code": code, "seed": seed, "inputs": by_label, **digests(*inputs.values())}


def describe_stage(
    cell: Mapping[str, Any], code: str, seed: int, files: TeamFiles, others: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """Return {cell, code, seed, inputs, digests, models, packages} of a stage; others: what else it reads, by label.

    inputs: label -> sha256; models: name -> hub id and revision as the manifests say, None for a model that was trained
    here.
    """
    manifests = dict(zip(cell["models"], files.manifests, strict=True))
    described = {name: read_json(path, "id", "revision") for name, path in manifests.items()}
    models = {name: {"id": found["id"], "revision": found["revision"]} for name, found in described.items()}
    read = {f"manifest/{name}": path for name, path in manifests.items()} | {"problems": files.problems}
    read |= {"prompt": files.prompt, **dict(zip(("start",), files.start, strict=False)), **(others or {})}
    inputs = {label: digest(path) for label, path in read.items()}
    packages = {name: version(name) for name in PACKAGES}
    settings = {"cell": dict(cell), "code": code, "seed": seed}
    made_from = {"inputs": inputs, **digests(*read.values(), *files.before)}
    return {**settings, **made_from, "models": models, "packages": packages}
