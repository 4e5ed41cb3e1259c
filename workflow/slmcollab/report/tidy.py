"""Quantities of many runs as rows: mean and spread over seeds, counts behind them, the paper's number beside them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from slmcollab.analysis.rates import Rate
from slmcollab.analysis.statistics import mean_and_std
from slmcollab.report.slices_runs import EVAL, NAMES, Quantities, Quantity
from slmcollab.report.tables import format_number

NUMBERS = (
    *("unit", "mean", "std", "n_seeds", "n", "ci_low", "ci_high"),
    *("published", "published_source", "difference"),
)
# The paper calls CL before and after its training what are two systems here.
CONDITIONS = {"cl": "after CL", "cl_no_training": "before CL"}
Printed = Mapping[tuple[str, str, str], tuple[str, str]]  # see `read_other`
Names = dict[str, str]


class Measured(NamedTuple):
    """The quantities of one run; names: its benchmark, method, stage and evaluator."""

    names: Mapping[str, str]
    seed: int
    quantities: Quantities


def tidy_rows(
    runs: Iterable[Measured],
    columns: Sequence[str],
    printed: Printed,
    condition: Callable[[Names], tuple[str, str] | None],
) -> list[dict[str, str]]:
    """Return a row per quantity of a system in the order of the runs: their names, `columns`, then NUMBERS as text.

    columns: what the keys of the quantities are. std is the sample standard deviation over the seeds that have a value;
    n adds up what the seeds' values are made of, and ci is Wilson's 95 % interval of their counts together, which takes
    seeds for independent. condition: the paper's (quantity, condition) of a row, None where it prints nothing.
    """
    found: dict[tuple[str, ...], list[Quantity]] = {}
    for run in runs:
        for key, quantity in run.quantities.items():
            names = (*(run.names[name] for name in NAMES), *key)
            found.setdefault(names, []).append(quantity)
    rows = []
    for key, quantities in found.items():
        names = dict(zip((*NAMES, *columns), key, strict=True))
        asked = condition(names) if names["stage"] == EVAL else None
        shown = None if asked is None else printed.get((asked[0], names["benchmark"], asked[1]))
        rows.append(names | _numbers(quantities, shown))
    return rows


def _numbers(quantities: Sequence[Quantity], printed: tuple[str, str] | None) -> Names:
    values = [quantity.value for quantity in quantities if quantity.value is not None]
    mean, std = mean_and_std(values) if values else (None, None)
    counts = [quantity.n for quantity in quantities if quantity.n is not None]
    interval = _pooled([quantity.rate for quantity in quantities if quantity.rate is not None])
    published = float(printed[0]) if printed else None
    return {
        "unit": quantities[0].unit,
        "mean": format_number(mean),
        "std": format_number(std),
        "n_seeds": str(len(values)),
        "n": str(sum(counts)) if counts else "",
        "ci_low": format_number(None if interval is None else 100 * interval[0]),
        "ci_high": format_number(None if interval is None else 100 * interval[1]),
        "published": format_number(published),
        "published_source": printed[1] if printed else "",
        "difference": format_number(None if published is None or mean is None else mean - published),
    }


def _pooled(rates: Sequence[Rate]) -> tuple[float, float] | None:
    return Rate(sum(rate.count for rate in rates), sum(rate.total for rate in rates)).interval()
