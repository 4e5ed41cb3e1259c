"""What the figures share: where panels and labels go."""

import numpy as np
import pytest

from slmcollab.report.panels import block_size, panel_grid, seeds_text, spread, text_width
from slmcollab.report.style import PAGE_WIDTH, house_style

GRID = {"room": 0.6, "narrowest": 0.8, "shared_y": True, "key_rows": 1, "xlabel": "x", "ylabel": "y"}


def places(count, **changes):
    figure, panels = panel_grid([("bold", "plain")] * count, **GRID | changes)
    left = sorted({round(axes.get_position().x0 * figure.get_figwidth(), 3) for axes in panels})
    bottom = {round(axes.get_position().y0 * figure.get_figheight(), 3) for axes in panels}
    return figure, panels, (len(left), len(bottom))


@pytest.mark.parametrize(
    ("count", "shape"), [(1, (1, 1)), (3, (3, 1)), (4, (4, 1)), (5, (3, 2)), (6, (3, 2)), (7, (4, 2)), (16, (4, 4))]
)
def test_panels_fill_rows_evenly_in_at_most_four_columns(count, shape):
    figure, _, found = places(count)
    assert found == shape
    assert figure.get_figwidth() <= PAGE_WIDTH + 1e-9


def test_panels_that_need_width_stand_in_fewer_columns():
    # 2 columns: (7.1 - 0.5 - 0.14 - 2 × (0.6 + 0.12)) / 2 = 2.51 inches; 3 columns: 1.39.
    assert places(4, narrowest=2.5)[2] == (2, 2)
    assert places(4, narrowest=2.52)[2] == (1, 4)


def test_a_long_title_widens_the_page():
    long = "a_very_long_name_of_a_benchmark · a_very_long_name_of_a_team"
    figure, _ = panel_grid([("short", "plain")] * 3 + [(long, "plain")], **GRID)
    assert figure.get_figwidth() > 4 * text_width(long, weight="bold") > PAGE_WIDTH


def test_axes_are_named_once():
    _, panels, _ = places(5)
    assert [axes.get_ylabel() for axes in panels] == ["y", "", "", "y", ""]
    assert [axes.get_xlabel() for axes in panels] == ["", "", "x", "x", "x"]


def test_text_width_is_about_half_the_size_a_letter():
    # DejaVu Sans at 7.5 points: an m is 0.974 em wide, so ten are 73 points or 1.01 inches.
    with house_style():
        assert text_width("m" * 10) == pytest.approx(1.0, abs=0.03)
        assert text_width("m", 15.0) == pytest.approx(2 * text_width("m", 7.5))
        assert text_width("$x_1$") > text_width("x_1")  # no mathematics


def test_means_are_over_ten_steps_from_a_hundred_on():
    assert [block_size(np.arange(count)) for count in (1, 99, 100, 500)] == [1, 1, 10, 10]


def test_seeds_are_counted():
    assert [seeds_text(count) for count in (0, 1, 3)] == ["0 seeds", "1 seed", "3 seeds"]
    assert [seeds_text(*counts) for counts in ((3, 3), (3, 1, 2))] == ["3 seeds", "1 to 3 seeds"]


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
