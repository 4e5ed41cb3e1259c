"""The record of a run: everything that decides how it goes."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from slmcollab.artifacts import digest, read_json
from slmcollab.experts.features import read_header

PACKAGES = ("torch", "transformers", "trl", "peft")


def describe_run(
    cell: dict[str, Any], code: str, seed: int, *, policy: Path, problems: Path, features: Sequence[Path]
) -> dict[str, Any]:
    """Return {cell, code, seed, inputs, models, packages} of a run.

    inputs: label -> sha256; models: name -> hub id and revision, None for a model that was trained here, as the
    policy's manifest and the headers of the experts' features (in the order of the cell's experts) say.
    """
    manifest = read_json(policy)
    models = {cell["policy"]: {"id": manifest["id"], "revision": manifest["revision"]}}
    inputs = {"policy": digest(policy), "problems": digest(problems)}
    for expert, path in zip(cell["experts"], features, strict=True):
        header = read_header(path)
        models[expert] = {"id": header["id"] or None, "revision": header["revision"] or None}
        inputs[f"features/{expert}"] = digest(path)
    packages = {name: version(name) for name in PACKAGES}
    return {"cell": cell, "code": code, "seed": seed, "inputs": inputs, "models": models, "packages": packages}
