"""The paper's numbers are read as they stand, agree with each other and with its text, and a bad file stops."""

import csv
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured
from slmcollab.report.rows import Row
from slmcollab.report.slices_published import read_other, read_table1
from slmcollab.report.slices_table1 import above_baselines
from slmcollab.report.table1 import NAMES

FOLDER = Path(__file__).parents[2] / "workflow/published"
METHODS = (
    *("qwen3_14b", "se_rl", "homo_mas", "homo_cl", "mad", "agentverse", "aflow", "gptswarm"),
    *("magrpo", "maporl", "at_grpo", "cl"),
)
BASELINES = METHODS[:-1]
GRADED = ("musique", "gsm_hard", "math")  # by accuracy and F1
COLUMN_ORDER = [
    *[(benchmark, metric) for benchmark in GRADED for metric in ("accuracy", "f1")],
    *[("multipl_e", metric) for metric in ("weighted", "macro")],
    *[("conifer", metric) for metric in ("coverage", "explicit")],
]
# The arrows that the paper prints beside its numbers, a method a line, in the order of COLUMN_ORDER.
ARROWS = """
  0.87   0.47   1.65   3.19   4.40   3.25   1.08   2.59   0.17   0.62
  3.07   3.48   0.89   2.17   5.80   1.09   6.33   7.80   0.17   0.71
-12.28 -16.41   3.92   2.43  -2.00  -3.20   2.26   2.45   0.19  -0.83
 -2.68  -2.04  -6.68  -0.99  -1.60  -1.66  -0.77  -2.10   0.32   0.12
  0.83   1.36  -0.62  -3.32   2.20   1.71   0.93   0.60   0.72   0.74
  3.31   3.62   4.68   0.94  -2.00  -0.19   5.15   5.08  -0.09   0.76
  3.15   1.13   0.89  -1.46  -5.20  -3.08 -11.27 -12.29   0.09   1.41
 -2.48  -1.86   3.16   0.89  -1.00   0.29  -2.47  -2.32   0.34   0.86
  1.45   2.51  -1.38  -1.06  -5.20  -3.60  -4.17  -4.27   0.75   0.72
  1.91   3.51  -3.65  -2.16   0.60   1.26  -0.85  -1.48  -1.46  -5.91
  2.86   4.28  -2.90  -0.64   4.00   4.09   3.81   3.99  -1.23   0.75
  3.69   4.20   4.68   3.65   8.20   5.64   5.29   4.88   1.07   0.80
"""
SIZES = {"musique": 2417, "gsm_hard": 132, "math": 500, "multipl_e": 1352}
# How many items some rows must have right for their printed percentages.
COUNTS = {
    "musique": {"aflow": 1011, "agentverse": 1015, "gptswarm": 875, "mad": 955, "cl": 1024},
    "gsm_hard": {"mad": 88, "agentverse": 95, "aflow": 90, "cl": 95},
    "math": {"aflow": 325, "agentverse": 341, "gptswarm": 346, "mad": 362, "cl": 392},
    "multipl_e": {"aflow": 579, "agentverse": 801, "gptswarm": 698, "mad": 744, "cl": 803},
}


@pytest.fixture(scope="module")
def printed():
    return {(key[1], key[0], key[3]): value for key, (value, _) in read_table1(FOLDER / "slices_table1.csv").items()}


@pytest.fixture(scope="module")
def gains(printed):
    return {
        method: [round(printed["cl", *column] - printed[method, *column], 2) for column in COLUMN_ORDER]
        for method in BASELINES
    }


def test_both_files():
    table = read_table1(FOLDER / "slices_table1.csv")
    assert table["musique", "cl", "none", "accuracy"] == (42.37, "paper Table 1")
    other = read_other(FOLDER / "slices_other.csv")
    assert other["topology_share_pct", "musique", "long linear, after CL"] == ("60.12", "paper section 3.5")


def test_the_published_table_is_whole(printed):
    assert len(printed) == 120
    assert printed.keys() == {(method, *column) for method in METHODS for column in COLUMN_ORDER}
    assert all(0 < value < 100 for value in printed.values())


def test_published_arrows_are_distances_to_the_mean_of_the_baselines(printed):
    rows = [
        Row(dict(zip(NAMES, ("slices", benchmark, method, "none", metric), strict=True)), Measured(value, n_seeds=1))
        for (method, benchmark, metric), value in printed.items()
    ]
    found = above_baselines(rows, BASELINES)
    arrows = np.array([[float(text) for text in line.split()] for line in ARROWS.split("\n")[1:-1]])
    ours = np.array([[found[benchmark, method, metric] for benchmark, metric in COLUMN_ORDER] for method in METHODS])
    assert arrows.shape == ours.shape == (12, 10)
    assert np.abs(ours - arrows).max() < 0.0051


def test_published_gains_are_those_of_the_text(gains):
    means = {method: f"{fmean(found):.2f}" for method, found in gains.items()}
    established = {method: means[method] for method in METHODS[4:-1]}
    smallest, largest = (pick(established, key=lambda method: float(established[method])) for pick in (min, max))
    assert (smallest, largest) == ("agentverse", "aflow")
    assert [means[m] for m in ("qwen3_14b", "homo_cl", smallest, largest)] == ["2.38", "6.02", "2.08", "6.87"]
    other = read_other(FOLDER / "slices_other.csv")
    conditions = {
        "qwen3_14b": "CL minus Qwen3-14B",
        "homo_cl": "CL minus Homo. CL",
        smallest: "CL minus established MAS/MARL, smallest baseline",
        largest: "CL minus established MAS/MARL, largest baseline",
    }
    for method, condition in conditions.items():
        assert other["avg_absolute_gain_points", "all 10 metrics", condition][0] == means[method]


def test_published_wins_are_those_of_the_text(gains):
    other = read_other(FOLDER / "slices_other.csv")
    wins = {method: f"{sum(gain > 0 for gain in found)}/10" for method, found in gains.items()}
    names = {"qwen3_14b": "Qwen3-14B", "se_rl": "SE-RL", "homo_mas": "Homo. MAS", "homo_cl": "Homo. CL"}
    assert [wins[method] for method in names] == ["10/10", "8/10", "10/10", "10/10"]
    for method, name in names.items():
        assert other["metrics_won", "all 10 metrics", f"CL vs {name}"][0] == wins[method]


@pytest.mark.parametrize("benchmark", SIZES)
def test_published_shares_are_counts_of_our_test_items(printed, benchmark):
    size, metric = SIZES[benchmark], "weighted" if benchmark == "multipl_e" else "accuracy"
    for method in METHODS:
        value = printed[method, benchmark, metric]
        count = round(value * size / 100)
        assert f"{100 * count / size:.2f}" == f"{value:.2f}", method
        assert COUNTS[benchmark].get(method, count) == count, method


def test_published_macro_is_the_mean_of_16_cells(printed):
    # 49 HumanEval and 120 MBPP tasks in 8 languages: cells of one source are of one size, so the mean over 16 cells is
    # (h / 392 + m / 960) / 2 with h + m right programs, and has to print as the paper's for some h. One row in eight
    # would by chance: h moves it by 0.0755 points. The mean over languages weighs tasks alike and would be `weighted`.
    for method in METHODS:
        right = round(printed[method, "multipl_e", "weighted"] * 1352 / 100)
        macros = {f"{50 * (h / 392 + (right - h) / 960):.2f}" for h in range(393) if 0 <= right - h <= 960}
        assert f"{printed[method, 'multipl_e', 'macro']:.2f}" in macros, method
        assert printed[method, "multipl_e", "macro"] != printed[method, "multipl_e", "weighted"]


def test_published_f1_is_never_below_accuracy(printed):
    for method in METHODS:
        for benchmark in GRADED:
            assert printed[method, benchmark, "f1"] >= printed[method, benchmark, "accuracy"], (method, benchmark)


def test_published_daggers():
    with (FOLDER / "slices_table1.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["dagger"] for row in rows} == {"true", "false"}
    marked = [row["method"] for row in rows if row["dagger"] == "true"]
    assert len(marked) == 76
    assert "cl" not in marked


@pytest.mark.parametrize(
    ("rows", "message"),
    [("a,b,c,x,,\n", "'x', not a number"), ("a,b,c,1,,\na,b,c,2,,\n", "there twice")],
)
def test_bad_tables(tmp_path, rows, message):
    (tmp_path / "t.csv").write_text("benchmark,method,metric,value,dagger,source\n" + rows)
    with pytest.raises(ArtifactError, match=message):
        read_table1(tmp_path / "t.csv")


def test_a_quantity_that_is_there_twice(tmp_path):
    (tmp_path / "t.csv").write_text("quantity,benchmark,condition,value,source_section\n" + "a,b,c,1,\n" * 2)
    with pytest.raises(ArtifactError, match="there twice"):
        read_other(tmp_path / "t.csv")
