"""Figure 6b: means and spread over seeds, what is missing, what is refused, and the picture."""

import pytest
from drawn import assert_texts_are_apart, shown_texts

from slmcollab.artifacts import ArtifactError
from slmcollab.report.figure6b import figure6b_rows, sweeps
from slmcollab.report.figure6b_drawing import draw_figure6b

METHODS = {2: "hidden_state_m2", 8: "hidden_state", 16: "hidden_state_m16"}


def point(m, seeds=(0, 1), benchmark="sums", team="toy", method=None):
    method = method or METHODS.get(m, f"hidden_state_m{m}")
    return {"benchmark": benchmark, "team": team, "m": m, "method": method, "seeds": list(seeds)}


def scores_of(points, value=lambda m, seed: (40.0 + m + 10 * seed, 20.0)):
    files = {}
    for point in points:
        for seed in point["seeds"]:
            accuracy, unseen = value(point["m"], seed)
            named = {name: point[name] for name in ("benchmark", "team", "method")}
            metrics = {"accuracy": accuracy, "accuracy_unseen": unseen}
            name = f"{point['benchmark']}-{point['team']}-{point['m']}-{seed}.json"
            files[name] = {**named, "seed": seed, "metrics": metrics}
    return files


def lines_of(axes, color):
    return [line for line in axes.lines if line.get_color() == color and line.get_transform() == axes.transData]


def test_means_and_sample_deviations_over_seeds_by_rising_m():
    points = [point(8), point(2), point(16, [])]
    (panel,) = sweeps(scores_of(points), points)
    # m = 2: 42 and 52, mean 47, deviations ±5: sqrt(50 / 1) = 7.07.
    shown = [(each.m, each.mean, each.std) for each in panel.series("accuracy")]
    assert shown == [(2, 47.0, pytest.approx(7.0710678)), (8, 53.0, pytest.approx(7.0710678)), (16, None, None)]
    assert (panel.sizes, panel.not_run) == ([2, 8, 16], [16])


def test_rows_show_seeds_means_and_what_is_missing():
    points = [point(2, [1]), point(8, [])]
    files = scores_of(points, lambda m, seed: (50.0, None))
    rows = [tuple(row.values()) for row in figure6b_rows(sweeps(files, points))]
    first, second = ("sums", "toy", "2", "hidden_state_m2"), ("sums", "toy", "8", "hidden_state")
    assert rows == [
        (*first, "accuracy", "1", "50.000000"),
        (*first, "accuracy", "mean", "50.000000"),
        (*first, "accuracy", "std", ""),  # one seed has no spread
        (*first, "accuracy_unseen", "1", ""),  # no such question
        (*first, "accuracy_unseen", "mean", ""),
        (*first, "accuracy_unseen", "std", ""),
        (*second, "accuracy", "mean", ""),  # not run
        (*second, "accuracy", "std", ""),
        (*second, "accuracy_unseen", "mean", ""),
        (*second, "accuracy_unseen", "std", ""),
    ]
    assert list(next(figure6b_rows(sweeps(files, points)))) == [
        *("benchmark", "team", "m", "method", "metric", "seed", "value")
    ]


@pytest.mark.parametrize(
    ("points", "complaint"),
    [
        ([], "no points"),
        ([point(8), point(8, method="other")], "two methods .* m = 8"),
        ([point(0)], "m is 0, not a whole number"),
        ([point(2.5)], r"m is 2\.5, not a whole number"),
    ],
)
def test_points_that_make_no_panel_are_refused(points, complaint):
    with pytest.raises(ArtifactError, match=complaint):
        sweeps(scores_of(points), points)


@pytest.mark.parametrize("value", [float("nan"), -1.0, 101.0])
def test_a_metric_that_is_no_percent_is_refused(value):
    with pytest.raises(ArtifactError, match=r"sums-toy-8-0\.json: accuracy_unseen is .* not between 0 and 100"):
        sweeps(scores_of([point(8)], lambda m, seed: (50.0, value)), [point(8)])


def test_a_missing_file_and_a_foreign_one_are_refused():
    with pytest.raises(ArtifactError, match="seed 1"):
        sweeps(scores_of([point(8, [0])]), [point(8)])
    with pytest.raises(ArtifactError, match="not in the grid"):
        sweeps(scores_of([point(8), point(2)]), [point(8)])


def test_the_picture_breaks_the_line_at_what_was_not_run_and_says_so():
    points = [point(2), point(4), point(8, []), point(16)]
    (page,) = draw_figure6b(sweeps(scores_of(points), points))
    (axes,) = page.axes
    texts = [text for text, _ in shown_texts(page)[0]]
    assert texts.count("not run") == 1
    assert [text.get_position()[0] for text in axes.texts if text.get_text() == "not run"] == [8]
    joined = [tuple(line.get_ydata()) for line in axes.lines if line.get_linewidth() == 1.2]
    assert joined == [(47.0, 49.0), (20.0, 20.0)]  # from m = 2 to 4, of both metrics
    assert list(axes.get_xticks()) == [2, 4, 8, 16]
    assert {"2 seeds", "all", "unseen", "2", "16"} <= set(texts)


def test_the_picture_shows_every_seed_and_no_bar_for_one():
    points = [point(2), point(8, [0])]
    (axes,) = draw_figure6b(sweeps(scores_of(points), points))[0].axes
    small = [list(line.get_ydata()) for line in axes.lines if line.get_marker() == "."]
    assert small == [[42.0, 52.0], [48.0], [20.0, 20.0], [20.0]]
    bars = [segment[:, 1].tolist() for bar in axes.collections for segment in bar.get_segments()]
    # 47 ± sqrt(50); 20 ± 0; none at m = 8.
    assert bars == [pytest.approx([39.9289322, 54.0710678]), [20.0, 20.0]]


def test_bars_and_axis_stay_between_0_and_100():
    points = [point(2), point(8)]
    (axes,) = draw_figure6b(sweeps(scores_of(points, lambda m, seed: (100.0 * seed, 0.0)), points))[0].axes
    ends = [end for bar in axes.collections for segment in bar.get_segments() for end in segment[:, 1]]
    assert (min(ends), max(ends)) == (0, 100)
    low, high = axes.get_ylim()
    assert -3 < low <= 0
    assert 100 <= high < 103
    assert all(0 <= tick <= 100 for tick in axes.get_yticks() if low <= tick <= high)


def test_noise_does_not_fill_a_panel():
    points = [point(2), point(8)]
    (axes,) = draw_figure6b(sweeps(scores_of(points, lambda m, seed: (50.0 + 0.1 * seed, None)), points))[0].axes
    assert axes.get_ylim() == pytest.approx((45.05, 55.05))  # 10 points around 50.05


def test_a_panel_without_runs_or_unseen_questions_says_so():
    points = [point(2, []), point(8, []), point(2, benchmark="other"), point(8, [0], benchmark="other")]
    (page,) = draw_figure6b(sweeps(scores_of(points, lambda m, seed: (50.0, None)), points))
    texts = [text for text, _ in shown_texts(page)[0]]
    assert {"sums · toy", "other · toy", "1 to 2 seeds, no unseen question"} <= set(texts)
    assert texts.count("not run") == 3  # under the title, and at both m


@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_text_lies_on_another_or_outside(count):
    points = [
        point(2**power, team=f"$team_{index}$", seeds=[0, 1] if power != 4 else [])
        for index in range(count)
        for power in range(1, 8)
    ]
    (page,) = draw_figure6b(sweeps(scores_of(points, lambda m, seed: (40.0 + seed, 39.0)), points))
    assert_texts_are_apart(page)
    assert "sums · $team_0$" in [text for text, _ in shown_texts(page)[0]]
