"""Equations 11 and 12 by hand."""

import pytest

from slmcollab.supervision.rewards import CONSTANT, SCORES, TASK, delivered, rewards, step_reward, task_reward


def test_eq_11_is_the_mean_of_both_scores():
    assert delivered(0.5, -1.0) == -0.25
    assert delivered(1, 1) == 1
    assert delivered(-1, -1) == -1


def test_eq_12_maps_the_metric_to_minus_one_to_one_and_weighs_it_by_alpha():
    assert [task_reward(m) for m in (0, 0.25, 1)] == [-1, -0.5, 1]
    # 0.6 * (2 * 0.75 - 1) + 0.4 * (0.5 - 1) / 2 = 0.3 - 0.1
    assert step_reward(0.75, 0.5, -1.0, 0.6) == pytest.approx(0.2)
    assert step_reward(1.0, -1.0, -1.0, 1.0) == 1
    assert step_reward(1.0, -1.0, -1.0, 0.0) == -1


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ((1.1, 0, 0, 0.5), "metric"),
        ((-0.1, 0, 0, 0.5), "metric"),
        ((float("nan"), 0, 0, 0.5), "metric"),
        ((1, 1.5, 0, 0.5), "reasoning"),
        ((1, 0, -1.01, 0.5), "action"),
        ((1, 0, float("nan"), 0.5), "action"),
        ((1, 0, 0, 1.01), "alpha"),
        ((1, 0, 0, -0.01), "alpha"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(values, name):
    with pytest.raises(ValueError, match=name):
        step_reward(*values)


def test_one_reward_for_every_step_of_every_kind(trajectories):
    two, metrics = trajectories[:2], [1.0, 0.25]
    scores = {two[0].id: [(1.0, 0.0), (-1.0, 0.0)], two[1].id: [(1.0, 1.0), (0.0, 1.0)]}
    # 0.5 * 1 + 0.5 * ±0.5; 0.5 * -0.5 + 0.5 * (1 | 0.5)
    assert rewards(two, metrics, SCORES, alpha=0.5, scores=scores) == {
        two[0].id: [0.75, 0.25],
        two[1].id: [0.25, 0.0],
    }
    assert rewards(two, metrics, TASK, alpha=0.5) == {two[0].id: [1, 1], two[1].id: [-0.5, -0.5]}
    assert rewards(two, metrics, CONSTANT, alpha=0.5) == {two[0].id: [0.5, 0.5], two[1].id: [0.5, 0.5]}


def test_a_trajectory_that_the_evaluator_dropped_has_no_reward(trajectories):
    scores = {trajectories[1].id: [(0.0, 0.0), (0.0, 0.0)]}
    assert rewards(trajectories[:2], [1.0, 1.0], SCORES, alpha=0.5, scores=scores).keys() == {trajectories[1].id}
    assert rewards(trajectories[:2], [1.0, 1.0], SCORES, alpha=0.5) == {}


def test_wrong_input_is_refused(trajectories):
    with pytest.raises(ValueError, match="scores, task, constant"):
        rewards(trajectories, [1.0] * 4, "taste", alpha=0.5)
    with pytest.raises(ValueError, match="p/0#0: 1 step scores for 2 steps"):
        rewards(trajectories[:1], [1.0], SCORES, alpha=0.5, scores={"p/0#0": [(0.0, 0.0)]})
    with pytest.raises(ValueError, match="metric"):
        rewards(trajectories[:1], [2.0], TASK, alpha=0.5)
