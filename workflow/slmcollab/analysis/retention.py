"""Whether a right answer, once found on the way, is still there at the end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scipy import stats

from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.rates import Rate


@dataclass(frozen=True)
class Retention:
    """Counts of questions.

    discovered: a right intermediate answer; kept: of these, a right final one; rescued: a right final answer without a
    right one before it.
    """

    num_questions: int
    num_discovered: int
    num_kept: int
    num_rescued: int

    @property
    def retention(self) -> float | None:
        return Rate(self.num_kept, self.num_discovered).share

    @property
    def discovery(self) -> float | None:
        return Rate(self.num_discovered, self.num_questions).share

    @property
    def rescue(self) -> float | None:
        return Rate(self.num_rescued, self.num_questions - self.num_discovered).share


def retention(outcomes: Iterable[Outcome], *, last_step: bool = False) -> Retention:
    """Return the counts under one of two conventions, which the paper leaves open.

    last_step False: answers of steps t < T count, and questions that ended at their first step are dropped, since they
    can have none. True: the last step's answer counts, too, and all questions stay.
    """
    # ASSUME: a right intermediate answer is one of a step before the last, and one-step questions take no part.
    found = [outcome for outcome in outcomes if last_step or outcome.num_steps > 1]
    right = [(outcome.discovered or (last_step and outcome.correct), outcome.correct) for outcome in found]
    return Retention(
        num_questions=len(right),
        num_discovered=sum(discovered for discovered, _ in right),
        num_kept=sum(discovered and correct for discovered, correct in right),
        num_rescued=sum(correct and not discovered for discovered, correct in right),
    )


def ranks(values: Mapping[str, float | None]) -> dict[str, int | None]:
    """Return 1 for the highest value; equal ones share the better rank, and what has no value has no rank."""
    measured = {name: value for name, value in values.items() if value is not None}
    found = stats.rankdata([-value for value in measured.values()], method="min")
    places = dict(zip(measured, found, strict=True))
    return {name: int(places[name]) if name in places else None for name in values}
