"""Which trajectories are kept, and what becomes of them."""

from dataclasses import replace

import pytest

from slmcollab.protocol.trajectory import STEP_LIMIT
from slmcollab.scoring.score import Score
from slmcollab.supervision.qualify import demonstrations, qualify


def score(metric, error=None):
    return Score(metric, metric == 1.0, "x", error)


def with_anomaly(trajectory, place):
    steps = list(trajectory.steps)
    steps[place] = replace(steps[place], anomaly="no_action")
    return replace(trajectory, steps=tuple(steps))


def test_each_is_counted_once_under_the_first_reason_against_it(trajectories):
    good = trajectories[0]
    cases = [
        (with_anomaly(replace(good, end=STEP_LIMIT), 0), score(0.0), "anomalous"),
        (with_anomaly(good, 1), score(1.0), "anomalous"),
        (replace(good, end=STEP_LIMIT), score(0.0, "timed_out"), "not_terminated"),
        (good, score(0.0, "timed_out"), "timed_out"),
        (good, score(0.0, "raised: KeyError"), "not_graded"),
        (good, score(0.49), "below_threshold"),
        (good, score(0.5), "kept"),
        (good, score(1.0), "kept"),
    ]
    tried, scores, verdicts = zip(*cases, strict=True)
    kept, counts = qualify(tried, scores, 0.5)
    assert kept == [good, good]
    assert counts == {"sampled": 8} | {reason: verdicts.count(reason) for reason in verdicts}
    assert sum(counts.values()) == 2 * counts["sampled"]


def test_a_retry_that_came_out_well_is_no_anomaly(trajectories):
    retried = replace(trajectories[0], steps=tuple(replace(s, complaint="malformed") for s in trajectories[0].steps))
    assert qualify([retried], [score(1.0)], 1.0)[0] == [retried]


def test_scores_of_other_trajectories_are_refused(trajectories):
    with pytest.raises(ValueError, match="zip"):
        qualify(trajectories, [score(1.0)], 0.5)


def test_demonstrations_are_told_with_the_slots_changed(trajectories):
    slots = ("a1", "a2", "a3")
    told = demonstrations(trajectories, slots, seed=3)
    assert [t.id for t in told] == [t.id for t in trajectories]
    assert told == demonstrations(trajectories, slots, seed=3)
    assert any(told != demonstrations(trajectories, slots, seed=seed) for seed in range(4, 8))
    for old, new in zip(trajectories, told, strict=True):
        assert [s.reasoning for s in new.steps] == [s.reasoning for s in old.steps]
        assert new.steps[0].target == new.steps[1].slot != new.steps[0].slot
        assert f"<action>handoff({new.steps[1].slot})</action>" in new.steps[0].text


def test_every_slot_gets_about_its_share(trajectories):
    many = [replace(trajectories[0], sample=sample) for sample in range(300)]
    first = [t.steps[0].slot for t in demonstrations(many, ("a1", "a2", "a3"), seed=0)]
    assert all(abs(first.count(slot) - 100) < 30 for slot in ("a1", "a2", "a3"))  # 3.7 standard deviations
