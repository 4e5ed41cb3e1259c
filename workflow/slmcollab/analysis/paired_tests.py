"""Paired tests of two systems on the same questions, and what is left of their p-values after so many tests."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

MCNEMAR, BOOTSTRAP = "mcnemar", "bootstrap"
RESAMPLES = 10_000
BATCH = 16  # resamples held at once: at 64 arrays of 2,417 questions leave the heap, and all takes three times as long


class Comparison(NamedTuple):
    """A paired test. n_pairs: questions that both sides could judge; n_discordant: those of them where they differ."""

    p_value: float
    test: str
    n_pairs: int
    n_discordant: int


def mcnemar(num_ours: int, num_theirs: int) -> float:
    """Return the two-sided p of McNemar's exact test (1947): min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))).

    num_ours and num_theirs: the questions b and c that our side alone and the other side alone has right.
    """
    total = num_ours + num_theirs
    return float(stats.binomtest(num_ours, total).pvalue) if total else 1.0


def paired_bootstrap(
    differences: Float[np.ndarray, " question"],
    strata: Sequence[str],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> float:
    """Return the two-sided p of the centred paired bootstrap over questions (Efron & Tibshirani 1993).

    differences: ours less theirs, a number a question, seeds averaged before; strata: which questions are drawn for
    which. p is the share of resamples whose mean difference is as far from the measured one as that is from 0, the
    measured one counted among them: at least 1 / (`resamples` + 1). It does not depend on the order of the questions.
    Raises ValueError for no or not finite differences, or another number of strata.
    """
    if not len(differences) or not np.isfinite(differences).all():
        raise ValueError(f"no differences, or some that are not finite numbers: {differences}")
    if len(strata) != len(differences):
        raise ValueError(f"{len(strata)} strata of {len(differences)} differences")
    differences = np.round(differences, 9)  # 2/3 - 1/3 and 1/3 - 0 are one difference
    moved = np.zeros(resamples)
    for stratum in sorted(set(strata)):
        inside = [name == stratum for name in strata]
        moved += _moved_sums(np.sort(differences[inside]), generator, resamples)
    threshold = abs(differences.sum()) - 1e-9 * np.abs(differences).sum()  # equal sums may differ in their last digits
    as_large = int(np.count_nonzero(np.abs(moved) >= threshold))
    # ASSUME: where m questions differ no bootstrap p is below 2 / 2^m, as m that differ alike would have no spread.
    least = min(1.0, 2.0 ** (1 - int(np.count_nonzero(differences))))
    return max(least, (as_large + 1) / (resamples + 1))


def _moved_sums(
    values: Float[np.ndarray, " question"], generator: np.random.Generator, resamples: int
) -> Float[np.ndarray, " resample"]:
    """Return, for each resample, its sum less the sum of the values."""
    drawn = [
        values[generator.integers(len(values), size=(min(BATCH, resamples - start), len(values)))].sum(axis=1)
        for start in range(0, resamples, BATCH)
    ]
    return np.concatenate(drawn) - values.sum()


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number (Holm 1979), in the order given."""
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted
