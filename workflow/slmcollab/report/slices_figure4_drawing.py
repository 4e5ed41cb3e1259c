"""Figure 4 of slices as a drawing."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from slmcollab.analysis.slices_claims.evidence import CL
from slmcollab.report import panels
from slmcollab.report.slices_figure3_drawing import scorer_text
from slmcollab.report.slices_figure4 import Circle
from slmcollab.report.style import COLORS, INK, house_style

AREA = 22.0  # square points of a circle for one invocation a question
EXAMPLES = (1, 5)  # invocations whose circles the key shows
LEAST_SPAN = 10  # percent points that a panel shows at least


def draw_figure4(circles: Sequence[Circle], step_scorer: str) -> list[Figure]:
    """Return Figure 4 on one page: per benchmark the first metric over weighted output tokens a question.

    Circles are means over seeds, their area the invocations a question; dots, tied to them, are seeds. The first eight
    methods are filled, the next ones hollow.
    """
    methods = list(dict.fromkeys(circle.method for circle in circles))
    methods.sort(key=lambda method: method != CL)  # the method that the figure is about has the first colour
    benchmarks = list(dict.fromkeys(circle.benchmark for circle in circles))
    shown = {name: [circle for circle in circles if circle.benchmark == name] for name in benchmarks}
    titles = [(name, f"{found[0].metric}, {_seeds(found)}") for name, found in shown.items()]
    key = {method: {**_look(methods, method), "markersize": 6, "linestyle": ""} for method in methods}
    for count in EXAMPLES:
        text = f"{count} invocation{'s' * (count != 1)} a question"
        key[text] = {
            "marker": "o",
            "color": "white",
            "markeredgecolor": INK,
            "markersize": _diameter(count),
            "linestyle": "",
        }
    key[scorer_text(step_scorer)] = {"linestyle": ""}
    narrowest = 1.5
    columns = min(3, len(benchmarks))
    rows = math.ceil(len(key) / columns)
    with house_style():
        figure, grid = panels.panel_grid(
            titles,
            room=0.05,
            narrowest=max(narrowest, 2.2) if len(benchmarks) < 3 else narrowest,
            shared_y=False,
            key_rows=rows,
            ylabel="percent points",
            xlabel="weighted output tokens a question",
        )
        for axes, found in zip(grid, shown.values(), strict=True):
            _draw_panel(axes, found, methods)
        panels.add_key(figure, key, columns)
    return [figure]


def _seeds(found: Sequence[Circle]) -> str:
    counts = sorted({len(circle.seeds) for circle in found})
    return panels.seeds_text(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"


def _diameter(invocations: float | int) -> float:
    return 2 * math.sqrt(AREA * invocations / math.pi)


def _look(methods: Sequence[str], method: str) -> dict[str, str]:
    place = methods.index(method)
    color = COLORS[place % len(COLORS)]
    return {"marker": "o", "color": color, "markerfacecolor": color if place < len(COLORS) else "white"}


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
        axes.plot(weighted, performance, **look, markersize=_diameter(invocations), alpha=0.75, linestyle="", zorder=3)
        for numbers in circle.seeds.values():
            axes.plot([weighted, numbers[1]], [performance, numbers[0]], color=look["color"], linewidth=0.5, alpha=0.5)
            axes.plot(numbers[1], numbers[0], ".", color=look["color"], markersize=3, zorder=4)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers within a range: powers of ten, with 2 and 5 times them where these are at most four."""
    for factors in ((1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [float(f"{factor}e{power}") for power in powers for factor in factors]
        found = [tick for tick in found if low <= tick <= high]
        if len(found) <= 4:
            return found
    return found[:: math.ceil(len(found) / 4)]
