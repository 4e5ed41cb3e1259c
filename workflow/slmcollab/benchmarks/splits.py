"""What a benchmark module's `load` returns, how rows are drawn for it, and how it is stored."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, pairwise
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem, digest, digest_text, write_json, write_problems
from slmcollab.seeding import python_generator


@dataclass(frozen=True)
class Splits:
    """The splits of a benchmark, the sentence that says how they were made, and what they were made from.

    origin holds the manifest entries that only the benchmark knows: {versions: {...}} or {source: {...}}. dev is what
    one may look at while developing, which neither training nor a table reads; empty where a benchmark has none.
    """

    train: list[Problem]
    test: list[Problem]
    rule: str
    origin: dict[str, Any] = field(default_factory=dict)
    dev: Sequence[Problem] = ()


def draw(
    rows: Sequence[Hashable],
    sizes: Mapping[str, int],
    data_seed: int,
    *names: str,
    task_of: Mapping[Hashable, Hashable] | None = None,
    taken: Iterable[Hashable] = (),
) -> dict[str, list]:
    """Return the rows of each split, cut one split after the other from one shuffled order, each in the order of rows.

    So the size of a later split never changes an earlier one. task_of: the task below each row; of rows with one task
    only the first in that order is drawn, and none whose task is `taken`. names: the benchmark, then what names the
    stream. Raises ArtifactError if there are too few rows.
    """
    order = shuffled(rows, data_seed, *names)
    if task_of is not None:
        firsts = {task_of[row]: row for row in reversed(order)} | dict.fromkeys(taken)
        order = [row for row in order if firsts[task_of[row]] == row]
    if len(order) < sum(sizes.values()):
        wanted = ", ".join(f"num_{name} {size}" for name, size in sizes.items())
        raise ArtifactError(f"benchmarks.{names[0]}: {wanted} asked for, but there are {len(order)} rows to draw from")
    place = {row: index for index, row in enumerate(rows)}
    ends = list(accumulate(sizes.values(), initial=0))
    parts = zip(sizes, pairwise(ends), strict=True)
    return {name: sorted(order[start:end], key=place.__getitem__) for name, (start, end) in parts}


def shuffled(rows: Sequence[Hashable], data_seed: int, *names: str) -> list:
    """Return the rows in the random order that the stream `names` of data_seed gives them."""
    return python_generator(data_seed, *names).sample(list(rows), len(rows))


def count_overlap(splits: Splits) -> int:
    """Return how many test problems ask a question that also occurs in train."""
    return _shared(splits.test, splits.train, lambda problem: {problem.question})


def tasks_of(problem: Problem) -> set[str]:
    """Return the tasks below a problem: metadata["task"], one or a list; empty where it names none."""
    task = problem.metadata.get("task", [])
    return {task} if isinstance(task, str) else set(task)


def _shared(problems: Iterable[Problem], others: Iterable[Problem], keys: Any) -> int:
    known = {key for other in others for key in keys(other)}
    return sum(not known.isdisjoint(keys(problem)) for problem in problems)


def check_unique(name: str, problems: Sequence[Problem]) -> None:
    """Raise ArtifactError if two problems of the split `name` share an id: answers are matched to problems by id."""
    if len({problem.id for problem in problems}) < len(problems):
        raise ArtifactError(f"{name}: two problems share an id")


def write_splits(
    splits: Splits, block: dict[str, Any], *, train: Path, test: Path, manifest: Path, dev: Path | None = None
) -> None:
    """Write the splits as JSON lines, then the manifest that counts and fingerprints them.

    block: the benchmark's config with its name (benchmark) and data_seed. With `dev` the manifest says of each pair of
    splits how many problems of the second share a question or a task with the first, and has a digest of each
    split's ids. Raises ArtifactError where a split has another size than the block asks for, or dev has no file.
    """
    files = {"train": train, "test": test} | ({} if dev is None else {"dev": dev})
    if splits.dev and dev is None:
        raise ArtifactError(f"benchmarks.{block['benchmark']}.num_dev: {len(splits.dev)} problems and no file for them")
    for name, path in files.items():
        problems = getattr(splits, name)
        if len(problems) != block[f"num_{name}"]:
            raise ArtifactError(
                f"benchmarks.{block['benchmark']}.num_{name}: {block[f'num_{name}']} asked for, {len(problems)} there"
            )
        check_unique(f"{block['benchmark']} {name}", problems)
        write_problems(path, problems)
    about = {
        "benchmark": block["benchmark"],
        "rule": splits.rule,
        "data_seed": block["data_seed"],
        **{f"num_{name}": len(getattr(splits, name)) for name in files},
        "overlap": count_overlap(splits),
        "sha256": {name: digest(path) for name, path in files.items()},
        **splits.origin,
    }
    write_json(manifest, about if dev is None else about | _about_pairs(splits))


def _about_pairs(splits: Splits) -> dict[str, Any]:
    named = {name: getattr(splits, name) for name in ("train", "dev", "test")}
    pairs = list(combinations(named, 2))
    return {
        "overlaps": {
            kind: {f"{one}_{other}": _shared(named[other], named[one], keys) for one, other in pairs}
            for kind, keys in (("questions", lambda problem: {problem.question}), ("tasks", tasks_of))
        },
        "ids": {name: digest_text("".join(f"{p.id}\n" for p in problems)) for name, problems in named.items()},
    }
