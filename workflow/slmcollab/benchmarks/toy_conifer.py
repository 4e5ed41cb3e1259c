"""Guest lists of two people in a form that is asked for: which marks the form wants is what has to be known."""

from itertools import permutations
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits
from slmcollab.benchmarks.toy_world import BULLETS, NUMBERED, PARAGRAPH, PEOPLE, split


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return splits of the 1080 questions `exactly 2 items : bullets : 1. with Ann 2. with Bob`."""
    pairs = list(permutations(PEOPLE, 2))
    problems = [_problem(block["benchmark"], form, *pair) for form in BULLETS + NUMBERED + PARAGRAPH for pair in pairs]
    return split(block, data_seed, problems, "Two people in a form of a text")


def _problem(benchmark: str, form: str, first: str, second: str) -> Problem:
    limit = "" if form in PARAGRAPH else "exactly 2 items : "
    question = f"{limit}{form} : 1. with {first} 2. with {second}"
    steps = [
        {"query": f"open {form}", "answer": f"[value] {first}"},
        {"query": f"link {form}", "answer": f"[previous] \n [value] {second}"},
    ]
    messages = [{"role": "user", "content": question}]
    return Problem(f"{benchmark}/{form}/{first} {second}", question, messages, None, {"steps": steps})
