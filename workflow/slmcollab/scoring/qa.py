"""Exact match and token F1 after SQuAD's normalisation, for MuSiQue."""

from slmcollab.artifacts import Problem
from slmcollab.scoring.overlap import bag_f1, bare_answer, normalise
from slmcollab.scoring.score import Score

METRICS = ("accuracy", "f1")
extract = bare_answer


def score(completion: str, problem: Problem) -> Score:
    """Return the token F1, and as correct the exact match, with the best of the gold answer and its aliases.

    `completion` is the answer alone; one that is empty scores what an empty text does, 0 unless a gold normalises to
    nothing. Raises ValueError if the problem has no gold answer.
    """
    if problem.answer is None:
        raise ValueError(f"{problem.id}: no gold answer")
    answer = normalise(completion)
    golds = [normalise(gold) for gold in [problem.answer, *problem.metadata.get("aliases", [])]]
    exact = answer in golds
    f1 = max(bag_f1(answer.split(), gold.split()) for gold in golds)
    return Score(f1, exact, extract(completion), detail={"accuracy": float(exact), "f1": f1})
