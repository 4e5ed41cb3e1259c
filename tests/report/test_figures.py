"""Figure 4 as a picture: the same bytes, names as they are, nothing on top of anything else."""

import math
import re
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image

from slmcollab.analysis.attention import Dynamics, entropy
from slmcollab.report.figure4 import Group
from slmcollab.report.figures import draw_figure4, spread
from slmcollab.report.style import COLORS, house_style, series_style, write_figure

EXPERTS = ("qwen2.5-coder-7b-instruct", "qwen2.5-math-1.5b-instruct", "phi-3.5-mini-instruct", "$x_1$", "_b^{2}")


def group(team="generalist", experts=EXPERTS, steps=120, seeds=2):
    runs = {}
    for seed in range(seeds):
        generator = np.random.default_rng(seed)
        shares = generator.dirichlet(np.full(len(experts), 50.0), steps)
        entropies = entropy(shares)
        runs[seed] = Dynamics(np.arange(1, steps + 1), shares, entropies, entropies - 0.05, generator.random(steps))
    return Group("arithmetic", team, "hidden_state", experts, runs)


def shown_texts(figure):
    with house_style():
        FigureCanvasAgg(figure).draw()
    box = figure.bbox
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    ticks = {label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in axis.get_majorticklabels()}
    drawn = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            drawn |= {tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high}
    texts = [text for text in texts if text not in ticks or text in drawn]
    return [(text.get_text(), text.get_window_extent()) for text in texts], box


@pytest.mark.parametrize(("rows", "experts"), [(1, 3), (3, 5), (8, 5)])
def test_no_text_lies_on_another_or_outside(rows, experts):
    figure = draw_figure4([group(f"team{row}", EXPERTS[:experts]) for row in range(rows)])
    texts, page = shown_texts(figure)
    assert len(texts) > 20 * rows
    for text, box in texts:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for (one, first), (two, second) in combinations(texts, 2):
        assert not first.overlaps(second), (one, two)


def test_names_are_shown_letter_by_letter():
    figure = draw_figure4([group()])
    texts, _ = shown_texts(figure)
    assert set(EXPERTS) <= {text for text, _ in texts}
    assert not any(text.get_parse_math() for text in figure.findobj(Text))


def test_what_is_smoothed_says_so():
    long, short = ([text for text, _ in shown_texts(draw_figure4([group(steps=n)]))[0]] for n in (100, 99))
    assert "mean over seeds (means over 10 steps)" in long
    assert "mean over seeds" in short
    assert not any("10 steps" in text for text in short)


def test_panels_show_the_numbers():
    shown = group(experts=("a", "b", "c"), steps=3)
    shares, entropies, reward = draw_figure4([shown]).axes
    lines = [line.get_ydata() for line in shares.lines]
    for run in (*shown.seeds.values(), shown.mean):
        assert all(any(np.array_equal(line, run.shares[:, i]) for line in lines) for i in range(3))
    drawn = [list(line.get_ydata()) for line in entropies.lines]
    assert list(shown.mean.entropy) in drawn
    assert list(shown.mean.entropy_prompt) in drawn
    assert [math.log(3)] * 2 in drawn
    assert list(shown.mean.reward) in [list(line.get_ydata()) for line in reward.lines]


def test_an_expert_keeps_its_color_in_every_row():
    # b is second in the first row and first in the second row.
    first, _, _, second, _, _ = draw_figure4([group("one", ("a", "b"), 3), group("two", ("b", "c"), 3)]).axes
    assert {line.get_color() for line in first.lines} >= {COLORS[0], COLORS[1]}
    assert {line.get_color() for line in second.lines} >= {COLORS[1], COLORS[2]}
    assert COLORS[0] not in {line.get_color() for line in second.lines}


def test_sixteen_series_look_different():
    assert len({series_style(index) for index in range(16)}) == 16


def test_files_are_equal_on_a_rebuild_whatever_the_users_settings(tmp_path):
    for name, own in (("one", {}), ("two", {"font.size": 30, "axes.grid": True})):
        with matplotlib.rc_context(own):
            figure = draw_figure4([group()])
            write_figure(figure, tmp_path / f"{name}.pdf")
            write_figure(figure, tmp_path / f"{name}.png")
    for suffix in ("pdf", "png"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()
    assert not re.search(rb"CreationDate|Creator|Producer|ModDate", (tmp_path / "one.pdf").read_bytes())
    with Image.open(tmp_path / "one.png") as image:
        assert "Software" not in image.info
        assert max(image.info["dpi"]) <= 150.5


def test_a_format_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(ValueError, match="svg"):
        write_figure(draw_figure4([group(steps=3)]), tmp_path / "figure.svg")


@pytest.mark.parametrize(
    ("positions", "placed"),
    [
        ([0.1, 0.5, 0.9], [0.1, 0.5, 0.9]),
        ([0.5, 0.5, 0.1], [0.5, 0.7, 0.1]),  # equal ones keep their order, upwards
        ([0.95, 0.9, 0.0], [1.0, 0.8, 0.0]),  # no room above: the lower one gives way
        ([-0.3, 0.0, 0.1], [0.0, 0.2, 0.4]),
    ],
)
def test_labels_are_spread(positions, placed):
    assert spread(np.array(positions), 0.2, 0.0, 1.0) == pytest.approx(placed)


def test_labels_without_room_are_set_at_equal_distances():
    assert spread(np.full(5, 0.3), 0.4, 0.0, 1.0) == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
