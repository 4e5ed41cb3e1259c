"""Figures 3 to 5 of slices: numbers worked out by hand, what is missing, and the pictures."""

import pytest
from drawn import assert_texts_are_apart, shown_texts
from recorded import call, path

from slmcollab.analysis.slices_claims.evidence import CL, CONSTANT, NO_DISTILLATION, NO_TRAINING, ROWS, Run
from slmcollab.analysis.topology import topologies
from slmcollab.artifacts import ArtifactError
from slmcollab.generation.calls import EVAL, SEARCH, TRAIN
from slmcollab.report.budgets_table import PHASES, budget_row, total_size
from slmcollab.report.slices_figure3 import ablations, figure3_rows
from slmcollab.report.slices_figure3_drawing import draw_figure3, scorer_text
from slmcollab.report.slices_figure4 import Spent, circles, figure4_rows, spent
from slmcollab.report.slices_figure4_drawing import MARKERS, draw_figure4, unit_area
from slmcollab.report.slices_figure5 import figure5_rows, shapes
from slmcollab.report.slices_figure5_drawing import draw_figure5
from slmcollab.report.slices_stages import Stages

METHODS = (CONSTANT, NO_TRAINING, CL, NO_DISTILLATION)
SCORERS = {CL: "oracle", NO_TRAINING: ""}


def scores(accuracy, f1):
    return {"metrics": {"accuracy": accuracy, "f1": f1}}


def ablation_scores(benchmarks=("sums",), seeds=(0, 1), methods=METHODS):
    level = {CL: 60.0, NO_TRAINING: 20.0, NO_DISTILLATION: 40.0, CONSTANT: 50.0}
    return {
        Run(name, method, seed): scores(level[method] + 2 * seed, 70.0)
        for name in benchmarks
        for method in methods
        for seed in seeds
    }


def texts_of(figure):
    return [text for text, _ in shown_texts(figure)[0]]


def test_the_gain_is_over_the_mean_of_the_paper_s_variants():
    (panel,) = ablations(ablation_scores())
    assert panel.methods == (CL, NO_TRAINING, NO_DISTILLATION, CONSTANT)
    assert panel.means[CL, "accuracy"] == 61
    # Seeds 20, 22 and 40, 42: means 21 and 41; the control takes no part.
    assert panel.variants_mean("accuracy") == 31
    assert (panel.gain("accuracy"), panel.gain("f1")) == (30, 0)


def test_what_was_not_run_has_no_number():
    found = ablation_scores() | ablation_scores(("other",), methods=(CL,))
    _, other = ablations(found)
    assert other.values[NO_TRAINING, "f1"] == {}
    assert other.gain("f1") is None
    rows = [tuple(row.values()) for row in figure3_rows([other], dict.fromkeys(METHODS, ""))]
    assert ("other", "f1", CL, "CL", "", "gain_over_variants", "mean", "") in rows
    assert ("other", "f1", NO_TRAINING, "w/o CL", "", "score", "mean", "") in rows
    (page,) = draw_figure3(ablations(found), "judge")
    assert texts_of(page).count("not run") == 3
    with pytest.raises(ValueError, match="no runs"):
        ablations({})


def test_figure3_rows_are_the_bars_dots_and_arrows():
    rows = [tuple(row.values()) for row in figure3_rows(ablations(ablation_scores()), dict.fromkeys(METHODS, "oracle"))]
    cl = [row for row in rows if row[1:3] == ("accuracy", CL)]
    assert cl == [
        ("sums", "accuracy", CL, "CL", "oracle", "score", "0", "60.000000"),
        ("sums", "accuracy", CL, "CL", "oracle", "score", "1", "62.000000"),
        ("sums", "accuracy", CL, "CL", "oracle", "score", "mean", "61.000000"),
        ("sums", "accuracy", CL, "CL", "oracle", "gain_over_variants", "mean", "30.000000"),
    ]
    assert ("sums", "accuracy", NO_TRAINING, "w/o CL", "oracle", "drop", "mean", "40.000000") in rows
    assert ("sums", "f1", CONSTANT, "constant reward (ours)", "oracle", "drop", "mean", "0.000000") in rows


def test_figure3_shows_bars_seeds_and_gains():
    (page,) = draw_figure3(ablations(ablation_scores()), "oracle")
    (axes,) = page.axes
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [61, 70, 21, 70, 41, 70, 51, 70]
    dots = [list(line.get_xdata()) for line in axes.lines if line.get_marker() == "."]
    assert dots[0] == [60, 62]
    texts = texts_of(page)
    assert {"+30.0", "+0.0", "steps scored by: oracle (a rule, no model)", "accuracy and F1, 2 seeds"} <= set(texts)
    assert scorer_text("judge") == "steps scored by: judge"
    assert scorer_text("qwen3-14b") == "steps scored by: Qwen3-14B"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_figure3_is_legible(count):
    names = [f"$benchmark_{index}$" for index in range(count)]
    assert_texts_are_apart(draw_figure3(ablations(ablation_scores(names)), "oracle")[0])


def test_what_a_run_spends():
    graded = {**scores(50.0, 60.0), "problems": {"q0": {}, "q1": {}}}
    calls = [
        call(0, size=2.0, tokens=10),
        call(1, model="large", size=4.0, tokens=5, qid="q1"),
        call(2, size=2.0, tokens=10, retry_of="c1", qid="q1"),
        call(3, size=2.0, tokens=20, phase=SEARCH),
        call(4, model="teacher", size=9.0, tokens=99, phase=TRAIN),
    ]
    found = spent("calls.parquet", graded, calls)
    # (2·10 + 4·5 + 2·10 + 2·20) / 2 questions; three invocations for two; training is none of it.
    assert found == Spent("accuracy", 50.0, 50.0, 1.5)
    with pytest.raises(ArtifactError, match=r"calls\.parquet"):
        spent("calls.parquet", graded, calls[4:])
    nothing = {**graded, "metrics": {"accuracy": None, "f1": None}}
    assert spent("calls.parquet", nothing, calls) is None


def spending(benchmarks=("sums",), methods=(NO_TRAINING, CL)):
    return {
        Run(name, method, seed): Spent("accuracy", 40.0 + 10 * seed, 60.0 + 60 * seed, place + 1.0)
        for name in benchmarks
        for place, method in enumerate(methods)
        for seed in (0, 1)
    }


def test_weighted_tokens_are_over_the_divisor():
    rows = [tuple(row.values()) for row in figure4_rows(circles(spending(), 6.0), SCORERS, {}, {})]
    # 60 and 120 billions x tokens over 2 + 4 billions.
    assert rows[:3] == [
        ("sums", NO_TRAINING, "", "accuracy", "0", "40.000000", "10.000000", "60.000000", "1.000000", "", ""),
        ("sums", NO_TRAINING, "", "accuracy", "1", "50.000000", "20.000000", "120.000000", "1.000000", "", ""),
        ("sums", NO_TRAINING, "", "accuracy", "mean", "45.000000", "15.000000", "90.000000", "1.000000", "", ""),
    ]
    with pytest.raises(ValueError, match="no runs"):
        circles({}, 6.0)


def test_what_the_paper_prints_stands_beside_the_means():
    table1 = {
        ("sums", method, "none", "accuracy"): (value, "Table 1") for method, value in ((CL, 42.37), ("mad", 39.5))
    }
    other = {("model_invocations_per_question", "sums", "CL"): ("4.0", "section 3.4")}
    shown = circles(spending(methods=("mad", CL)), 6.0)
    rows = [tuple(row.values()) for row in figure4_rows(shown, {CL: "", "mad": ""}, table1, other)]
    assert {row[4]: row[-2:] for row in rows if row[1] == CL} == {
        "0": ("", ""),
        "1": ("", ""),
        "mean": ("42.37", "4.0"),
    }
    assert rows[2][-2:] == ("39.50", "")  # of MAD it prints no invocations


def test_a_weighted_token_is_that_of_the_budgets_table():
    # 50 billions x tokens a question, by 2 + 4 + 14 billions: the large model is in the grid but never speaks.
    calls = [call(0, size=2.0, tokens=15), call(1, model="middle", size=4.0, tokens=5)]
    graded = {**scores(50.0, 60.0), "problems": {"q0": {}}}
    manifests = {"m": {"model": "large", "num_parameters": 14_000_000_000}}
    divisor = total_size(["small", "middle", "large"], {"small": 2.0, "middle": 4.0}, manifests)
    entry = {"benchmark": "sums", "method": CL, "seed": 0, "step_scorer": None}
    row = budget_row(Stages(entry, ""), {phase: [] for phase in PHASES} | {EVAL: calls}, [], divisor)
    (circle,) = circles({Run("sums", CL, 0): spent("calls.parquet", graded, calls)}, divisor)
    assert circle.seeds[0][1] == 2.5
    assert row["weighted_tokens_per_question"] == "2.50"


def test_figure4_circles_have_areas_in_proportion_to_invocations():
    (page,) = draw_figure4(circles(spending(), 6.0), "oracle")
    (axes,) = page.axes
    marks = [line for line in axes.lines if line.get_marker() in MARKERS]
    areas = {line.get_marker(): line.get_markersize() ** 2 * unit_area(line.get_marker()) for line in marks}
    # cl, the first, is a circle and has two invocations, the other is a square and has one.
    assert areas["o"] / areas["s"] == pytest.approx(2)
    assert [float(value[0]) for value in marks[0].get_data()] == [15.0, 45.0]
    # A circle of diameter 1, a square of side 1, and a triangle of base and height 1.
    assert [unit_area(marker) for marker in "os^"] == pytest.approx([0.785, 1, 0.5], abs=0.001)
    assert axes.get_xscale() == "log"
    assert {"steps scored by: oracle (a rule, no model)", "accuracy, 2 seeds", "10", "20"} <= set(texts_of(page))


def test_the_rows_of_table_1_look_different_and_have_titles():
    (page,) = draw_figure4(circles(spending(("musique", "mine"), ROWS), 6.0), "oracle")
    marks = [line for line in page.axes[0].lines if line.get_marker() in MARKERS]
    assert len({(line.get_marker(), line.get_color()) for line in marks}) == len(marks) == 12
    titles = ["CL", "Qwen3-14B", "SE-RL", "Homo. MAS", "Homo. CL", "MAD", "AgentVerse", "AFlow", "GPTSwarm"]
    assert {*titles, "MAGRPO", "MAPoRL", "AT-GRPO", "MuSiQue", "mine", "score (%)"} <= set(texts_of(page))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_figure4_is_legible(count):
    names = [f"$benchmark_{index}$" for index in range(count)]
    methods = (CL, *(f"$method_{index}$" for index in range(11)))
    assert_texts_are_apart(draw_figure4(circles(spending(names, methods), 6.0), "oracle")[0])


def spoken(benchmarks=("sums",), methods=(NO_TRAINING, CL)):
    short, long = path("a1", "a2"), path("a1", "a2", "a3")
    cyclic = path("a1", "a2", "a1", "a3")
    runs = {0: [short, long], 1: [long, cyclic, cyclic, cyclic]}
    return {
        Run(name, method, seed): topologies(found)
        for name in benchmarks
        for method in methods
        for seed, found in runs.items()
    }


def test_shares_and_lengths_are_means_over_seeds():
    (panel,) = shapes(spoken())
    # Seed 0: a half short linear, a half long linear; seed 1: a quarter long linear, the rest short cyclic.
    assert panel.share(CL, "long_linear") == pytest.approx(0.375)
    assert panel.share(CL, "short_cyclic") == pytest.approx(0.375)
    assert (panel.mean_steps(CL, "short_cyclic"), panel.mean_steps(CL, "long_cyclic")) == (4, None)
    rows = [tuple(row.values()) for row in figure5_rows([panel], SCORERS)]
    assert ("sums", CL, "after", "oracle", "short_cyclic", "1", "3", "0.750000", "4.000000") in rows
    assert ("sums", CL, "after", "oracle", "short_cyclic", "mean", "", "0.375000", "4.000000") in rows
    assert ("sums", NO_TRAINING, "before", "", "long_cyclic", "0", "0", "0.000000", "") in rows
    assert len(rows) == 2 * 4 * 3


def test_figure5_says_what_was_not_run_and_refuses_other_systems():
    (page,) = draw_figure5(shapes(spoken(methods=(CL,))), "oracle")
    texts = texts_of(page)
    assert texts.count("not run") == 1
    assert {"before", "after", "4.0", "2 seeds"} <= set(texts)
    heights = [bar.get_height() for bar in page.axes[0].patches]
    assert heights == pytest.approx([25, 37.5, 37.5, 0])
    for foreign in ({}, spoken(methods=("mad",))):
        with pytest.raises(ValueError, match="expected some of"):
            shapes(foreign)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_figure5_is_legible(count):
    names = [f"$benchmark_{index}$" for index in range(count)]
    assert_texts_are_apart(draw_figure5(shapes(spoken(names)), "oracle")[0])
