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

    Percent points have two decimals, p has four: a sampled p is a multiple of 0.0001, and none is smaller.
    """
    return [
        {
            **row.names,
            **{name: format_number(getattr(row.measured, name)) for name in ("mean", "std", "ci_low", "ci_high")},
            "n_seeds": str(row.measured.n_seeds),
            "published": format_number(row.published),
            "published_source": row.published_source or "",
            "difference": format_number(row.difference),
            "p_value": format_number(row.measured.p_value, 4),
        }
        for row in rows
    ]
