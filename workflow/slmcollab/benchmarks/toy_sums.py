"""One-digit sums, small enough for a toy policy: a quarter of the test never occurs in training."""

from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.splits import Splits
from slmcollab.seeding import python_generator

NUM_QUESTIONS = 100


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return `num_train` of the 100 sums as train and all 100 as test; ids are {benchmark}/{ten times a plus b}.

    Raises ValueError for sizes that do not fit.
    """
    benchmark, num_train, num_test = block["benchmark"], block["num_train"], block["num_test"]
    if not 1 <= num_train <= NUM_QUESTIONS:
        raise ValueError(f"benchmarks.{benchmark}.num_train: {num_train} is not between 1 and {NUM_QUESTIONS}")
    if num_test != NUM_QUESTIONS:
        raise ValueError(f"benchmarks.{benchmark}.num_test: {num_test} is not {NUM_QUESTIONS}, the number of sums")
    problems = [_problem(benchmark, first, second) for first in range(10) for second in range(10)]
    drawn = python_generator(data_seed, benchmark, "train").sample(range(NUM_QUESTIONS), num_train)
    rule = (
        f"The sums of two digits: {num_train} of the {NUM_QUESTIONS} questions, drawn with data_seed {data_seed}, are"
        f" train; test holds all {NUM_QUESTIONS}, the trained ones and the {NUM_QUESTIONS - num_train} that never"
        " occur in training."
    )
    return Splits([problems[index] for index in sorted(drawn)], problems, rule)


def _problem(benchmark: str, first: int, second: int) -> Problem:
    question = f"What is {first} + {second}?"
    return Problem(
        id=f"{benchmark}/{10 * first + second}",
        question=question,
        messages=[{"role": "user", "content": question}],
        answer=str(first + second),
    )
