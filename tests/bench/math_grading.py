"""Seconds to grade 500 MATH answers in two processes, those that run out of time included."""

import json
import os
import time
from pathlib import Path

from measure import Figure

from slmcollab.artifacts import Problem
from slmcollab.scoring.grader import TIMED_OUT, Grader

NUM_ANSWERS, LIMIT_S, BOUND_S = 500, 5, 60
BOMBS = [r"\boxed{9^{9^{9^9}}}", "(" * 3000 + "1" + ")" * 3000, r"\prod_{k=1}^{10^7} k", "7^{7^{7^{7^7}}}"]
FORMS = ("{}", r"\boxed{{{}}}", "The answer is ${}$.", "{} + 1", "x = {}")


def golds() -> list[str]:
    """Return the answers of MATH-500 where SLMCOLLAB_DATA names a folder with them, else made ones of their kinds."""
    if "SLMCOLLAB_DATA" in os.environ:
        lines = (Path(os.environ["SLMCOLLAB_DATA"]) / "math500.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["answer"] for line in lines]
    kinds = (
        "{n}",
        r"\frac{{{n}}}{{7}}",
        r"{n}\sqrt{{3}}",
        r"\left( {n}, \frac{{\pi}}{{2}} \right)",
        "x^2 + {n}x - 6",
        "[{n}, 900)",
        r"{n}^\circ",
        r"\begin{{pmatrix}} {n} \\ 2 \end{{pmatrix}}",
    )
    return [kinds[n % len(kinds)].format(n=n) for n in range(NUM_ANSWERS)]


def math_grading() -> Figure:
    problems = [Problem(f"math/test/{index}", "", [], gold) for index, gold in enumerate(golds()[:NUM_ANSWERS])]
    answers = [FORMS[index % len(FORMS)].format(problem.answer) for index, problem in enumerate(problems)]
    step = NUM_ANSWERS // len(BOMBS)
    for place, bomb in enumerate(BOMBS):
        answers[place * step] = bomb
    start = time.perf_counter()
    with Grader("math", LIMIT_S, num_workers=2) as grader:
        scores = grader.grade(answers, problems)
    seconds = time.perf_counter() - start
    right, late = sum(score.correct for score in scores), sum(score.error == TIMED_OUT for score in scores)
    note = f"{right} right, {late} timed out after {LIMIT_S} s, {NUM_ANSWERS / seconds:.0f} answers/s"
    return Figure("math_grading", seconds, BOUND_S, seconds, "s", note=note)
