"""Figure 5 of slices as a drawing."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from slmcollab.analysis.topology import KINDS
from slmcollab.report import panels
from slmcollab.report.slices_figure3_drawing import scorer_text
from slmcollab.report.slices_figure5 import WHEN, Shapes
from slmcollab.report.style import COLORS, INK, PALE, house_style
from slmcollab.report.titles import title

BAR = 0.9  # width of a bar, in bars
GROUP = len(KINDS) + 1.2  # from one group of bars to the next
TOP = 118  # percent: above the highest bar there is room for its number


def draw_figure5(shapes: Sequence[Shapes], step_scorer: str) -> list[Figure]:
    """Return Figure 5 on one page: per benchmark the share of each kind of trajectory before and after training.

    Bars are means over seeds, dots seeds; above each bar stands the mean number of steps of such trajectories.
    """
    titles = [
        (title(shape.benchmark), panels.seeds_text(*(len(seeds) for seeds in shape.seeds.values() if seeds)))
        for shape in shapes
    ]
    key = {
        kind.replace("_", " "): {"marker": "s", "linestyle": "", "markersize": 6, "color": COLORS[index]}
        for index, kind in enumerate(KINDS)
    }
    key["one seed"] = {"color": INK, "marker": ".", "linestyle": "", "markersize": 4}
    key["number above a bar: mean steps"] = {"linestyle": ""}
    key[scorer_text(step_scorer)] = {"linestyle": ""}
    columns = 2 if len(shapes) > 1 else 1
    with house_style():
        figure, grid = panels.panel_grid(
            titles,
            room=0.05,
            narrowest=2.0 if len(shapes) > 1 else 2.4,
            shared_y=True,
            key_rows=-(-len(key) // columns),
            ylabel="share of trajectories (%)",
            xlabel="training",
        )
        for axes, shape in zip(grid, shapes, strict=True):
            _draw_panel(axes, shape)
        panels.add_key(figure, key, columns)
    return [figure]


def _draw_panel(axes: Axes, shape: Shapes) -> None:
    axes.set(ylim=(0, TOP), xlim=(-0.8, 2 * GROUP - 1.2))
    axes.set_yticks([0, 25, 50, 75, 100])
    middle = (len(KINDS) - 1) / 2
    axes.set_xticks([index * GROUP + middle for index in range(len(WHEN))], list(WHEN.values()))
    axes.tick_params(axis="x", length=0)
    for group, method in enumerate(WHEN):
        if not shape.seeds[method]:
            axes.text(group * GROUP + middle, 4, "not run", ha="center", color=PALE)
            continue
        for index, kind in enumerate(KINDS):
            share, steps, x = shape.share(method, kind), shape.mean_steps(method, kind), group * GROUP + index
            if share is None:
                continue
            axes.bar(x, 100 * share, width=BAR, color=COLORS[index])
            seeds = [100 * one[kind].share for one in shape.seeds[method].values() if one[kind].share is not None]
            axes.plot([x] * len(seeds), seeds, ".", color=INK, markersize=3, clip_on=False)
            if steps is not None:
                axes.text(x, max(seeds) + 3, f"{steps:.1f}", ha="center", va="bottom", fontsize=6)
