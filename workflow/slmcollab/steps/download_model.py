"""Entry of the rule download_model."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import replacing
from slmcollab.models import fetch


def main(*, cell: str, weights: Path, manifest: Path) -> None:
    """Fetch a model's files from the hub at its pinned revision, or copy a local folder's."""
    block = json.loads(cell)
    with replacing(weights) as folder:
        if block["source"] == "path":
            fetch.copy(Path(block["path"]), folder)
        else:
            fetch.download(block["id"], block["revision"], folder, gated=block.get("gated", False))
    fetch.write_manifest(manifest, weights, model=block["model"], block=block)


if __name__ == "__main__":
    tyro.cli(main)
