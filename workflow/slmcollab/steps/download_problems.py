"""Write the problems of a benchmark that is fetched from a hub or read from local files."""

import json
from pathlib import Path

import tyro

from slmcollab.benchmarks import loader
from slmcollab.benchmarks.splits import write_splits


def main(*, cell: str, train: Path, test: Path, manifest: Path) -> None:
    """Fetch both splits of a benchmark and write their manifest."""
    block = json.loads(cell)
    splits = loader.get(block["loader"]).load(block, block["data_seed"])
    write_splits(
        splits,
        benchmark=block["benchmark"],
        data_seed=block["data_seed"],
        train=train,
        test=test,
        manifest=manifest,
    )


if __name__ == "__main__":
    tyro.cli(main)
