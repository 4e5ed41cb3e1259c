"""Figure 6b as a drawing."""

import math
from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from slmcollab.report import panels
from slmcollab.report.figure6b import Point, Sweep
from slmcollab.report.style import COLORS, INK, PALE, house_style

# metric -> label at the line, in the key, colour, marker, its fill, and how far it stands beside its m, in doublings
SERIES = {
    "accuracy": ("all", "all test questions", COLORS[0], "o", COLORS[0], -0.09),
    "accuracy_unseen": ("unseen", "questions unseen in training", COLORS[1], "s", "white", 0.09),
}
SIZE_WIDTH = 0.2  # inches of x axis for one m
LEAST_SPAN = 10  # percent points: a panel shows at least so many, so that noise does not fill it


def draw_figure6b(sweeps: Sequence[Sweep]) -> list[Figure]:
    """Return Figure 6b on one page: per benchmark and team the accuracy over m, of all and of unseen questions.

    Large markers are means over seeds, bars the sample standard deviation (cut at 0 and 100), small dots seeds. A line
    is broken, and "not run" written, at an m without a run.
    """
    titles = [(f"{sweep.benchmark} · {sweep.team}", _count_text(sweep)) for sweep in sweeps]
    room = panels.LABEL_OFFSET + max(panels.text_width(label) for label, *_ in SERIES.values())
    key = {
        named: {"color": color, "marker": marker, "markerfacecolor": fill, "markersize": 4, "linewidth": 1.2}
        for _, named, color, marker, fill, _ in SERIES.values()
    }
    key["mean ± sample std over seeds"] = {"color": INK, "marker": "|", "markersize": 8, "linestyle": ""}
    key["one seed"] = {"color": INK, "marker": ".", "markersize": 4, "linestyle": "", "alpha": 0.6}
    rows = 1 if len(sweeps) > 2 else 2 if len(sweeps) == 2 else 4
    with house_style():
        figure, grid = panels.panel_grid(
            titles,
            room=room,
            narrowest=SIZE_WIDTH * max(len(sweep.sizes) for sweep in sweeps),
            shared_y=False,
            key_rows=rows,
            ylabel="accuracy (percent points)",
            xlabel="m (number of context tokens)",
        )
        for axes, sweep in zip(grid, sweeps, strict=True):
            _draw_panel(axes, sweep)
        panels.add_key(figure, key, len(key) // rows)
    return [figure]


def _count_text(sweep: Sweep) -> str:
    counts = [len(point.seeds) for point in sweep.points if point.seeds]
    if not counts:
        return "not run"
    seeds = panels.seeds_text(*counts)
    unseen = any(point.mean is not None for point in sweep.series("accuracy_unseen"))
    return seeds if unseen else f"{seeds}, no unseen question"


def _draw_panel(axes: Axes, sweep: Sweep) -> None:
    sizes = sweep.sizes
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes[0] / math.sqrt(2), sizes[-1] * math.sqrt(2))
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(*_limits(sweep))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    ends = {metric: end for metric in SERIES if (end := _draw_series(axes, sweep.series(metric), metric))}
    over = axes.get_xaxis_transform()
    for size in sweep.not_run:
        axes.text(size, 0.04, "not run", rotation=90, ha="center", va="bottom", color=PALE, transform=over)
    if ends:
        labels, colors = ([SERIES[metric][part] for metric in ends] for part in (0, 2))
        panels.label_ends(axes, labels, colors, list(ends.values()))


def _draw_series(axes: Axes, points: Sequence[Point], metric: str) -> tuple[float, float] | None:
    """Draw one metric, and return where its last point lies."""
    _, _, color, marker, fill, shift = SERIES[metric]
    known = [point for point in points if point.mean is not None]
    for one, two in pairwise(points):
        if one in known and two in known:
            axes.plot(_places([one, two], shift), [one.mean, two.mean], color=color, linewidth=1.2)
    for point, x in zip(known, _places(known, shift), strict=True):
        if point.std is not None:
            axes.vlines(x, max(0, point.mean - point.std), min(100, point.mean + point.std), color, linewidth=1.0)
        values = [value for value in point.seeds.values() if value is not None]
        axes.plot([x * 2 ** (0.9 * shift)] * len(values), values, ".", color=color, alpha=0.6, markersize=4)
        look = {"color": color, "markerfacecolor": fill, "markersize": 4, "zorder": 3}
        axes.plot(x, point.mean, marker, **look, clip_on=False)
    return (_places(known, shift)[-1], known[-1].mean) if known else None


def _places(points: Sequence[Point], shift: float) -> list[float]:
    return [point.m * 2**shift for point in points]


def _limits(sweep: Sweep) -> tuple[float, float]:
    """Return the range of a panel in percent points: all seeds and bars, with a margin, nothing beyond 0 and 100."""
    shown = [value for point in sweep.points for value in point.seeds.values() if value is not None]
    for point in sweep.points:
        if point.std is not None:
            shown += [max(0.0, point.mean - point.std), min(100.0, point.mean + point.std)]
    low, high = (min(shown), max(shown)) if shown else (0.0, 100.0)
    centre, span = (low + high) / 2, max(1.16 * (high - low), LEAST_SPAN)
    low, high = centre - span / 2, centre + span / 2
    return (max(-0.02 * span, low), min(100 + 0.02 * span, high))
