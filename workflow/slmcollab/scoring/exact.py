"""Equal text, for toy benchmarks."""

from slmcollab.artifacts import Problem
from slmcollab.scoring.answers import extract_answer
from slmcollab.scoring.score import Score


def score(completion: str, problem: Problem) -> Score:
    """Return 1 where the extracted answer equals the problem's, spaces at the ends aside; else 0."""
    extracted = extract_answer(completion)
    correct = extracted is not None and problem.answer is not None and extracted == problem.answer.strip()
    return Score(float(correct), correct, extracted)
