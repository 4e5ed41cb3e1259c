"""Sums and differences of three digits modulo 7: two table look-ups, the second with what the first gave."""

from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits
from slmcollab.benchmarks.toy_world import MODULUS, solve, split


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return splits of the 1372 questions `a + b - c mod 7`; raises ValueError for sizes that do not fit."""
    digits, signs = range(MODULUS), "+-"
    questions = [(a, o, b, p, c) for a in digits for o in signs for b in digits for p in signs for c in digits]
    problems = [_problem(block["benchmark"], *parts) for parts in questions]
    return split(block, data_seed, problems, "Two additions or subtractions modulo 7")


def _problem(benchmark: str, a: int, o: str, b: int, p: str, c: int) -> Problem:
    question = f"{a} {o} {b} {p} {c} mod {MODULUS}"
    steps = [{"query": f"{a} {o} {b}", "answer": "[value]"}, {"query": f"[previous] {p} {c}", "answer": "[value]"}]
    messages = [{"role": "user", "content": question}]
    metadata = {"code": f"({question.replace(' mod ', ') % ')}", "steps": steps}
    return Problem(f"{benchmark}/{question}", question, messages, solve(steps)[-1][-1], metadata)
