"""Figure 4 of slices as a drawing."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from slmcollab.analysis.slices_claims.evidence import CL
from slmcollab.report import panels
from slmcollab.report.slices_figure3_drawing import scorer_text
from slmcollab.report.slices_figure4 import Circle
from slmcollab.report.style import COLORS, INK, house_style
from slmcollab.report.titles import title

AREA = 13.0  # square points of a mark for one invocation a question
EXAMPLES = (1, 4, 12)  # invocations whose marks the key shows
MARKERS = ("o", "s", "^", "D", "v", "p", "h")  # with eight colours, 56 methods look different
LEAST_SPAN = 10  # percent that a panel shows at least
COLUMNS = 3  # of the key, and of the panels at most


def draw_figure4(circles: Sequence[Circle], step_scorer: str) -> list[Figure]:
    """Return Figure 4 on one page: per benchmark the first metric over weighted output tokens a question.

    Marks are means over seeds, their area the invocations a question; dots, tied to them, are seeds. No two methods
    have both colour and shape in common.
    """
    methods = list(dict.fromkeys(circle.method for circle in circles))
    methods.sort(key=lambda method: method != CL)  # the method that the figure is about has the first look
    benchmarks = list(dict.fromkeys(circle.benchmark for circle in circles))
    shown = {name: [circle for circle in circles if circle.benchmark == name] for name in benchmarks}
    titles = [
        (title(name), f"{title(found[0].metric)}, {panels.seeds_text(*(len(circle.seeds) for circle in found))}")
        for name, found in shown.items()
    ]
    columns = min(COLUMNS, len(benchmarks))
    key = _key(methods, step_scorer, columns)
    with house_style():
        figure, grid = panels.panel_grid(
            titles,
            room=0.05,
            narrowest=1.5 if len(benchmarks) >= COLUMNS else 2.2,
            shared_y=False,
            key_rows=math.ceil(len(key) / columns) + 1,
            height=1.7,
            most_columns=COLUMNS,
            ylabel="score (%)",
            xlabel="weighted output tokens a question",
        )
        for axes, found in zip(grid, shown.values(), strict=True):
            _draw_panel(axes, found, methods)
        panels.add_key(figure, key, columns)
    return [figure]


def _key(methods: Sequence[str], step_scorer: str, columns: int) -> dict[str, dict[str, Any]]:
    """Return the entries of the key: methods and sizes, with empty rows around marks that are higher than a row."""
    key: dict[str, dict[str, Any]] = {}

    def leave_a_row() -> None:
        key.update(
            {" " * place: {"linestyle": ""} for place in range(len(key), len(key) - len(key) % -columns + columns)}
        )

    for method in methods:
        look = _look(methods, method)
        key[title(method)] = {**look, "markersize": _size(look["marker"], 2), "linestyle": ""}
    leave_a_row()
    hollow = {"marker": "o", "color": "white", "markeredgecolor": INK, "linestyle": ""}
    for count in EXAMPLES:
        key[f"{count} invocation{'s' * (count != 1)} a question"] = {**hollow, "markersize": _size("o", count)}
        if columns < len(EXAMPLES):
            leave_a_row()
    return {**key, scorer_text(step_scorer): {"linestyle": ""}}


@lru_cache(maxsize=len(MARKERS))
def unit_area(marker: str) -> float:
    """Return the area of a mark of size 1, by the shoelace formula."""
    style = MarkerStyle(marker)
    (outline,) = style.get_path().transformed(style.get_transform()).to_polygons()
    x, y = np.asarray(outline).T
    return abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2


def _size(marker: str, invocations: float | int) -> float:
    return math.sqrt(AREA * invocations / unit_area(marker))


def _look(methods: Sequence[str], method: str) -> dict[str, str]:
    place = methods.index(method)
    return {"marker": MARKERS[place % len(MARKERS)], "color": COLORS[place % len(COLORS)]}


def _draw_panel(axes: Axes, found: Sequence[Circle], methods: Sequence[str]) -> None:
    axes.set_xscale("log")
    tokens = [numbers[1] for circle in found for numbers in circle.seeds.values() if numbers[1] > 0]
    low, high = (min(tokens), max(tokens)) if tokens else (1.0, 1.0)
    low, high = low / 2, high * 2
    axes.set_xlim(low, high)
    ticks = _ticks(low, high)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    heights = [numbers[0] for circle in found for numbers in circle.seeds.values()]
    centre, span = (min(heights) + max(heights)) / 2, max(1.4 * (max(heights) - min(heights)), LEAST_SPAN)
    axes.set_ylim(centre - span / 2, centre + span / 2)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    for circle in sorted(found, key=lambda one: -one.mean[3]):  # small ones on top
        performance, weighted, _, invocations = circle.mean
        look = _look(methods, circle.method)
        for numbers in circle.seeds.values():
            axes.plot([weighted, numbers[1]], [performance, numbers[0]], color=look["color"], linewidth=0.5, alpha=0.5)
            axes.plot(numbers[1], numbers[0], ".", color=look["color"], markersize=2.5, zorder=2.5)
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.5}
        size = _size(look["marker"], invocations)
        axes.plot(weighted, performance, **look, **edge, markersize=size, alpha=0.8, linestyle="", zorder=3)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers within a range: powers of ten, with 2 and 5 times them where these are at most four."""
    for factors in ((1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [float(f"{factor}e{power}") for power in powers for factor in factors]
        found = [tick for tick in found if low <= tick <= high]
        if len(found) <= 4:
            return found
    return found[:: math.ceil(len(found) / 4)]
