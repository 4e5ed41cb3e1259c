"""What the figures share: panels placed in inches, labels at the ends of lines, clear of each other, and the key."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator

from slmcollab.analysis.attention import block_means
from slmcollab.report.style import PAGE_WIDTH

LABEL_SIZE, LABEL_HEIGHT, LABEL_OFFSET = 7.5, 0.145, 0.2  # points; of a line of text; from the panel to a label
SEED = {"linewidth": 0.6, "alpha": 0.5}
MEAN = {"linewidth": 1.8, "zorder": 3}
KEY_HEIGHT, EDGE = 0.14, 0.08  # of a row of the key; from the key to the edge of the page
MAX_COLUMNS, MAX_PANEL_WIDTH, PANEL_HEIGHT = 4, 2.6, 1.3
LEFT, TITLE, FOOT, XLABEL = 0.5, 0.38, 0.26, 0.18  # around a panel: y axis, title, x axis, and its name
INNER_LEFT, GAP = 0.14, 0.12  # to the left of a panel without y axis; between two columns


def text_width(text: str, size: float = LABEL_SIZE, weight: str = "normal") -> float:
    """Return the width of a text in inches."""
    path = TextPath((0, 0), text, size=size, prop=FontProperties(family="DejaVu Sans", weight=weight))
    return path.get_extents().width / 72


def seeds_text(*counts: int) -> str:
    """Return how many seeds there are, or from how many to how many where counts differ; there has to be one."""
    least, most = min(counts), max(counts)
    return f"{least} to {most} seeds" if least < most else f"{least} seed" + "s" * (least != 1)


def block_size(step: Int[np.ndarray, " step"]) -> int:
    """Return over how many steps a line of means is averaged: 10 from 100 steps on, so that it can be followed."""
    return 10 if len(step) >= 100 else 1


def add_panel(figure: Figure, corner: tuple[float, float], size: tuple[float, float], **settings: Any) -> Axes:
    """Return a panel of this size whose lower left corner lies there, both in inches of the page."""
    page = figure.get_size_inches()
    return figure.add_axes((*np.divide(corner, page), *np.divide(size, page)), **settings)


def panel_grid(
    titles: Sequence[tuple[str, str]],
    *,
    room: float,
    narrowest: float,
    shared_y: bool,
    key_rows: int,
    height: float = PANEL_HEIGHT,
    most_columns: int = MAX_COLUMNS,
    **names: str,
) -> tuple[Figure, list[Axes]]:
    """Return a page with one titled panel per (bold line, plain line), in reading order in up to `most_columns`.

    room: inches for labels to the right of each panel; narrowest and height: of a panel. Where y is shared, only the
    first column has its numbers. names: xlabel, for the lowest panels, and ylabel, for the first column. A title that
    is wider than its cell widens the page.
    """
    inner = INNER_LEFT if shared_y else LEFT

    def panel_width(columns: int) -> float:
        return (PAGE_WIDTH - LEFT - (columns - 1) * inner - columns * (room + GAP)) / columns

    fitting = [columns for columns in range(1, most_columns + 1) if panel_width(columns) >= narrowest]
    rows = math.ceil(len(titles) / max(fitting, default=1))
    columns = math.ceil(len(titles) / rows)
    widest = max(max(text_width(bold, weight="bold"), text_width(plain)) for bold, plain in titles)
    width = max(min(MAX_PANEL_WIDTH, panel_width(columns)), narrowest, widest - room)
    pitch = (inner + width + room + GAP, TITLE + height + FOOT)
    page = (LEFT - inner + columns * pitch[0], key_rows * KEY_HEIGHT + 2 * EDGE + rows * pitch[1] + XLABEL)
    figure = Figure(figsize=page)
    panels = []
    for index, title in enumerate(titles):
        row, column = divmod(index, columns)
        corner = (LEFT + column * pitch[0], (rows - 1 - row) * pitch[1] + FOOT + XLABEL)
        axes = add_panel(figure, corner, (width, height))
        _add_title(axes, *title)
        axes.set(ylabel=names["ylabel"] * (column == 0), xlabel=names["xlabel"] * (index + columns >= len(titles)))
        axes.tick_params(labelleft=column == 0 or not shared_y)
        panels.append(axes)
    return figure, panels


def _add_title(axes: Axes, bold: str, plain: str) -> None:
    axes.set_title(bold, loc="left", fontweight="bold", pad=14)
    axes.annotate(plain, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points")


def draw_mean(
    axes: Axes, step: Int[np.ndarray, " step"], values: Float[np.ndarray, " step"], block: int, **line: Any
) -> tuple[float, float]:
    """Draw values over steps as a bold line of block means, and return where that line ends."""
    x, y = block_means(step.astype(float), block), block_means(values, block)
    axes.plot(x, y, **MEAN, **line, marker="o" if len(x) == 1 else "")
    return x[-1], y[-1]


def limit_steps(axes: Axes, step: Int[np.ndarray, " step"]) -> None:
    first, last = step[[0, -1]]
    axes.set_xlim(first, max(last, first + 1))
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))


def label_ends(axes: Axes, names: Sequence[str], colors: Sequence[str], ends: Sequence[tuple[float, float]]) -> None:
    """Write names to the right of the panel, apart from each other, each tied to the end of its line.

    Call it when the limits and scales of the panel are set.
    """
    width, height = axes.get_position().size * axes.figure.get_size_inches()
    to_panel = (axes.transData - axes.transAxes).transform(ends)
    line = LABEL_HEIGHT / height
    heights = spread(to_panel[:, 1], line, 0.0, 1 - line / 2)
    for name, color, (x, y), label_y in zip(names, colors, to_panel, heights, strict=True):
        tie = {"color": color, "linewidth": 0.8, "transform": axes.transAxes, "clip_on": False}
        axes.plot([x, 1], [y, y], linestyle=(0, (1, 2)), **tie)  # dotted: no data
        axes.plot([1, 1 + 0.11 / width, 1 + 0.16 / width], [y, label_y, label_y], **tie)
        where = (1 + LABEL_OFFSET / width, label_y)
        axes.text(*where, name, va="center", fontsize=LABEL_SIZE, transform=axes.transAxes)


def spread(positions: Float[np.ndarray, " label"], gap: float, low: float, high: float) -> Float[np.ndarray, " label"]:
    """Return positions in the same order, at least `gap` apart and within [low, high], near where they were.

    Labels that do not fit are set at equal distances over the whole range.
    """
    gap = min(gap, (high - low) / max(1, len(positions) - 1))
    order, placed = np.argsort(positions, kind="stable"), np.array(positions, dtype=float)
    floor = low
    for index in order:
        placed[index] = floor = max(placed[index], floor)
        floor += gap
    ceiling = high
    for index in order[::-1]:
        placed[index] = ceiling = min(placed[index], ceiling)
        ceiling -= gap
    return placed


def add_key(figure: Figure, lines: Mapping[str, Mapping[str, Any]], columns: int) -> None:
    """Write at the top of the page what each kind of line means, in reading order in so many columns."""
    names = [name for column in range(columns) for name in list(lines)[column::columns]]  # matplotlib fills columns
    handles = [Line2D([], [], **lines[name]) for name in names]
    corner = (LEFT / figure.get_figwidth(), 1 - EDGE / figure.get_figheight())
    place = {"loc": "upper left", "bbox_to_anchor": corner, "borderaxespad": 0, "borderpad": 0}
    figure.legend(handles, names, ncols=columns, columnspacing=1.6, labelspacing=0.3, handlelength=2.2, **place)
