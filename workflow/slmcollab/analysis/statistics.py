"""Spread over seeds, as the papers print it: mean ± sample standard deviation."""

import math
import statistics
from collections.abc import Sequence


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
