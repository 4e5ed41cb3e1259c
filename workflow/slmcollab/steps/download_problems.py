"""Write the problems of a benchmark that is fetched from a hub or read from local files."""

import json
from pathlib import Path

import tyro

from slmcollab import choice, snapshots
from slmcollab.artifacts import ArtifactError
from slmcollab.benchmarks.splits import write_splits


def main(*, cell: str, train: Path, test: Path, manifest: Path) -> None:
    """Fetch the splits of a benchmark, dev beside train where it has one, and write their manifest."""
    block = json.loads(cell)
    try:
        splits = choice.get(choice.LOADER, block["loader"]).load(block, block["data_seed"])
    except snapshots.NotFetchedError as error:
        raise ArtifactError(f"benchmarks.{block['benchmark']}: {error}. {snapshots.advice(manifest)}") from error
    dev = train.with_name("dev.jsonl") if "num_dev" in block else None
    write_splits(splits, block, train=train, dev=dev, test=test, manifest=manifest)


if __name__ == "__main__":
    tyro.cli(main)
