"""The record of a run: everything that decides how it goes."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, digest, read_json
from slmcollab.experts.features import read_header

PACKAGES = ("torch", "transformers", "trl", "peft", "reasoning_gym")


def describe_run(
    cell: dict[str, Any], code: str, seed: int, *, policy: Path, problems: Path, features: Sequence[Path]
) -> dict[str, Any]:
    """Return {cell, code, seed, inputs, models, features, packages} of a run.

    inputs: label -> sha256; models: name -> hub id and revision, None for a model that was trained here, as the
    policy's manifest and the headers of the experts' features (in the order of the cell's experts) say;
    features: expert -> the digest of the code that made them, and how many prompts had to be cut.
    """
    manifest = read_json(policy)
    models = {cell["policy"]: {"id": manifest["id"], "revision": manifest["revision"]}}
    inputs, made = {"policy": digest(policy), "problems": digest(problems)}, {}
    for expert, path in zip(cell["experts"], features, strict=True):
        header = read_header(path)
        models[expert] = {"id": header["id"] or None, "revision": header["revision"] or None}
        made[expert] = {"code": header["code"], "prompts_truncated": int(header["truncated"])}
        inputs[f"features/{expert}"] = digest(path)
    packages = {name: version(name) for name in PACKAGES}
    settings = {"cell": cell, "code": code, "seed": seed}
    return {**settings, "inputs": inputs, "models": models, "features": made, "packages": packages}


def describe_training(num_trainable: int, has_context: bool) -> dict[str, Any]:
    """Return what a record says of the training: what the KL is measured against, and how much is trained."""
    reference = "policy without LoRA, zero context rows" if has_context else "policy without LoRA"
    return {"reference": reference, "num_trainable": num_trainable}


def check_run(path: Path, cell: dict[str, Any], code: str, seed: int, adapter: Path) -> None:
    """Raise ArtifactError unless the record at `path` is of this cell, code and seed, and of the adapter beside it.

    A training that outlives the workflow which started it writes its outputs after the config has moved on.
    """
    record = read_json(path)
    wanted = {"cell": cell, "code": code, "seed": seed}
    other = [name for name, value in wanted.items() if record.get(name) != value]
    if record.get("outputs", {}).get("adapter") != digest(adapter):
        other.append("adapter")
    if other:
        raise ArtifactError(f"{path}: a run with another {' and '.join(other)} than now asked for: train it again")
