"""One-line functions in Python, Bash and JavaScript that really run: two words say what to do with a number."""

from itertools import product
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits
from slmcollab.benchmarks.toy_world import FACTORS, SUMMANDS, Step, solve, split

NUMBERS = (3, 10)  # which the hidden tests try
ANSWERS = {  # of the last step, by language
    "py": "return ( [previous] ) [value]",
    "sh": "echo $(( ( [previous] ) [value] ))",
    "js": "return ( [previous] ) [value] ;",
}
PROMPTS = {"py": "def f(x):\n    ", "sh": "f() {\n    x=$1\n    ", "js": "function f(x) {\n    "}
TESTS = {  # what precedes the checks, and each of them
    "py": ("", "assert f({number}) == {result}"),
    "sh": ("}\nset -e\n", "[ $(f {number}) = {result} ]"),
    "js": ("", "if (f({number}) !== {result}) process.exit(1);"),
}
STOP_TOKENS = {"py": ["\ndef"], "sh": ["\n}"], "js": ["\nfunction "]}


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return splits of the 162 tasks `double then next`, each in three languages; raises for sizes that do not fit."""
    pairs = [*product(FACTORS, SUMMANDS), *product(SUMMANDS, FACTORS)]
    problems = [_problem(block["benchmark"], language, *pair) for pair in pairs for language in ANSWERS]
    return split(block, data_seed, problems, "A function of one line in three languages", per_task=len(ANSWERS))


def _problem(benchmark: str, language: str, first: str, second: str) -> Problem:
    source = "humaneval" if first in FACTORS else "mbpp"
    task = f"{first} then {second}"
    question = f"{language} : {task}"
    steps = [{"query": first, "answer": "x [value]"}, {"query": second, "answer": ANSWERS[language]}]
    metadata = {
        **{"language": language, "source": source, "name": task, "task": task, "group": f"{source}-{language}"},
        **{"prompt": PROMPTS[language], "tests": _tests(language, steps), "stop_tokens": STOP_TOKENS[language]},
        "steps": steps,
    }
    messages = [{"role": "user", "content": question}]
    return Problem(f"{benchmark}/{source}-{language}/{task}", question, messages, None, metadata)


def _tests(language: str, steps: list[Step]) -> str:
    """Return the hidden tests: the results are worked out from the facts, not by the answer's own program."""
    before, check = TESTS[language]
    checks = [check.format(number=number, result=_result(number, steps)) for number in NUMBERS]
    return before + "\n".join(checks) + "\n"


def _result(number: int, steps: list[Step]) -> int:
    for _, value, _ in solve(steps):
        sign, by = value.split()
        number = number * int(by) if sign == "*" else number + int(by) if sign == "+" else number - int(by)
    return number
