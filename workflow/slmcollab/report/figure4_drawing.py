"""Figure 4 as a drawing: sizes are inches, texts name their units."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from slmcollab.analysis.attention import Dynamics
from slmcollab.report import panels
from slmcollab.report.figure4 import Group
from slmcollab.report.style import INK, PAGE_WIDTH, PALE, house_style, series_style

SIDE_WIDTH, HEIGHT = 1.3, 1.2  # of the panels of entropy and reward; of every panel
GAP, RIGHT = 0.57, 0.13
HEADER, TITLE, FOOT = 0.3, 0.28, 0.26  # of a page; above and below each row of panels
ROWS_PER_PAGE, TITLE_SIZE = 5, 8.0
UNIFORM = {"color": INK, "linestyle": (0, (1, 2)), "linewidth": 0.9}
DASHED = (0, (3, 1.2))
Series = Callable[[Dynamics], Float[np.ndarray, " step"]]


def draw_figure4(groups: Sequence[Group]) -> list[Figure]:
    """Return the pages of Figure 4: per group the shares of attention, their entropy and the reward over training.

    A benchmark starts a page. Thin lines are seeds, unsmoothed; bold lines are the mean over seeds, from 100 steps on
    in means over 10 steps, and the key says so. An expert has one colour on all pages.
    """
    block = min(panels.block_size(group.mean.step) for group in groups)
    experts = list(dict.fromkeys(expert for group in groups for expert in group.experts))
    with house_style():
        titles = max(sum(map(_title_width, _titles(group))) for group in groups)
        width = max(PAGE_WIDTH, panels.LEFT + titles + RIGHT)
        return [_draw_page(page, block, experts, width) for page in paginate(groups)]


def paginate(groups: Sequence[Group]) -> list[list[Group]]:
    """Return the groups of each page: of one benchmark and at most five."""
    pages: list[list[Group]] = []
    for benchmark in dict.fromkeys(group.benchmark for group in groups):
        shown = [group for group in groups if group.benchmark == benchmark]
        pages += [shown[start : start + ROWS_PER_PAGE] for start in range(0, len(shown), ROWS_PER_PAGE)]
    return pages


def _draw_page(groups: Sequence[Group], block: int, experts: list[str], width: float) -> Figure:
    label_width = panels.LABEL_OFFSET + max(panels.text_width(expert) for expert in experts)
    rest = panels.LEFT + label_width + 2 * (GAP + SIDE_WIDTH) + RIGHT
    shares_width = max(1.4, width - rest)
    row_height = TITLE + HEIGHT + FOOT
    figure = Figure(figsize=(rest + shares_width, HEADER + len(groups) * row_height + 0.18))
    for index, group in enumerate(groups):
        bottom = figure.get_figheight() - HEADER - (index + 1) * row_height + FOOT
        left = panels.LEFT + shares_width + label_width + GAP
        shares = panels.add_panel(figure, (panels.LEFT, bottom), (shares_width, HEIGHT))
        entropy = panels.add_panel(figure, (left, bottom), (SIDE_WIDTH, HEIGHT))
        reward = panels.add_panel(figure, (left + SIDE_WIDTH + GAP, bottom), (SIDE_WIDTH, HEIGHT))
        for axes in (shares, entropy, reward):
            panels.limit_steps(axes, group.mean.step)
            axes.set_xlabel("training step" if index == len(groups) - 1 else "")
        _draw_shares(shares, group, block, experts)
        _draw_entropy(entropy, group, block)
        _draw_reward(reward, group, block)
        title, correlation = _titles(group)
        shares.set_title(title, loc="left", fontsize=TITLE_SIZE, fontweight="bold", pad=5)
        reward.set_title(correlation, loc="right", pad=5)
    _add_key(figure, block)
    return figure


def _draw_seeds(axes: Axes, group: Group, series: Series, color: str) -> None:
    for run in group.seeds.values():
        axes.plot(run.step, series(run), color=color, **panels.SEED)


def _draw_shares(axes: Axes, group: Group, block: int, experts: list[str]) -> None:
    styles = [series_style(experts.index(expert)) for expert in group.experts]
    for index, (color, _) in enumerate(styles):
        _draw_seeds(axes, group, lambda run, i=index: run.shares[:, i], color)
    ends = [
        panels.draw_mean(axes, group.mean.step, shares, block, color=color, linestyle=dashes)
        for shares, (color, dashes) in zip(group.mean.shares.T, styles, strict=True)
    ]
    top = max(run.shares.max() for run in group.seeds.values())
    axes.set(ylim=(0, min(1.02, 1.05 * top)), ylabel="share of attention")
    axes.axhline(1 / len(group.experts), **UNIFORM)
    panels.label_ends(axes, group.experts, [color for color, _ in styles], ends)


def _draw_entropy(axes: Axes, group: Group, block: int) -> None:
    _draw_seeds(axes, group, lambda run: run.entropy, PALE)
    panels.draw_mean(axes, group.mean.step, group.mean.entropy, block, color=INK)
    panels.draw_mean(axes, group.mean.step, group.mean.entropy_prompt, block, color=INK, linestyle=DASHED)
    uniform = math.log(len(group.experts))
    lowest = min(group.mean.entropy_prompt.min(), *(run.entropy.min() for run in group.seeds.values()))
    room = max(uniform - lowest, 0.01)
    axes.set(ylim=(lowest - 0.06 * room, uniform + 0.2 * room), ylabel="entropy (nats)")
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.axhline(uniform, **UNIFORM)
    label = f"ln {len(group.experts)} = {uniform:.3f}"
    axes.text(0.99, uniform, label, ha="right", va="bottom", fontsize=7, transform=axes.get_yaxis_transform())


def _draw_reward(axes: Axes, group: Group, block: int) -> None:
    _draw_seeds(axes, group, lambda run: run.reward, PALE)
    panels.draw_mean(axes, group.mean.step, group.mean.reward, block, color=INK)
    axes.set(ylim=(-0.02, 1.02), ylabel="reward (0 to 1)")


def _titles(group: Group) -> tuple[str, str]:
    """Return what stands above a row: whose it is, and how entropy and reward go together."""
    named = (group.benchmark, f"team {group.team}", group.method, panels.seeds_text(len(group.seeds)))
    known = [value for value in group.correlations.values() if value is not None]
    value = "does not exist" if not known else f"{group.mean_correlation:.2f}".replace("-", "−")
    runs = f" (mean of {len(known)} runs)" if len(known) > 1 else ""
    return "  ·  ".join(named), f"Spearman ρ(entropy, reward): {value}{runs}"


def _title_width(title: str) -> float:
    return panels.text_width(title, TITLE_SIZE, "bold") + panels.GAP


def _add_key(figure: Figure, block: int) -> None:
    smoothed = f" (means over {block} steps)" if block > 1 else ""
    lines = {
        "one seed": {"color": PALE, **panels.SEED},
        f"mean over seeds{smoothed}": {"color": INK, **panels.MEAN},
        "mean entropy per prompt": {"color": INK, "linestyle": DASHED, **panels.MEAN},
        "equal shares": UNIFORM,
    }
    panels.add_key(figure, lines, len(lines))
