"""The rows of the tables of scores: a measured number, its spread and its test beside the paper's number."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slmcollab.report.measured import Measured
from slmcollab.report.tables import format_number

Published = Mapping[tuple[str, ...], tuple[float, str]]  # (benchmark, method, team, metric) -> mean, where it stands
NUMBERS = ("mean", "std", "n_seeds", "published", "published_source", "difference", "ci_low", "ci_high", "p_value")


@dataclass(frozen=True)
class Row:
    """One metric of one cell beside the paper's mean, unrounded, in percent points; names are its first columns."""

    names: Mapping[str, str]
    measured: Measured
    published: float | None = None
    published_source: str | None = None

    @property
    def difference(self) -> float | None:
        if self.measured.mean is None or self.published is None:
            return None
        return self.measured.mean - self.published


def format_rows(rows: Iterable[Row]) -> list[dict[str, str]]:
    """Return the printed text of the names and of NUMBERS; difference is that of the unrounded numbers.

    Percent points have two decimals.
    """
    return [
        {
            **row.names,
            **{name: format_number(getattr(row.measured, name)) for name in ("mean", "std", "ci_low", "ci_high")},
            "n_seeds": str(row.measured.n_seeds),
            "published": format_number(row.published),
            "published_source": row.published_source or "",
            "difference": format_number(row.difference),
            "p_value": format_p(row.measured.p_value),
        }
        for row in rows
    ]


def format_p(value: float | None) -> str:
    """Return a p-value with four decimals, since no sampled one is below 0.0001; a smaller exact one as 1.2e-05."""
    return f"{value:.1e}" if value is not None and value < 0.00005 else format_number(value, 4)
