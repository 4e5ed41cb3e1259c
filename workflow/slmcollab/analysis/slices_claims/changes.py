"""How a quantity differs between two systems on the same questions, and what may be called a difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from slmcollab.analysis.claims.comparisons import ABOVE, BELOW, SAME, Interval, welch
from slmcollab.analysis.claims.verdicts import ALPHA, NotRun, Part
from slmcollab.analysis.slices_claims.measures import Ratio
from slmcollab.analysis.statistics import paired_test
from slmcollab.seeding import derive

RESAMPLES = 1999
HOW = (
    "above or below: the mean over seeds is, and 0 is left out by the 95 % bootstrap interval over questions (paired;"
    " n), by the paired permutation test over questions where there is a p (two-sided, seeds averaged, p < 0.05), and"
    " with two seeds a side by the 95 % Welch interval over seeds; within noise: neither"
)
ALONE = "; one seed: noise between trainings is unknown"


@dataclass(frozen=True)
class Change:
    """From a baseline to ours. before, after: means over seeds; low and high bound the interval of after - before.

    p_value: of quantities that are plain means over questions. between: the Welch interval over seeds, None for one.
    """

    before: float
    after: float
    low: float
    high: float
    p_value: float | None
    between: Interval | None
    n_seeds: int
    n: int

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def found(self) -> str:
        intervals = [(self.low, self.high), *([self.between] if self.between else [])]
        sure = all(low * high > 0 for low, high in intervals) and (self.p_value is None or self.p_value < ALPHA)
        return SAME if not sure or self.difference == 0 else ABOVE if self.difference > 0 else BELOW


@dataclass(frozen=True)
class Side:
    """All seeds of one system, on shared questions."""

    over: Float[np.ndarray, "seed question"]
    under: Float[np.ndarray, "seed question"]

    @property
    def seeds(self) -> Float[np.ndarray, " seed"]:
        """Return each seed's ratio, without seeds that have nothing to count in."""
        over, under = self.over.sum(axis=1), self.under.sum(axis=1)
        return over[under > 0] / under[under > 0]

    @property
    def plain(self) -> bool:
        return bool((self.under == 1).all())


def sides(*systems: Sequence[Ratio]) -> tuple[list[Side], int]:
    """Return the systems on the questions that all their runs have, and how many these are; raises NotRun for none."""
    shared = set.intersection(*(set(run.questions) for system in systems for run in system))
    if not shared:
        raise NotRun("no question that all runs have")
    found = []
    for system in systems:
        chosen = [[name in shared for name in run.questions] for run in system]
        over, under = (
            np.stack([getattr(run, side)[mask] for run, mask in zip(system, chosen, strict=True)])
            for side in ("over", "under")
        )
        found.append(Side(over, under))
    return found, len(shared)


def change(before: Sequence[Ratio], after: Sequence[Ratio], generator: np.random.Generator) -> Change:
    """Return the change from the baseline's runs to ours; raises NotRun where a side has nothing to count in."""
    (first, second), n = sides(before, after)
    if not len(first.seeds) or not len(second.seeds):
        raise NotRun("no question to count this in")
    plain = first.plain and second.plain
    p_value = paired_test(second.over.mean(axis=0), first.over.mean(axis=0), generator) if plain else None
    low, high = percentiles(_resampled(first, second, resamples(n)))
    fewest = min(len(first.seeds), len(second.seeds))
    between = welch(second.seeds, first.seeds) if fewest > 1 else None
    return Change(float(first.seeds.mean()), float(second.seeds.mean()), low, high, p_value, between, fewest, n)


def mean_change(
    pairs: Mapping[Any, Sequence[tuple[Sequence[Ratio], Sequence[Ratio]]]], generator: np.random.Generator
) -> Change:
    """Return the change of the mean over quantities that are plain means, each of one weight.

    pairs: benchmark -> (the baseline's runs, ours) of each of its quantities. Questions are resampled within
    benchmarks. A seed counts between trainings where every quantity has that many seeds.
    """
    count = sum(map(len, pairs.values()))
    questions, draws, before, after = [], np.zeros(RESAMPLES), [], []
    for place, quantities in enumerate(pairs.values()):
        found, n = sides(*(system for pair in quantities for system in pair))
        first, second = found[0::2], found[1::2]
        gain = (
            sum(two.over.mean(axis=0) - one.over.mean(axis=0) for one, two in zip(first, second, strict=True)) / count
        )
        draws += resamples(n, place) @ gain / n
        questions.append(gain / n)
        before += [side.seeds for side in first]
        after += [side.seeds for side in second]
    gains = np.concatenate(questions)
    p_value = paired_test(gains * len(gains), np.zeros(len(gains)), generator)
    fewest = min(map(len, [*before, *after]))
    seeds = [np.mean([values[:fewest] for values in side], axis=0) for side in (before, after)]
    means = [float(np.mean([values.mean() for values in side])) for side in (before, after)]
    between = welch(seeds[1], seeds[0]) if fewest > 1 else None
    return Change(*means, *percentiles(draws), p_value, between, fewest, len(gains))


@lru_cache(maxsize=16)
def resamples(n: int, place: int = 0) -> Float[np.ndarray, "draw question"]:
    """Return how often each of n questions is drawn in each resample; other places have draws of their own."""
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
    """Return the part with the verdict "the change is `rule`" (ABOVE or BELOW) and from what to what it goes."""
    digits = 2 if scale == 100 or abs(found.before) >= 10 else 3
    moved = f"{scale * found.before:.{digits}f} → {scale * found.after:.{digits}f}"
    alone = ALONE if found.n_seeds < 2 else ""
    part = replace(part, test=f"holds where {rule}; {HOW}")
    return part.judged(found.found == rule, reason=f"{moved}, {found.found}{alone}", **numbers(found, scale, published))
