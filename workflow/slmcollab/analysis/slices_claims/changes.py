"""How a quantity differs between two systems on the same questions, and what may be called a difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from slmcollab.analysis.claims.comparisons import ABOVE, BELOW, SAME, Interval
from slmcollab.analysis.claims.verdicts import ALPHA, NotRun, Part
from slmcollab.analysis.slices_claims.measures import Ratio
from slmcollab.analysis.slices_claims.sides import Side, between_seeds, sides
from slmcollab.analysis.statistics import paired_test
from slmcollab.seeding import derive

RESAMPLES = 1999
HOW = (
    "above or below: the mean over seeds is, and 0 is left out by the 95 % bootstrap interval over questions (paired;"
    " n), by the paired permutation test over questions where there is a p (two-sided, seeds averaged, p < 0.05), and"
    " by the 95 % interval over seeds (Welch's; Student's t around the one value of a side that is the same for each"
    " seed); within noise: neither; undecided where it would hold but a side that varies between seeds has one seed;"
    " versions of one task count as one question"
)
ALONE = "; one seed of a side that varies between seeds: its noise is unknown"


@dataclass(frozen=True)
class Change:
    """From a baseline to ours. before, after: means over seeds; low and high bound the interval of after - before.

    p_value: of quantities that are plain means over questions. between: see `between_seeds`. n: questions, those
    that are versions of one task taken as one; questions: all of them.
    """

    before: float
    after: float
    low: float
    high: float
    p_value: float | None
    between: Interval | None
    n_seeds: int
    n: int
    questions: int

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def found(self) -> str:
        """Return ABOVE, BELOW or SAME by HOW, by the questions alone where noise between seeds is unknown."""
        intervals = [(self.low, self.high), *([self.between] if self.between else [])]
        sure = all(low * high > 0 for low, high in intervals) and (self.p_value is None or self.p_value < ALPHA)
        return SAME if not sure or self.difference == 0 else ABOVE if self.difference > 0 else BELOW


def change(before: Sequence[Ratio], after: Sequence[Ratio], generator: np.random.Generator) -> Change:
    """Return the change from the baseline's runs to ours; raises NotRun where a side has nothing to count in."""
    (first, second), n = sides(before, after)
    if not len(first.seeds) or not len(second.seeds):
        raise NotRun("no question to count this in")
    plain = first.plain and second.plain
    p_value = paired_test(second.over.mean(axis=0), first.over.mean(axis=0), generator) if plain else None
    low, high = percentiles(_resampled(first, second, resamples(n)))
    fewest = min(len(first.seeds), len(second.seeds))
    between = between_seeds(first.seeds, second.seeds, (first.fixed, second.fixed))
    means = float(first.seeds.mean()), float(second.seeds.mean())
    return Change(*means, low, high, p_value, between, fewest, n, first.questions)


def mean_change(
    pairs: Mapping[Any, Sequence[tuple[Sequence[Ratio], Sequence[Ratio]]]], generator: np.random.Generator
) -> Change:
    """Return the change of the mean over quantities that are plain means, each of one weight.

    pairs: benchmark -> (the baseline's runs, ours) of each of its quantities. Questions are resampled within
    benchmarks. A side has as many seeds as each of its quantities has.
    """
    count = sum(map(len, pairs.values()))
    parts, draws, before, after, questions = [], np.zeros(RESAMPLES), [], [], 0
    for place, quantities in enumerate(pairs.values()):
        found, n = sides(*(system for pair in quantities for system in pair))
        first, second = found[0::2], found[1::2]
        gain = sum(two.values - one.values for one, two in zip(first, second, strict=True)) / count
        draws += resamples(n, place) @ gain / n
        parts.append(gain / n)
        questions += first[0].questions
        before += first
        after += second
    gains = np.concatenate(parts)
    p_value = paired_test(gains * len(gains), np.zeros(len(gains)), generator)
    seeds = [_seed_means(side) for side in (before, after)]
    means = [float(np.mean([side.seeds.mean() for side in found])) for found in (before, after)]
    between = between_seeds(*seeds, tuple(all(side.fixed for side in found) for found in (before, after)))
    return Change(*means, *percentiles(draws), p_value, between, min(map(len, seeds)), len(gains), questions)


def _seed_means(found: Sequence[Side]) -> Float[np.ndarray, " seed"]:
    """Return each seed's mean over the quantities, of the seeds that all have."""
    fewest = min(len(side.seeds) for side in found)
    return np.mean([side.seeds[:fewest] for side in found], axis=0)


@lru_cache(maxsize=16)
def resamples(n: int, place: int = 0) -> Float[np.ndarray, "draw task"]:
    """Return how often each of n tasks is drawn in each resample; other places have draws of their own."""
    generator = np.random.default_rng(derive(0, "resamples", n, place))
    return generator.multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(float)


def _resampled(first: Side, second: Side, counts: np.ndarray) -> Float[np.ndarray, " draw"]:
    """Return the change in each resample, without those in which a side has nothing to count in."""
    means = []
    for side in (first, second):
        over, under = counts @ side.over.T, counts @ side.under.T
        ratios = np.divide(over, under, out=np.full(over.shape, np.nan), where=under > 0)
        known = ~np.isnan(ratios)
        sums = np.where(known, ratios, 0).sum(axis=1)
        means.append(np.divide(sums, known.sum(axis=1), out=np.full(len(sums), np.nan), where=known.any(axis=1)))
    found = means[1] - means[0]
    return found[~np.isnan(found)]


def percentiles(draws: Float[np.ndarray, " draw"]) -> Interval:
    low, high = np.percentile(draws, [100 * ALPHA / 2, 100 * (1 - ALPHA / 2)])
    return float(low), float(high)


def numbers(found: Change, scale: float = 1.0, published: float | None = None) -> dict[str, Any]:
    """Return the numbers of a part: the difference, its interval over questions, p, and what is behind them."""
    scaled = {"measured": found.difference, "low": found.low, "high": found.high}
    counts = {"p_value": found.p_value, "n_seeds": found.n_seeds, "n": found.n, "published": published}
    return {name: scale * value for name, value in scaled.items()} | counts


def shown(part: Part, reason: str, **found: Any) -> Part:
    """Return a part that only shows a number: there is no rule for it, so no verdict."""
    return replace(part, verdict="", test="no rule: shown only", beside=True, reason=reason, **found)


def judged(part: Part, found: Change, rule: str, scale: float = 1.0, published: float | None = None) -> Part:
    """Return the part with the verdict "the change is `rule`" (ABOVE or BELOW) and from what to what it goes.

    Undecided where it would hold by the questions but noise between seeds is unknown.
    """
    digits = 2 if scale == 100 or abs(scale * found.before) >= 10 else 3
    moved = f"{scale * found.before:.{digits}f} → {scale * found.after:.{digits}f}"
    alone = ALONE if found.between is None else ""
    part, reason = replace(part, test=f"holds where {rule}; {HOW}"), f"{moved}, {found.found}{alone}"
    if alone and found.found == rule:
        return part.undecided(reason, **numbers(found, scale, published))
    return part.judged(found.found == rule, reason=reason, **numbers(found, scale, published))
