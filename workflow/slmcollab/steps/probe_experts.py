"""Entry of the rule probe_experts."""

import json
from dataclasses import asdict
from pathlib import Path

import tyro

from slmcollab import seeding
from slmcollab.artifacts import read_problems, write_json
from slmcollab.experts import probe as probing
from slmcollab.experts.features import POOLINGS, read_features


def main(
    *,
    cell: str,
    features_train: Path,
    features_test: Path,
    train_problems: Path,
    test_problems: Path,
    probe: Path,
) -> None:
    """Measure which answers a linear map reads from an expert's features: of all problems and of each task's."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    train, test = read_problems(train_problems), read_problems(test_problems)
    tasks = probing.list_tasks(train, test)
    readings = {task: {} for task in tasks}
    for pooling in POOLINGS:
        seen, asked = (read_features(path, pooling).numpy() for path in (features_train, features_test))
        for task, (taught, put) in tasks.items():
            problems = ([train[i] for i in taught], [test[i] for i in put])
            readings[task][pooling] = asdict(probing.probe(*problems, seen[taught], asked[put], settings["ridge"]))
    head = {"benchmark": settings["benchmark"], "expert": settings["expert"]}
    write_json(probe, {**head, "tasks": readings})


if __name__ == "__main__":
    tyro.cli(main)
