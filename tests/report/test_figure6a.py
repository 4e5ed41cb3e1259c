"""Figure 6a: what is read and refused, the means, and the picture."""

import numpy as np
import pytest
from drawn import assert_texts_are_apart, shown_texts

from slmcollab.artifacts import ArtifactError
from slmcollab.report.figure6a import WITH, WITHOUT, Curve, figure6a_rows, group_rewards, read_rewards
from slmcollab.report.figure6a_drawing import draw_figure6a
from slmcollab.report.panels import SEED

HISTORY = "step,reward,kl,reward_without_context\n1,0.5,0.1,0.25\n2,0.75,0.1,\n3,1.0,0.1,0.0\n"


def run(seed=0, benchmark="sums", team="toy", method="hidden_state"):
    return {"benchmark": benchmark, "team": team, "method": method, "seed": seed}


def rewards(start=0.0, steps=3):
    step = np.arange(1, steps + 1)
    return {WITH: Curve(step, np.linspace(start, 0.5, steps)), WITHOUT: Curve(step[::2], np.zeros(len(step[::2])))}


@pytest.fixture
def history(tmp_path):
    return tmp_path / "history.csv"


def test_rewards_are_read_and_steps_without_a_probe_are_none(history):
    history.write_text(HISTORY)
    found = read_rewards(history)
    assert (found[WITH].step.tolist(), found[WITH].value.tolist()) == ([1, 2, 3], [0.5, 0.75, 1.0])
    assert (found[WITHOUT].step.tolist(), found[WITHOUT].value.tolist()) == ([1, 3], [0.25, 0.0])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("2,0.75,", "2,nan,", "step 2: reward is nan, not between 0 and 1"),
        ("2,0.75,", "2,,", "step '2': reward is '', no number"),
        (",0.0\n", ",nan\n", "step 3: reward_without_context is nan"),
        (",0.0\n", ",-0.1\n", "step 3: reward_without_context is -0.1"),
        ("3,1.0", "3,1.5", "step 3: reward is 1.5"),
        ("3,1.0", "2,1.0", "steps have to rise"),
        ("3,1.0,0.1,0.0\n", "3,1.0", "cut in its last line"),
        ("3,1.0,0.1,0.0\n", "3,1.0\n", "step '3': reward_without_context is None"),
        (",reward_without_context", ",other", r"lacks the columns \['reward_without_context'\]"),
    ],
)
def test_a_history_that_is_not_right_is_refused_by_name(history, old, new, complaint):
    assert old in HISTORY
    history.write_text(HISTORY.replace(old, new))
    with pytest.raises(ArtifactError, match=rf"history\.csv: {complaint}|history\.csv: .*{complaint}"):
        read_rewards(history)


def test_a_history_that_is_missing_or_without_probes_is_refused(history):
    with pytest.raises(ArtifactError, match="no such file"):
        read_rewards(history)
    history.write_text("step,reward,reward_without_context\n1,0.5,\n")
    with pytest.raises(ArtifactError, match="no step with reward_without_context"):
        read_rewards(history)
    history.write_text("step,reward,reward_without_context\n")
    with pytest.raises(ArtifactError, match="no step with reward"):
        read_rewards(history)


def test_runs_are_grouped_by_benchmark_team_and_method():
    runs = [run(1), run(1, team="other"), run(0), run(1, method="prefix")]
    groups = group_rewards(runs, [rewards()] * 4)
    assert [(group.team, group.method, list(group.seeds)) for group in groups] == [
        ("toy", "hidden_state", [1, 0]),
        ("other", "hidden_state", [1]),
        ("toy", "prefix", [1]),
    ]


def test_runs_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="no runs"):
        group_rewards([], [])
    with pytest.raises(ValueError, match="seed 0 is there twice"):
        group_rewards([run(), run()], [rewards()] * 2)
    with pytest.raises(ValueError, match=r"sums.*seed 1 was sampled at other steps"):
        group_rewards([run(), run(1)], [rewards(), rewards(steps=5)])


def test_rows_hold_every_seed_and_the_mean():
    rows = list(figure6a_rows(group_rewards([run(0), run(1)], [rewards(0.0), rewards(0.5)])))
    found = {(row["seed"], row["step"], row["quantity"]): row["value"] for row in rows}
    # Seeds 0, 1 and mean, each with 3 rewards and 2 probes.
    assert len(rows) == len(found) == 3 * 5
    assert found["0", "1", WITH] == "0.000000"
    assert found["mean", "1", WITH] == "0.250000"  # (0 + 0.5) / 2
    assert found["mean", "2", WITH] == "0.375000"  # (0.25 + 0.5) / 2
    assert found["mean", "3", WITHOUT] == "0.000000"
    assert ("mean", "2", WITHOUT) not in found
    assert list(rows[0]) == ["benchmark", "team", "method", "seed", "step", "quantity", "value"]


def test_the_picture_has_both_rewards_of_every_seed_and_their_means_from_0_to_1():
    groups = group_rewards([run(0), run(1)], [rewards(0.0), rewards(0.25)])
    (axes,) = draw_figure6a(groups)[0].axes
    thin = [list(line.get_ydata()) for line in axes.lines if line.get_linewidth() == SEED["linewidth"]]
    assert thin == [[0, 0.25, 0.5], [0.25, 0.375, 0.5], [0, 0], [0, 0]]
    bold = [list(line.get_ydata()) for line in axes.lines if line.get_linewidth() > 1]
    assert bold == [[0.125, 0.3125, 0.5], [0, 0]]
    assert axes.get_ylim() == (-0.02, 1.02)
    assert list(axes.get_yticks()) == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_no_text_lies_on_another_or_outside(count):
    runs = [run(seed, team=f"$team_{index}$") for index in range(count) for seed in (0, 1)]
    (page,) = draw_figure6a(group_rewards(runs, [rewards(steps=500)] * len(runs)))
    assert_texts_are_apart(page)
    texts = [text for text, _ in shown_texts(page)[0]]
    assert texts.count("x alone") == texts.count("x and C") == count
    assert {"sums · $team_0$", "hidden_state, 2 seeds", "mean over seeds (x and C: means over 10 steps)"} <= set(texts)
