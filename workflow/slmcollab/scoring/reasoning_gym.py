"""Reasoning Gym's own scorers, with their partial credit."""

import json
import re
from functools import cache

from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import create_dataset

from slmcollab.artifacts import Problem
from slmcollab.scoring import number
from slmcollab.scoring.answers import extract_answer
from slmcollab.scoring.score import Score

ISOLATED = True  # a scorer may take for ever on some answers: the grader runs this module in a process it can kill
ARITHMETIC = re.compile(r"[0-9+\-*/().\s]*")
LISTS = re.compile(r"[\w,'\"\[\]\s]*")  # without brackets to call and dots to look inside, nothing can be executed
# Tasks whose scorer evaluates the answer as Python: what an answer may be made of; None where no such set is safe.
EVALUATED = {
    "binary_matrix": LISTS,
    "countdown": ARITHMETIC,
    "intermediate_integration": None,
    "n_queens": LISTS,
    "polynomial_multiplication": None,
    "puzzle24": ARITHMETIC,
    "simple_integration": None,
    "spiral_matrix": LISTS,
    "string_insertion": LISTS,
}


def score(completion: str, problem: Problem) -> Score:
    """Return the raw score of the task's own scorer; correct where it is exactly 1.

    problem.metadata holds the entry's metadata, which names the task, and the task's config. No extractable answer
    scores 0 and never reaches the scorer, whose floor would be more. gsm_symbolic is scored by numeric equality: the
    library's scorer drops signs and commas. Raises ValueError where a scorer cannot be used safely.
    """
    # ASSUME: propositional_logic keeps its own scorer, though copied premises and even "(P ∨ Q)" often satisfy it.
    task = problem.metadata["source_dataset"]
    if task == "gsm_symbolic":
        return number.score(completion, problem)
    extracted = extract_answer(completion)
    if extracted is None or not _may_be_evaluated(extracted, problem):
        return Score(0.0, False, extracted)
    entry = {"question": problem.question, "answer": problem.answer, "metadata": problem.metadata}
    data_set = _data_set(task, json.dumps(problem.metadata.get("config", {}), sort_keys=True))
    value = float(data_set.score_answer(extracted, entry))
    return Score(value, value == 1.0, extracted)


def _may_be_evaluated(answer: str, problem: Problem) -> bool:
    task = problem.metadata["source_dataset"]
    if task not in EVALUATED:
        return True
    if EVALUATED[task] is None:
        raise ValueError(f"{problem.id}: the scorer of {task} runs the answer as code")
    return EVALUATED[task].fullmatch(answer) is not None


@cache
def _data_set(task: str, config: str) -> ProceduralDataset:
    """Return a data set of the task for its scorer alone, which reads the entry and at times the config (JSON)."""
    return create_dataset(task, seed=0, size=1, **json.loads(config))
