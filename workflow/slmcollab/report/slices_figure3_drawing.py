"""Figure 3 of slices as a drawing: sizes are inches."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from slmcollab.report import panels
from slmcollab.report.slices_figure3 import Ablation
from slmcollab.report.style import COLORS, INK, PALE, house_style
from slmcollab.report.titles import title

ROW, ARROWS, PER_ROW = 0.25, 0.42, 3  # height of a method's two bars; of the arrows above them; panels in a row
WIDTH, GAP, TITLE, FOOT = 1.62, 0.22, 0.38, 0.42
BAR, OFFSET = 0.34, 0.19  # in rows: height of a bar, and of its middle from the row's
FILLS = ({"color": COLORS[0]}, {"facecolor": "white", "edgecolor": COLORS[0], "hatch": "/////", "linewidth": 0.6})
LIMIT = 118  # percent: to the right of 100 there is room for the arrows' numbers


def draw_figure3(ablations: Sequence[Ablation], step_scorer: str) -> list[Figure]:
    """Return Figure 3 on one page: per benchmark the two metrics of each method, and what the full method gains.

    Bars are means over seeds, dots seeds; the arrows above go from the mean of the paper's variants to the full method.
    """
    names = [title(method) for method in ablations[0].methods]
    left = max(panels.text_width(name) for name in names) + 0.16
    height = ROW * len(names) + ARROWS
    columns = min(PER_ROW, len(ablations))
    rows = math.ceil(len(ablations) / columns)
    key = _key(step_scorer)
    top = (len(key) + 1) // 2 * panels.KEY_HEIGHT + 2 * panels.EDGE
    # The key needs room for two columns even where there is one panel.
    page = max(2 * (max(map(panels.text_width, key)) + 0.6) + panels.LEFT, left + columns * (WIDTH + GAP))
    width = (page - left) / columns - GAP
    with house_style():
        figure = Figure(figsize=(page, top + rows * (TITLE + height + FOOT)))
        for index, ablation in enumerate(ablations):
            row, column = divmod(index, columns)
            corner = (left + column * (width + GAP), (rows - 1 - row) * (TITLE + height + FOOT) + FOOT)
            axes = panels.add_panel(figure, corner, (width, height))
            _draw_panel(axes, ablation)
            axes.set_yticks(range(len(names)), names if column == 0 else [""] * len(names))
        panels.add_key(figure, key, 2)
    return [figure]


def _key(step_scorer: str) -> dict[str, dict]:
    bar = {"marker": "s", "linestyle": "", "markersize": 6, "markeredgecolor": COLORS[0]}
    return {
        "first metric named above the panel, mean over seeds": {**bar, "color": COLORS[0]},
        "second metric, mean over seeds": {**bar, "markerfacecolor": "white"},
        "one seed": {"color": INK, "marker": ".", "linestyle": "", "markersize": 4},
        "gain of CL over the mean of w/o CL, PD and SLS": {
            "color": INK,
            "marker": ">",
            "markersize": 3.5,
            "linewidth": 0.9,
        },
        scorer_text(step_scorer): {"linestyle": ""},
    }


def scorer_text(step_scorer: str) -> str:
    """Return who scored the steps, as every figure says it."""
    return f"steps scored by: {title(step_scorer)}" + (" (a rule, no model)" if step_scorer == "oracle" else "")


def _draw_panel(axes: Axes, ablation: Ablation) -> None:
    count = len(ablation.methods)
    axes.set(xlim=(0, LIMIT), ylim=(count - 0.5, -0.5 - ARROWS / ROW), xlabel="score (%)")
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.tick_params(axis="y", length=0)
    number = panels.seeds_text(*(len(values) for values in ablation.values.values() if values))
    axes.set_title(title(ablation.benchmark), loc="left", fontweight="bold", pad=14)
    metrics = f"{' and '.join(map(title, ablation.metrics))}, {number}"
    axes.annotate(metrics, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points")
    for place, method in enumerate(ablation.methods):
        for metric, side, fill in zip(ablation.metrics, (-1, 1), FILLS, strict=True):
            mean, height = ablation.means.get((method, metric)), place + side * OFFSET
            if mean is None:
                continue
            axes.barh(height, mean, height=BAR, **fill)
            values = list(ablation.values[method, metric].values())
            axes.plot(values, [height] * len(values), ".", color=INK, markersize=3, clip_on=False)
        if (method, ablation.metrics[0]) not in ablation.means:
            axes.text(2, place, "not run", va="center", color=PALE)
    for index, metric in enumerate(ablation.metrics):
        _draw_arrow(axes, ablation, metric, -0.5 - (1.4 - index) * ARROWS / ROW / 2, ("-", "--")[index])


def _draw_arrow(axes: Axes, ablation: Ablation, metric: str, height: float, dashes: str) -> None:
    gain, start = ablation.gain(metric), ablation.variants_mean(metric)
    if gain is None or start is None:
        return
    arrow = {"arrowstyle": "-|>", "linestyle": dashes, "color": INK, "linewidth": 0.9, "mutation_scale": 6}
    axes.annotate("", (start + gain, height), (start, height), arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0})
    text = f"{gain:+z.1f}".replace("-", "−")
    right = max(start, start + gain) < 50  # the text stands where there is room
    where = max(start, start + gain) + 3 if right else min(start, start + gain) - 3
    axes.text(where, height, text, ha="left" if right else "right", va="center", fontsize=6.5)
