"""Write the problems of a benchmark that is made here, not fetched."""

import json
import sys
from pathlib import Path

import tyro

from slmcollab import choice
from slmcollab.benchmarks.splits import write_splits


def main(*, cell: str, processes: int, train: Path, test: Path, manifest: Path) -> None:
    """Generate the splits of a benchmark, dev too where it has one; `processes` changes nothing but the time."""
    if sys.flags.hash_randomization:
        raise RuntimeError("start Python with PYTHONHASHSEED=0: some tasks' items depend on the order of Python's sets")
    block = json.loads(cell)
    splits = choice.get(choice.LOADER, block["loader"]).load(block | {"num_processes": processes}, block["data_seed"])
    dev = train.with_name("dev.jsonl") if "num_dev" in block else None
    write_splits(splits, block, train=train, dev=dev, test=test, manifest=manifest)


if __name__ == "__main__":
    tyro.cli(main)
