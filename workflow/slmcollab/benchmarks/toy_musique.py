"""Two-hop questions about ten people: who is the boss of a friend."""

from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits
from slmcollab.benchmarks.toy_world import FAMILY, PEOPLE, WORK, solve, split


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return splits of the 640 questions `boss of friend of Ann`; raises ValueError for sizes that do not fit."""
    relations = WORK + FAMILY
    questions = [(second, first, person) for second in relations for first in relations for person in PEOPLE]
    problems = [_problem(block["benchmark"], *parts) for parts in questions]
    return split(block, data_seed, problems, "A relation of a relation of a person")


def _problem(benchmark: str, second: str, first: str, person: str) -> Problem:
    question = f"{second} of {first} of {person}"
    steps = [
        {"query": f"{first} of {person}", "answer": "[value]"},
        {"query": f"{second} of [previous]", "answer": "[value]"},
    ]
    solved = solve(steps)
    metadata = {
        "aliases": [],
        "question_decomposition": [{"question": query, "answer": answer} for query, _, answer in solved],
        "steps": steps,
    }
    messages = [{"role": "user", "content": question}]
    return Problem(f"{benchmark}/{question}", question, messages, solved[-1][-1], metadata)
