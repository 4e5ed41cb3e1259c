"""Small algebra modulo 7: solve an equation for x, then multiply."""

from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits
from slmcollab.benchmarks.toy_world import MODULUS, solve, split


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return splits of the 686 questions `x + a = b : x * c mod 7`; raises ValueError for sizes that do not fit."""
    digits = range(MODULUS)
    questions = [(o, a, b, c) for o in "+-" for a in digits for b in digits for c in digits]
    problems = [_problem(block["benchmark"], *parts) for parts in questions]
    return split(block, data_seed, problems, "A linear equation and a multiplication modulo 7")


def _problem(benchmark: str, o: str, a: int, b: int, c: int) -> Problem:
    question = f"x {o} {a} = {b} : x * {c} mod {MODULUS}"
    inverse = {"+": "-", "-": "+"}[o]
    steps = [{"query": f"{b} {inverse} {a}", "answer": "[value]"}, {"query": f"[previous] * {c}", "answer": "[value]"}]
    messages = [{"role": "user", "content": question}]
    metadata = {"subject": "Algebra", "level": 1 if o == "+" else 2, "steps": steps}
    return Problem(f"{benchmark}/{question}", question, messages, solve(steps)[-1][-1], metadata)
