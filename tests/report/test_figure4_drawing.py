"""Figure 4 as a picture: names as they are, nothing on top of anything else, pages that stay readable."""

import math

import numpy as np
import pytest
from drawn import assert_texts_are_apart, shown_texts
from matplotlib.text import Text

from slmcollab.analysis.attention import Dynamics, entropy
from slmcollab.report.figure4 import Group
from slmcollab.report.figure4_drawing import draw_figure4, paginate
from slmcollab.report.panels import SEED
from slmcollab.report.style import COLORS

EXPERTS = ("qwen2.5-coder-7b-instruct", "qwen2.5-math-1.5b-instruct", "phi-3.5-mini-instruct", "$x_1$", "_b^{2}")


def group(team="generalist", experts=EXPERTS, steps=120, seeds=2, benchmark="arithmetic"):
    runs = {}
    for seed in range(seeds):
        generator = np.random.default_rng(seed)
        shares = generator.dirichlet(np.full(len(experts), 50.0), steps)
        entropies = entropy(shares)
        runs[seed] = Dynamics(np.arange(1, steps + 1), shares, entropies, entropies - 0.05, generator.random(steps))
    return Group(benchmark, team, "hidden_state", experts, runs)


@pytest.mark.parametrize(("rows", "experts"), [(1, 3), (5, 5)])
def test_no_text_lies_on_another_or_outside(rows, experts):
    (page,) = draw_figure4([group(f"team{row}", EXPERTS[:experts]) for row in range(rows)])
    assert_texts_are_apart(page)


def test_long_names_of_teams_widen_the_page():
    (page,) = draw_figure4([group("a_team_with_a_name_that_is_longer_than_any_that_the_paper_has", EXPERTS[:3])])
    assert_texts_are_apart(page)


def test_four_teams_on_four_benchmarks_are_four_pages_of_four_rows():
    teams, benchmarks = ("a", "b", "c", "d"), ("one", "two", "three", "four")
    groups = [group(team, ("x", "y"), 3, 1, benchmark) for benchmark in benchmarks for team in teams]
    pages = draw_figure4(groups)
    assert [len(page.axes) for page in pages] == [12] * 4  # 4 rows × 3 panels
    assert all(page.get_figheight() < 9 for page in pages)
    for page, benchmark in zip(pages, benchmarks, strict=True):
        titles = [axes.get_title("left") for axes in page.axes[::3]]
        assert titles == [f"{benchmark}  ·  team {team}  ·  hidden_state  ·  1 seed" for team in teams]


def test_a_page_holds_one_benchmark_and_at_most_five_rows():
    groups = [group(f"team{index}", ("x",), 2, 1, name) for name in ("one", "two") for index in range(6)]
    assert [[shown.team for shown in page] for page in paginate(groups)] == 2 * [
        [f"team{index}" for index in range(5)],
        ["team5"],
    ]


def test_names_are_shown_letter_by_letter():
    (page,) = draw_figure4([group()])
    texts, _ = shown_texts(page)
    assert set(EXPERTS) <= {text for text, _ in texts}
    assert not any(text.get_parse_math() for text in page.findobj(Text))


def test_what_is_smoothed_says_so():
    long, short = ([text for text, _ in shown_texts(draw_figure4([group(steps=n)])[0])[0]] for n in (100, 99))
    assert "mean over seeds (means over 10 steps)" in long
    assert "mean over seeds" in short
    assert not any("10 steps" in text for text in short)


def test_panels_show_the_numbers():
    shown = group(experts=("a", "b", "c"), steps=3)
    shares, entropies, reward = draw_figure4([shown])[0].axes
    lines = [line.get_ydata() for line in shares.lines]
    for run in (*shown.seeds.values(), shown.mean):
        assert all(any(np.array_equal(line, run.shares[:, i]) for line in lines) for i in range(3))
    drawn = [list(line.get_ydata()) for line in entropies.lines]
    assert list(shown.mean.entropy) in drawn
    assert list(shown.mean.entropy_prompt) in drawn
    assert [math.log(3)] * 2 in drawn
    assert list(shown.mean.reward) in [list(line.get_ydata()) for line in reward.lines]


def test_every_seed_has_a_line_of_its_own_under_the_mean():
    shown = group(experts=("a", "b"), steps=3, seeds=4)
    _, entropies, reward = draw_figure4([shown])[0].axes
    for axes, name in ((entropies, "entropy"), (reward, "reward")):
        thin = [list(line.get_ydata()) for line in axes.lines if line.get_linewidth() == SEED["linewidth"]]
        assert thin == [list(getattr(run, name)) for run in shown.seeds.values()]


def test_the_title_has_the_mean_of_the_runs_rank_correlations():
    rising, falling = np.array([0.1, 0.2, 0.3]), np.array([0.9, 0.6, 0.3])
    shares = np.full((3, 2), 0.5)
    rewards = {0: rising, 1: rising, 2: np.full(3, 0.5)}  # ρ = -1, -1, and none where the reward never changes
    runs = {seed: Dynamics(np.arange(3), shares, falling, falling, reward) for seed, reward in rewards.items()}
    (page,) = draw_figure4([Group("sums", "toy", "hidden_state", ("a", "b"), runs)])
    assert "Spearman ρ(entropy, reward): −1.00 (mean of 2 runs)" in [text for text, _ in shown_texts(page)[0]]


def test_an_expert_keeps_its_color_on_every_page():
    # b is second on the first page and first on the second page.
    pages = draw_figure4([group("one", ("a", "b"), 3), group("two", ("b", "c"), 3, benchmark="logic")])
    first, second = (page.axes[0] for page in pages)
    assert {line.get_color() for line in first.lines} >= {COLORS[0], COLORS[1]}
    assert {line.get_color() for line in second.lines} >= {COLORS[1], COLORS[2]}
    assert COLORS[0] not in {line.get_color() for line in second.lines}
