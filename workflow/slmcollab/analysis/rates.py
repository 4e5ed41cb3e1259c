"""Counts of a whole: a share with the interval that its size allows."""

from collections.abc import Iterable
from dataclasses import dataclass

from scipy import stats


@dataclass(frozen=True)
class Rate:
    """count of total; share is None where there is nothing to count in."""

    count: int
    total: int

    @property
    def share(self) -> float | None:
        return self.count / self.total if self.total else None

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Return Wilson's interval of the share (Wilson 1927, no continuity correction), None where there is none."""
        if not self.total:
            return None
        found = stats.binomtest(self.count, self.total).proportion_ci(level, method="wilson")
        return float(found.low), float(found.high)


def rate(hits: Iterable[bool]) -> Rate:
    """Return how many of the answers are yes."""
    hits = list(hits)
    return Rate(sum(hits), len(hits))
