"""The record of a run: everything that decides how it goes."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, digest, read_json
from slmcollab.digests import digests, with_outputs
from slmcollab.experts.features import read_header
from slmcollab.protocol.record import describe_light
from slmcollab.rl.conditioned import ConditionedPolicy
from slmcollab.rl.exposed import ExpertFiles

PACKAGES = ("torch", "transformers", "trl", "peft", "reasoning_gym")


def describe_run(
    cell: dict[str, Any], code: str, seed: int, *, policy: Path, problems: Path, files: ExpertFiles
) -> dict[str, Any]:
    """Return {cell, code, seed, inputs, digests, models, features, packages} of a run.

    inputs: label -> sha256; models: name -> hub id and revision as the manifests say, None for a model that was trained
    here; features: expert, or embedding for a router's encoder -> the digest of the code that made them, and how many
    prompts had to be cut.
    """
    manifests = dict(zip(cell["experts"], files.manifests, strict=True)) | {cell["policy"]: policy}
    described = {name: read_json(path, "id", "revision") for name, path in manifests.items()}
    models = {name: {"id": found["id"], "revision": found["revision"]} for name, found in described.items()}
    headers = dict(zip(cell["experts"], map(read_header, files.features), strict=False))
    for path in files.embedding:
        headers["embedding"] = encoder = read_header(path)
        models[encoder["expert"]] = {"id": encoder["id"] or None, "revision": encoder["revision"] or None}
    made = {
        label: {"code": header["code"], "prompts_truncated": int(header["truncated"])}
        for label, header in headers.items()
    }
    read = {"policy": policy, "problems": problems, **files.labelled(cell["experts"])}
    inputs = {label: digest(path) for label, path in read.items()}
    packages = {name: version(name) for name in PACKAGES}
    settings = {"cell": cell, "code": code, "seed": seed}
    made_from = {"inputs": inputs, **digests(*read.values())}
    return {**settings, **made_from, "models": models, "features": made, "packages": packages}


def describe_training(num_trainable: int, loaded: ConditionedPolicy) -> dict[str, Any]:
    """Return what a record says of the training: what the KL is measured against, how many parameters are trained."""
    reference = "policy without LoRA, zero context rows" if loaded.context else "policy without LoRA"
    router = sum(weight.numel() for weight in loaded.learned_router.parameters()) if loaded.learned_router else 0
    return {"reference": reference, "num_trainable": num_trainable + router}


def describe_answering(
    cell: dict[str, Any], code: str, seed: int, read: dict[str, Path], files: ExpertFiles, *, answers: Path
) -> dict[str, Any]:
    """Return the record of a policy's answers to a split: what it read, by label, and what it wrote."""
    record = describe_light(cell, code, read | files.labelled(cell["experts"]), seed)
    return with_outputs(record, {"answers": answers})


def check_run(path: Path, cell: dict[str, Any], code: str, seed: int, adapter: Path) -> None:
    """Raise ArtifactError unless the record at `path` is of this cell, code and seed, and of the adapter beside it.

    A training that outlives the workflow which started it writes its outputs after the config has moved on.
    """
    record = read_json(path, "outputs")
    wanted = {"cell": cell, "code": code, "seed": seed}
    other = [name for name, value in wanted.items() if record.get(name) != value]
    if record["outputs"].get("adapter") != digest(adapter):
        other.append("adapter")
    if other:
        raise ArtifactError(f"{path}: a run with another {' and '.join(other)} than now asked for: train it again")
