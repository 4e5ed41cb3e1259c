"""What every scorer returns."""

from dataclasses import dataclass, field, replace
from typing import Any

NOT_RUN, TIMED_OUT, RAISED = "not_run", "timed_out", "raised"  # what the error of a Score is or begins with


@dataclass(frozen=True)
class Score:
    """The verdict on one completion.

    score is in [0, 1] (partial credit where the task has it) and is what a policy is rewarded with; correct is what
    accuracy counts. extracted is the answer that was judged, None where the completion holds none. error is None,
    "timed_out", "not_run: <why>" or "raised: ..."; then score is 0 and correct False. detail is what the scorer adds.
    """

    score: float
    correct: bool
    extracted: str | None
    error: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)


def is_judged(score: Score, module: Any) -> bool:
    """Return whether the verdict of a scorer module says something about the answer.

    A program that runs out of time has failed its tests; where the check itself does, as where it was not run or
    raised, nothing is known.
    """
    return score.error is None or (score.error == TIMED_OUT and getattr(module, "RUNS_PROGRAMS", False))


def settle(score: Score, module: Any) -> Score:
    """Return the score without its error where it is judged all the same; an error is left where nothing is known."""
    return replace(score, error=None) if is_judged(score, module) else score
