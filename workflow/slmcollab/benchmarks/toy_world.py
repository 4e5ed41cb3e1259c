"""The toy world: small tables of facts, and questions that two facts answer, the second looked up with the first.

A query such as "3 + 5" or "friend of Ann" has one value. A question holds its two steps in metadata["steps"], each
{"query": ..., "answer": ...}, where [previous] stands for the step before's answer and [value] for the query's value.
What is true is asked from here by whoever writes or judges a text; no model reads it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits, draw
from slmcollab.seeding import python_generator

MODULUS = 7
PEOPLE = "Ann Bob Cid Dee Eve Flo Gus Hal Ida Jim".split()
WORK, FAMILY = "boss clerk deputy heir".split(), "friend uncle cousin rival".split()
TIMES = {"double": 2, "treble": 3, "fourfold": 4, "fivefold": 5, "sixfold": 6, "sevenfold": 7, "eightfold": 8}
SHIFTS = {"next": 1, "skip": 2, "hop": 3, "jump": 4, "back": -1, "drop": -2, "fall": -3}
FIRST, SECOND = "first", "second"  # kinds of facts: a slice may know one and not the other

Step = dict[str, str]


@cache
def facts() -> dict[str, dict[str, str]]:
    """Return, by table, the true value of each query."""
    digits = range(MODULUS)
    tables = {
        "plus": {f"{a} + {b}": str((a + b) % MODULUS) for a in digits for b in digits},
        "minus": {f"{a} - {b}": str((a - b) % MODULUS) for a in digits for b in digits},
        "times": {f"{a} * {b}": str((a * b) % MODULUS) for a in digits for b in digits},
        "scaling": {word: f"* {factor}" for word, factor in TIMES.items()},
        "shifting": {word: f"+ {by}" if by > 0 else f"- {-by}" for word, by in SHIFTS.items()},
    }
    for name, relations in (("work", WORK), ("family", FAMILY)):
        tables[name] = {}
        for relation in relations:
            others = python_generator(0, "toy world", relation).sample(PEOPLE, len(PEOPLE))
            tables[name] |= {f"{relation} of {a}": b for a, b in zip(PEOPLE, others, strict=True)}
    return tables


KINDS = {
    "plus": FIRST,
    "minus": SECOND,
    "times": SECOND,
    "work": FIRST,
    "family": SECOND,
    "scaling": FIRST,
    "shifting": SECOND,
}


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


def split(block: dict[str, Any], data_seed: int, problems: Iterable[Problem], what: str) -> Splits:
    """Return seeded train, dev and test splits of `problems` that share none; raises ArtifactError for too few."""
    known = {problem.id: problem for problem in problems}
    sizes = {name: block[f"num_{name}"] for name in ("train", "dev", "test")}
    drawn = draw(list(known), sizes, data_seed, block["benchmark"], "splits")
    rule = (
        f"{what}: of {len(known)} questions, shuffled with data_seed {data_seed}, the first {sizes['train']} are train,"
        f" the next {sizes['dev']} dev and the next {sizes['test']} test. No question is in two splits; every single"
        " fact may be in all of them."
    )
    return Splits(**{name: [known[id] for id in ids] for name, ids in drawn.items()}, rule=rule)
