"""What a benchmark module's `load` returns, and how it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem, digest, write_json, write_problems


@dataclass(frozen=True)
class Splits:
    """The two splits of a benchmark, the sentence that says how they were made, and what they were made from.

    origin holds the manifest entries that only the benchmark knows: {versions: {...}} or {source: {...}}.
    """

    train: list[Problem]
    test: list[Problem]
    rule: str
    origin: dict[str, Any] = field(default_factory=dict)


def count_overlap(splits: Splits) -> int:
    """Return how many test problems ask a question that also occurs in train."""
    trained = {problem.question for problem in splits.train}
    return sum(problem.question in trained for problem in splits.test)


def check_unique(name: str, problems: Sequence[Problem]) -> None:
    """Raise ArtifactError if two problems of the split `name` share an id: answers are matched to problems by id."""
    if len({problem.id for problem in problems}) < len(problems):
        raise ArtifactError(f"{name}: two problems share an id")


def write_splits(splits: Splits, block: dict[str, Any], *, train: Path, test: Path, manifest: Path) -> None:
    """Write both splits as JSON lines, then the manifest that counts and fingerprints them.

    block: the benchmark's config with its name (benchmark) and data_seed.
    """
    for name, path, problems in (("train", train, splits.train), ("test", test, splits.test)):
        if len(problems) != block[f"num_{name}"]:
            raise ArtifactError(
                f"benchmarks.{block['benchmark']}.num_{name}: {block[f'num_{name}']} asked for, {len(problems)} there"
            )
        check_unique(f"{block['benchmark']} {name}", problems)
        write_problems(path, problems)
    write_json(
        manifest,
        {
            "benchmark": block["benchmark"],
            "rule": splits.rule,
            "data_seed": block["data_seed"],
            "num_train": len(splits.train),
            "num_test": len(splits.test),
            "overlap": count_overlap(splits),
            "sha256": {"train": digest(train), "test": digest(test)},
            **splits.origin,
        },
    )
