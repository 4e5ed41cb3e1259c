"""Programs judged per second with two workers against one, on programs that compute for a while."""

import os
import time

from measure import Figure

from slmcollab.artifacts import Problem
from slmcollab.scoring.code import languages, run
from slmcollab.scoring.code.sandbox import choose
from slmcollab.scoring.code.smoke import PROGRAMS
from slmcollab.scoring.grader import Grader

PER_LANGUAGE, ROUNDS, WORK_S = 4, 3, 0.4
BODIES = {  # the sum of 1 to n, slowly, in {n} steps
    "py": (
        "def total(n):\n",
        "    s = 0\n    for i in range(n + 1):\n        s += i\n    return s\n",
        "assert total({n}) == {s}",
    ),
    "php": (
        "<?php\nfunction total($n) {\n",
        "    $s = 0;\n    for ($i = 0; $i <= $n; $i++) {\n        $s += $i;\n    }\n    return $s;\n}\n",
        "if (total({n}) !== {s}) {{ throw new Exception('Test failed!'); }}",
    ),
    "sh": (
        "total() {\n",
        "  local s=0\n  for ((i = 0; i <= $1; i++)); do s=$((s + i)); done\n  echo $s",
        "}}\nset -e\n[[ $(total {n}) = {s} ]]",
    ),
}


def problem(language: str, steps: int) -> tuple[str, Problem]:
    prompt, body, tests = BODIES[language]
    tests = tests.format(n=steps, s=steps * (steps + 1) // 2)
    about = {"language": language, "prompt": prompt, "tests": tests, "stop_tokens": [], "source": "humaneval"}
    return body, Problem(language, "", [], None, about)


def seconds(workers: int, pairs: list[tuple[str, Problem]]) -> float:
    start = time.perf_counter()
    with Grader("multipl_e", 30, num_workers=workers) as grader:
        scores = grader.grade(*map(list, zip(*pairs, strict=True)))
    taken = time.perf_counter() - start
    assert all(score.correct for score in scores), [score.detail for score in scores if not score.correct]
    return taken


def calibrated(language: str) -> tuple[str, Problem]:
    """Return a problem whose program computes for about WORK_S seconds here."""
    short, long = (min(seconds(1, [problem(language, steps)]) for _ in range(3)) for steps in (1000, 400_000))
    return problem(language, int(400_000 * WORK_S / max(long - short, 0.005)))


def code_scoring() -> Figure:
    """Wall-clock time, as the work is in other processes; the best round of each, since both share the machine."""
    pairs = [calibrated(language) for language in BODIES] * PER_LANGUAGE
    times = [(seconds(2, pairs), seconds(1, pairs)) for _ in range(ROUNDS)]
    ours, peer = (min(column) for column in zip(*times, strict=True))
    note = f"{os.cpu_count()} cores; s per trivial program: {', '.join(trivial_programs())}"
    number = len(pairs)
    return Figure(
        "code_scoring", peer / ours, 1.6, number / ours, "programs/s", number / peer, at_least=True, note=note
    )


def trivial_programs() -> list[str]:
    """Return what compiling and running a trivial program takes in each language that is there."""
    found, sandbox = [], choose()
    for language in languages.ALL:
        if run.check(language, sandbox) is None:
            start = time.perf_counter()
            run.judge(*PROGRAMS[language.name], language, sandbox, 30)
            found.append(f"{language.name} {time.perf_counter() - start:.2f}")
        else:
            found.append(f"{language.name} not there")
    return found


if __name__ == "__main__":
    print(code_scoring())
