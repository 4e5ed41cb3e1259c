"""Where the team and another method go wrong: together, one alone, by source of the problems, at the very end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.rates import Rate, rate

Outcomes = Mapping[str, Outcome]  # problem -> what became of it


@dataclass(frozen=True)
class Missed:
    """Questions that both sides answer wrongly, and each side's mean partial match on them (0 to 1)."""

    count: int
    ours: float | None
    baseline: float | None


def shared(ours: Outcomes, other: Outcomes) -> list[str]:
    """Return the questions on which both sides were judged."""
    return [name for name in ours if name in other]


def missed_by_both(ours: Outcomes, baseline: Outcomes) -> Missed:
    """Return both sides' partial match on what neither has right, of the questions on which both were judged."""
    both = [name for name in shared(ours, baseline) if not ours[name].correct and not baseline[name].correct]
    means = [fmean(side[name].score for name in both) if both else None for side in (ours, baseline)]
    return Missed(len(both), *means)


def solved_only_by_other(ours: Outcomes, other: Outcomes) -> Rate:
    """Return, of the problems that only `other` solves, those for which no intermediate answer of ours was right.

    Those of which one side was not judged take no part.
    """
    alone = [name for name in shared(ours, other) if other[name].correct and not ours[name].correct]
    return rate(not ours[name].discovered for name in alone)


def source_rates(outcomes: Outcomes) -> dict[str, Rate]:
    """Return the share of right final answers by source, sorted: humaneval of the group humaneval-cpp.

    Problems without a group take no part; {} where no problem has one.
    """
    by_source: dict[str, list[bool]] = {}
    for outcome in outcomes.values():
        if outcome.group is not None:
            by_source.setdefault(outcome.group.rpartition("-")[0], []).append(outcome.correct)
    return {source: rate(by_source[source]) for source in sorted(by_source)}


def first_compliant_then_failed(outcomes: Iterable[Outcome]) -> Rate:
    """Return, of all questions, those whose first answer satisfies all constraints and whose final one does not."""
    return rate(outcome.first is True and not outcome.correct for outcome in outcomes)
