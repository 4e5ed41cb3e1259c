"""Figure 6a as a drawing."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from slmcollab.report import panels
from slmcollab.report.figure6a import WITH, WITHOUT, RewardGroup
from slmcollab.report.style import COLORS, INK, house_style

COLOR = {WITH: COLORS[0], WITHOUT: COLORS[1]}
LABELS = {WITH: "x and C", WITHOUT: "x alone"}
NARROWEST = 0.75  # inches


def draw_figure6a(groups: Sequence[RewardGroup]) -> list[Figure]:
    """Return Figure 6a on one page: per benchmark, team and method the rewards of both ways to answer, over training.

    Thin lines are seeds, bold lines the mean over seeds; the reward with C, known at every step, is averaged over 10
    steps where there are 100 or more, and the key says so. All panels have the y axis 0 to 1.
    """
    block = min(panels.block_size(group.mean[WITH].step) for group in groups)
    titles = [
        (f"{group.benchmark} · {group.team}", f"{group.method}, {panels.seeds_text(len(group.seeds))}")
        for group in groups
    ]
    room = panels.LABEL_OFFSET + max(map(panels.text_width, LABELS.values()))
    smoothed = f" ({LABELS[WITH]}: means over {block} steps)" if block > 1 else ""
    key = {
        "one seed": {"color": INK, **panels.SEED},
        f"mean over seeds{smoothed}": {"color": INK, **panels.MEAN},
    }
    rows = 1 if len(groups) > 1 else len(key)
    with house_style():
        figure, grid = panels.panel_grid(
            titles,
            room=room,
            narrowest=NARROWEST,
            shared_y=True,
            key_rows=rows,
            ylabel="reward (0 to 1)",
            xlabel="training step",
        )
        for axes, group in zip(grid, groups, strict=True):
            _draw_panel(axes, group, block)
        panels.add_key(figure, key, len(key) // rows)
    return [figure]


def _draw_panel(axes: Axes, group: RewardGroup, block: int) -> None:
    ends = []
    for quantity, color in COLOR.items():
        for run in group.seeds.values():
            axes.plot(run[quantity].step, run[quantity].value, color=color, **panels.SEED)
        mean, size = group.mean[quantity], block if quantity == WITH else 1
        ends.append(panels.draw_mean(axes, mean.step, mean.value, size, color=color))
    axes.set(ylim=(-0.02, 1.02), yticks=(0, 0.25, 0.5, 0.75, 1))
    panels.limit_steps(axes, group.mean[WITH].step)
    panels.label_ends(axes, list(LABELS.values()), list(COLOR.values()), ends)
