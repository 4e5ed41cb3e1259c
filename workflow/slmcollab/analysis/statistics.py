"""Spread over seeds, as the papers print it; intervals and paired tests over questions, of which they have few."""

import math
import statistics
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy import stats

RESAMPLES = 9999  # the smallest sampled p is 1 in 10,000, so four decimals print each one as it is
BATCH = 64  # resamples held at once: 2 MB for 4,000 questions


def mean_and_std(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and the sample standard deviation (divided by n - 1), None for a single value.

    Both are exact sums rounded once, so the order of the values changes nothing.
    Raises ValueError where there is no value, or one that is not a finite number.
    """
    if not values:
        raise ValueError("no values: a mean over no seed does not exist")
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"not finite numbers: {list(values)}")
    std = float(statistics.stdev(values)) if len(values) > 1 else None
    return float(statistics.mean(values)), std


def question_means(seeds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return each question's mean over the seeds, sorted by question; {} for no seed.

    seeds: one mapping question -> score a seed. Raises ValueError where two seeds answered other questions.
    """
    for index, seed in enumerate(seeds):
        if seed.keys() != seeds[0].keys():
            raise ValueError(f"entry {index} has other questions than the first: {_unequal(seed, seeds[0])}")
    names = sorted(seeds[0]) if seeds else []
    return {name: statistics.fmean(seed[name] for seed in seeds) for name in names}


def paired(ours: Mapping[str, float], baseline: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """Return both sides' scores in one order of the questions; raises ValueError where their questions differ."""
    if ours.keys() != baseline.keys():
        raise ValueError(f"not the baseline's questions: {_unequal(ours, baseline)}")
    names = sorted(ours)
    return [ours[name] for name in names], [baseline[name] for name in names]


def bootstrap_interval(
    values: Float[np.ndarray, " problem"],
    generator: np.random.Generator,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean over questions, in the unit of `values`.

    values: one number a question, seeds averaged before: so the interval says how far other questions of the same kind
    could move the mean, not other seeds. Raises ValueError for no or not finite values.
    """
    _check(values)
    if len(values) == 1:
        return float(values[0]), float(values[0])
    options = {"confidence_level": level, "n_resamples": resamples, "batch": BATCH, "method": "percentile"}
    found = stats.bootstrap((values,), np.mean, vectorized=True, rng=generator, **options).confidence_interval
    return float(found.low), float(found.high)


def paired_test(
    ours: Float[np.ndarray, " problem"],
    baseline: Float[np.ndarray, " other"],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> float:
    """Return the two-sided p of the paired permutation test: the sign of each question's difference is flipped.

    Both sides list the same questions in one order, seeds averaged before. p is the share of flips whose mean
    difference is at least as large as the measured one: of all flips where these are at most `resamples` + 1, else of
    random ones and the measured one, so at least 1 / (`resamples` + 1). Equal questions take no part; if all are equal,
    p is 1. Raises ValueError for sides of unequal length, no or not finite values.
    """
    # scipy.stats.permutation_test needs 1.6 s for 4,000 questions; the flips of equal differences add up to a binomial.
    _check(ours)
    _check(baseline)
    if len(ours) != len(baseline):
        raise ValueError(f"{len(ours)} questions against the baseline's {len(baseline)}")
    differences = np.round(ours - baseline, 12)  # 2/3 - 1/3 and 1/3 - 0 are one difference
    values, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    threshold = abs(differences.sum()) * (1 - 1e-9)  # equal sums may differ in their last digits
    num_flips = 2 ** int(counts.sum())
    if num_flips <= resamples + 1:
        flipped = np.arange(num_flips)[:, None] >> np.arange(counts.sum()) & 1
        sums = ((1 - 2 * flipped) * np.repeat(values, counts)).sum(axis=1)
        return float(np.mean(np.abs(sums) >= threshold))
    as_large = 0
    for start in range(0, resamples, BATCH):
        shape = (min(BATCH, resamples - start), len(values))
        sums = ((2 * generator.binomial(counts, 0.5, shape) - counts) * values).sum(axis=1)
        as_large += int(np.count_nonzero(np.abs(sums) >= threshold))
    return (as_large + 1) / (resamples + 1)


def _check(values: np.ndarray) -> None:
    if not len(values) or not np.isfinite(values).all():
        raise ValueError(f"no values, or some that are not finite numbers: {values}")


def _unequal(one: Mapping[str, float], other: Mapping[str, float]) -> str:
    return f"{len(one)} and {len(other)}, only on one side are {sorted(one.keys() ^ other.keys())[:3]}"
