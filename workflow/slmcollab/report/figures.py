"""The drawings: each function takes checked data and returns a figure; sizes are inches, texts name their units."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from slmcollab.analysis.attention import Dynamics, block_means
from slmcollab.report.figure4 import Group
from slmcollab.report.style import INK, PALE, house_style, series_style

PANEL_WIDTHS, PANEL_HEIGHT = (3.3, 2.7, 2.7), 1.8
LEFT, GAP, RIGHT = 0.65, 0.7, 0.15
HEADER, TITLE, FOOT = 0.36, 0.34, 0.5  # of the figure; above and below each row of panels
LABEL_SIZE, LABEL_HEIGHT, LABEL_OFFSET = 8.5, 0.165, 0.3  # points; of a line of text; from the panel to a label
SEED = {"linewidth": 0.8, "alpha": 0.5}
MEAN = {"linewidth": 2.0, "zorder": 3}
UNIFORM = {"color": INK, "linestyle": (0, (1, 2)), "linewidth": 1.0}
DASHED = (0, (3, 1.2))
Series = Callable[[Dynamics], Float[np.ndarray, " step"]]


def draw_figure4(groups: Sequence[Group]) -> Figure:
    """Return Figure 4: per group the shares of attention, their entropy and the sampled reward over training steps.

    Thin lines are seeds, unsmoothed; bold lines are the mean over seeds, from 100 steps on in means over 10 steps, and
    the key says so.
    """
    block = 10 if min(len(group.mean.step) for group in groups) >= 100 else 1
    experts = list(dict.fromkeys(expert for group in groups for expert in group.experts))
    with house_style():
        label_width = LABEL_OFFSET + max(_text_width(expert) for expert in experts)
        width = LEFT + sum(PANEL_WIDTHS) + label_width + 2 * GAP + RIGHT
        row_height = TITLE + PANEL_HEIGHT + FOOT
        figure = Figure(figsize=(width, HEADER + len(groups) * row_height))
        for index, group in enumerate(groups):
            bottom = (len(groups) - 1 - index) * row_height + FOOT
            shares, entropy, reward = _add_panels(figure, bottom, (label_width + GAP, GAP))
            _draw_shares(shares, group, block, experts)
            _draw_entropy(entropy, group, block)
            _draw_reward(reward, group, block)
            _add_title(shares, reward, group)
        _add_key(figure, block)
    return figure


def _text_width(text: str) -> float:
    return TextPath((0, 0), text, size=LABEL_SIZE).get_extents().width / 72


def _add_panels(figure: Figure, bottom: float, gaps: tuple[float, float]) -> list[Axes]:
    width, height = figure.get_size_inches()
    panels, left = [], LEFT
    for panel_width, gap in zip(PANEL_WIDTHS, (*gaps, 0.0), strict=True):
        box = (left / width, bottom / height, panel_width / width, PANEL_HEIGHT / height)
        panels.append(figure.add_axes(box, xlabel="training step"))
        left += panel_width + gap
    return panels


def _draw_seeds(axes: Axes, group: Group, series: Series, color: str) -> None:
    for run in group.seeds.values():
        axes.plot(run.step, series(run), color=color, **SEED)


def _draw_mean(axes: Axes, group: Group, block: int, series: Series, **line: Any) -> tuple[float, float]:
    """Draw the mean over seeds in block means, and return where that line ends."""
    x, y = block_means(group.mean.step.astype(float), block), block_means(series(group.mean), block)
    axes.plot(x, y, **MEAN, **line, marker="o" if len(x) == 1 else "")
    first, last = group.mean.step[[0, -1]]
    axes.set_xlim(first, max(last, first + 1))
    return x[-1], y[-1]


def _draw_shares(axes: Axes, group: Group, block: int, experts: list[str]) -> None:
    styles = [series_style(experts.index(expert)) for expert in group.experts]
    columns = [lambda run, i=index: run.shares[:, i] for index in range(len(styles))]
    for column, (color, _) in zip(columns, styles, strict=True):
        _draw_seeds(axes, group, column, color)
    ends = [
        _draw_mean(axes, group, block, column, color=color, linestyle=dashes)
        for column, (color, dashes) in zip(columns, styles, strict=True)
    ]
    top = max(run.shares.max() for run in group.seeds.values())
    axes.set(ylim=(0, min(1.02, 1.05 * top)), ylabel="share of attention")
    axes.axhline(1 / len(group.experts), **UNIFORM)
    _label_ends(axes, group.experts, [color for color, _ in styles], ends)


def _label_ends(axes: Axes, names: Sequence[str], colors: Sequence[str], ends: Sequence[tuple[float, float]]) -> None:
    """Write names to the right of the panel, apart from each other, each tied to the end of its line."""
    inch_x, inch_y = 1 / PANEL_WIDTHS[0], 1 / PANEL_HEIGHT
    to_panel = (axes.transData - axes.transAxes).transform(ends)
    heights = spread(to_panel[:, 1], LABEL_HEIGHT * inch_y, 0.0, 1.0)
    for name, color, (x, y), height in zip(names, colors, to_panel, heights, strict=True):
        tie = ([x, 1, 1 + 0.18 * inch_x, 1 + 0.24 * inch_x], [y, y, height, height])
        axes.plot(*tie, color=color, linewidth=1.0, transform=axes.transAxes, clip_on=False)
        where = (1 + LABEL_OFFSET * inch_x, height)
        axes.text(*where, name, va="center", fontsize=LABEL_SIZE, transform=axes.transAxes)


def _draw_entropy(axes: Axes, group: Group, block: int) -> None:
    _draw_seeds(axes, group, lambda run: run.entropy, PALE)
    _draw_mean(axes, group, block, lambda run: run.entropy, color=INK)
    _draw_mean(axes, group, block, lambda run: run.entropy_prompt, color=INK, linestyle=DASHED)
    uniform = math.log(len(group.experts))
    lowest = min(group.mean.entropy_prompt.min(), *(run.entropy.min() for run in group.seeds.values()))
    room = max(uniform - lowest, 0.01)
    axes.set(ylim=(lowest - 0.06 * room, uniform + 0.16 * room), ylabel="attention entropy (nats)")
    axes.axhline(uniform, **UNIFORM)
    label = f"ln {len(group.experts)} = {uniform:.3f}"
    axes.text(0.99, uniform, label, ha="right", va="bottom", fontsize=8, transform=axes.get_yaxis_transform())


def _draw_reward(axes: Axes, group: Group, block: int) -> None:
    _draw_seeds(axes, group, lambda run: run.reward, PALE)
    _draw_mean(axes, group, block, lambda run: run.reward, color=INK)
    axes.set(ylim=(-0.02, 1.02), ylabel="sampled reward (0 to 1)")


def _add_title(left: Axes, right: Axes, group: Group) -> None:
    seeds = f"{len(group.seeds)} seed" + "s" * (len(group.seeds) > 1)
    title = f"{group.benchmark}  ·  team {group.team}  ·  {group.method}  ·  {seeds}"
    left.set_title(title, loc="left", fontsize=10, fontweight="bold", pad=7)
    known = [value for value in group.correlations.values() if value is not None]
    value = "does not exist" if not known else f"{group.mean_correlation:.2f}".replace("-", "−")
    runs = f" (mean of {len(known)} runs)" if len(known) > 1 else ""
    right.set_title(f"Spearman ρ(entropy, reward): {value}{runs}", loc="right", pad=7)


def _add_key(figure: Figure, block: int) -> None:
    smoothed = f" (means over {block} steps)" if block > 1 else ""
    lines = {
        "one seed": {"color": PALE, **SEED},
        f"mean over seeds{smoothed}": {"color": INK, **MEAN},
        f"mean entropy per prompt{smoothed}": {"color": INK, "linestyle": DASHED, **MEAN},
        "equal shares": UNIFORM,
    }
    corner = (LEFT / figure.get_figwidth(), 1 - 0.1 / figure.get_figheight())
    handles = [Line2D([], [], **line) for line in lines.values()]
    figure.legend(handles, lines, loc="upper left", bbox_to_anchor=corner, borderaxespad=0, borderpad=0, ncols=4)


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
