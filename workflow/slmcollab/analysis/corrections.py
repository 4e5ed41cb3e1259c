"""How final answers differ from first ones: what a team corrects, and what it spoils."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.rates import Rate


@dataclass(frozen=True)
class Corrections:
    """Counts of questions by their first non-empty answer.

    corrected: wrong, then right at the end; spoiled: right, then wrong; unanswered: no step gave an answer. mean_steps:
    recorded steps a question, None for no question.
    """

    num_questions: int
    num_first_right: int
    num_first_wrong: int
    num_corrected: int
    num_spoiled: int
    mean_steps: float | None

    @property
    def num_unanswered(self) -> int:
        return self.num_questions - self.num_first_right - self.num_first_wrong

    @property
    def first_accuracy(self) -> float | None:
        """Return the share of all questions whose first answer was right."""
        return Rate(self.num_first_right, self.num_questions).share


def corrections(outcomes: Iterable[Outcome]) -> Corrections:
    """Return the counts of a run (paper, section 3.3)."""
    found = list(outcomes)
    return Corrections(
        num_questions=len(found),
        num_first_right=sum(outcome.first is True for outcome in found),
        num_first_wrong=sum(outcome.first is False for outcome in found),
        num_corrected=sum(outcome.first is False and outcome.correct for outcome in found),
        num_spoiled=sum(outcome.first is True and not outcome.correct for outcome in found),
        mean_steps=fmean(outcome.num_steps for outcome in found) if found else None,
    )
