"""The toy world: small tables of facts, and questions that two facts answer, the second looked up with the first.

A query such as "3 + 5" or "friend of Ann" has one value. A question holds its two steps in metadata["steps"], each
{"query": ..., "answer": ...}, where [previous] stands for the answer of the step before and [value] for the query's
value. What is true is asked from here by whoever writes or judges a text; no model reads it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits, draw
from slmcollab.seeding import python_generator

MODULUS = 7
PEOPLE = ["Ann", "Bob", "Cid", "Dee", "Eve", "Flo", "Gus", "Hal", "Ida", "Jim"]
WORK, FAMILY = ["boss", "clerk", "deputy", "heir"], ["friend", "uncle", "cousin", "rival"]
FACTORS = ["double", "treble", "fourfold", "fivefold", "sixfold", "sevenfold", "eightfold", "ninefold", "tenfold"]
SUMMANDS = ["next", "skip", "hop", "jump", "leap", "back", "drop", "fall", "sink"]
BULLETS = "bullets", "bulleted list", "bullet points", "bullet list"
NUMBERED = "numbered list", "ordered list", "numbered items", "ordered items"
PARAGRAPH = "in a paragraph", "as a paragraph", "in one paragraph", "as one paragraph"

FIRST, SECOND = "first", "second"  # kinds of facts: a slice may know one and not the other
KINDS = {  # of each table
    **dict.fromkeys(("plus", "work", "factors", "openings"), FIRST),
    **dict.fromkeys(("minus", "times", "family", "summands", "links"), SECOND),
}

Step = dict[str, str]


@cache
def facts() -> dict[str, dict[str, str]]:
    """Return, by table, the true value of each query."""
    pairs = [(a, b) for a in range(MODULUS) for b in range(MODULUS)]
    by = [*range(1, 6), *range(-1, -5, -1)]
    return {
        "plus": {f"{a} + {b}": str((a + b) % MODULUS) for a, b in pairs},
        "minus": {f"{a} - {b}": str((a - b) % MODULUS) for a, b in pairs},
        "times": {f"{a} * {b}": str((a * b) % MODULUS) for a, b in pairs},
        "work": _relations(WORK),
        "family": _relations(FAMILY),
        "factors": {word: f"* {number}" for number, word in enumerate(FACTORS, start=2)},
        "summands": {word: f"{'+' if n > 0 else '-'} {abs(n)}" for word, n in zip(SUMMANDS, by, strict=True)},
        "openings": _marks("open", "-", "1.", ","),
        "links": _marks("link", "-", "2.", ","),
    }


def _relations(relations: Sequence[str]) -> dict[str, str]:
    drawn = {name: python_generator(0, "toy world", name).sample(PEOPLE, len(PEOPLE)) for name in relations}
    return {f"{name} of {a}": b for name, others in drawn.items() for a, b in zip(PEOPLE, others, strict=True)}


def _marks(word: str, *marks: str) -> dict[str, str]:
    """Return what stands before an item of a text in each form."""
    forms = zip((BULLETS, NUMBERED, PARAGRAPH), marks, strict=True)
    return {f"{word} {name}": mark for names, mark in forms for name in names}


@cache
def values() -> dict[str, str]:
    """Return the true value of each query of every table."""
    return {query: value for table in facts().values() for query, value in table.items()}


@cache
def table_of(query: str) -> str:
    """Return the table that holds a query; raises KeyError where none does."""
    return {query: name for name, table in facts().items() for query in table}[query]


def fill(template: str, previous: str, value: str = "") -> str:
    return template.replace("[previous]", previous).replace("[value]", value)


def solve(steps: Sequence[Step], look_up: Callable[[str], str] | None = None) -> list[tuple[str, str, str]]:
    """Return (query, value, answer) of each step, values by `look_up`, the truth by default."""
    look_up = look_up or values().__getitem__
    done: list[tuple[str, str, str]] = []
    for step in steps:
        previous = done[-1][2] if done else ""
        query = fill(step["query"], previous)
        value = look_up(query)
        done.append((query, value, fill(step["answer"], previous, value)))
    return done


def split(block: dict[str, Any], data_seed: int, problems: Iterable[Problem], what: str, per_task: int = 1) -> Splits:
    """Return seeded train, dev and test splits of `problems`; of each task, `per_task` of them, all are in one split.

    Raises ArtifactError for too few, ValueError for a size that is no multiple of `per_task`.
    """
    tasks: dict[str, list[Problem]] = {}
    for problem in problems:
        tasks.setdefault(problem.metadata.get("task", problem.id), []).append(problem)
    sizes = {name: block[f"num_{name}"] for name in ("train", "dev", "test")}
    odd = [f"num_{name}" for name, size in sizes.items() if size % per_task]
    if odd:
        raise ValueError(
            f"benchmarks.{block['benchmark']}.{odd[0]}: no multiple of {per_task}, the questions of a task"
        )
    numbers = {name: size // per_task for name, size in sizes.items()}
    drawn = draw(list(tasks), numbers, data_seed, block["benchmark"], "splits")
    rule = (
        f"{what}: of {len(tasks)} tasks, shuffled with data_seed {data_seed}, the first {numbers['train']} are train,"
        f" the next {numbers['dev']} dev and the next {numbers['test']} test. No task is in two splits; every single"
        " fact may be in all of them."
    )
    found = {name: [problem for task in names for problem in tasks[task]] for name, names in drawn.items()}
    return Splits(**found, rule=rule)
