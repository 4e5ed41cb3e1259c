"""What became of a question: its first answer, whether a right one was on the table before the end, and the end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slmcollab.scoring.score import NOT_RUN as NOT_RUN


@dataclass(frozen=True)
class Outcome:
    """One question of a run.

    first: whether the first non-empty answer was right, which is the final one where no step before the last gave any;
    None where there is no answer, or it was not judged. discovered: whether some answer of a step t < T was judged
    right. correct, score (0 to 1) and group (such as humaneval-cpp) are the final answer's.
    """

    first: bool | None
    discovered: bool
    correct: bool
    num_steps: int
    score: float
    group: str | None


def is_judged(verdict: Mapping[str, Any]) -> bool:
    """Return whether a verdict of scores.json says anything about the final answer: else it has no metrics."""
    return bool(verdict["metrics"])


def outcomes(answers: Sequence[Mapping[str, Any]], scores: Mapping[str, Any]) -> dict[str, Outcome]:
    """Return problem -> Outcome in the order of the answers, without those that were not judged.

    answers: rows of answers.jsonl; scores: the scores.json made of them. Raises ValueError where the two do not hold
    the same problems, or not as many intermediate answers.
    """
    problems = scores["problems"]
    if problems.keys() != {row["id"] for row in answers} or len(problems) != len(answers):
        raise ValueError(f"{len(problems)} scored problems are not those of {len(answers)} answers")
    found = {}
    for row in answers:
        verdict = problems[row["id"]]
        if not is_judged(verdict):
            continue
        candidates = verdict["candidates"]
        if len(candidates) != len(row["candidates"]):
            raise ValueError(f"{row['id']}: {len(candidates)} of {len(row['candidates'])} intermediate answers scored")
        last = verdict["correct"] if row["answer"] else None
        found[row["id"]] = Outcome(
            first=candidates[0] if candidates else last,
            discovered=True in candidates,
            correct=verdict["correct"],
            num_steps=row["num_steps"],
            score=verdict["score"],
            group=verdict["group"],
        )
    return found
