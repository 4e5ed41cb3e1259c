"""Questions about two digits, small enough for a toy policy: a part of the test never occurs in training."""

from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits
from slmcollab.seeding import python_generator

NUM_QUESTIONS = 100
TASKS = {
    "sums": lambda a, b: (f"What is {a} + {b}?", a + b),
    "firsts": lambda a, b: (f"Which comes first, {a} or {b}?", a),
}


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return `num_train` of the 100 questions of the block's one task as train and all 100 as test.

    Ids are {benchmark}/{ten times a plus b}. Raises ValueError for another task and for sizes that do not fit.
    """
    benchmark, num_train, num_test, tasks = (block[key] for key in ("benchmark", "num_train", "num_test", "tasks"))
    if len(tasks) != 1 or not tasks.keys() <= TASKS.keys():
        raise ValueError(f"benchmarks.{benchmark}.tasks: {', '.join(tasks)} is not one of {', '.join(TASKS)}")
    if not 1 <= num_train <= NUM_QUESTIONS:
        raise ValueError(f"benchmarks.{benchmark}.num_train: {num_train} is not between 1 and {NUM_QUESTIONS}")
    if num_test != NUM_QUESTIONS:
        raise ValueError(f"benchmarks.{benchmark}.num_test: {num_test} is not {NUM_QUESTIONS}, the number of questions")
    (task,) = tasks
    problems = [_problem(benchmark, task, first, second) for first in range(10) for second in range(10)]
    drawn = python_generator(data_seed, benchmark, "train").sample(range(NUM_QUESTIONS), num_train)
    rule = (
        f"The {task} of two digits: {num_train} of the {NUM_QUESTIONS} questions, drawn with data_seed {data_seed}, are"
        f" train; test holds all {NUM_QUESTIONS}, the trained ones and the {NUM_QUESTIONS - num_train} that never"
        " occur in training."
    )
    return Splits([problems[index] for index in sorted(drawn)], problems, rule)


def _problem(benchmark: str, task: str, first: int, second: int) -> Problem:
    question, answer = TASKS[task](first, second)
    messages = [{"role": "user", "content": question}]
    return Problem(f"{benchmark}/{10 * first + second}", question, messages, str(answer))
