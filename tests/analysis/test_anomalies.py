"""Rates of broken protocol, over calls and over questions."""

import pytest
from recorded import call, step, trajectory

from slmcollab.analysis.anomalies import call_anomalies, call_failures, question_failures, reply_failures
from slmcollab.analysis.rates import Rate
from slmcollab.protocol.response import ANOMALIES


def test_calls_by_kind():
    # Four calls, the retry one of them: two of one kind, one of another.
    calls = [call(0, anomaly="no_action"), call(1, retry_of="c0", anomaly="no_action"), call(2), call(3, anomaly="cut")]
    found = call_anomalies(calls)
    assert [(kind, rate) for kind, rate in found.items() if rate.count] == [
        ("no_action", Rate(2, 4)),
        ("cut", Rate(1, 4)),
    ]
    assert list(found) == [*ANOMALIES, "cut"]  # the protocol's kinds, and one of another system
    assert found["truncated"] == Rate(0, 4)
    assert call_failures(calls) == Rate(3, 4)
    assert call_failures([]).share is None


def test_questions():
    trajectories = [
        trajectory(step("a1", "terminate", answer="1")),
        trajectory(step("a1", None, answer="1", anomaly="no_action"), end="anomalies"),
        trajectory(step("a1", answer="1"), end="step_limit"),
        trajectory(step("a1", "terminate")),  # ends properly, but with nothing
    ]
    assert question_failures(trajectories) == {
        "any_anomaly": Rate(1, 4),
        "step_limit": Rate(1, 4),
        "anomalies": Rate(1, 4),
        "no_answer": Rate(1, 4),
        "protocol_failure": Rate(3, 4),
    }


def test_questions_of_a_baseline():
    trajectories = [
        trajectory(step("a1", None, answer="1"), step("a2", None, anomaly="truncated")),
        trajectory(step("a1", None, answer="1")),
        # A role or a score is an answer of a step, but none of the team.
        trajectory(step("a1", None, answer="8"), step("a2", None, anomaly="malformed"), end="anomalies"),
    ]
    assert reply_failures(trajectories) == {
        "any_anomaly": Rate(2, 3),
        "no_answer": Rate(1, 3),
        "protocol_failure": Rate(1, 3),
    }


def test_wilsons_interval():
    # 5 of 10: centre (0.5 + z²/20) / (1 + z²/10) = 0.5, half width z sqrt(0.025 + z²/400) / (1 + z²/10) with
    # z = 1.96: 1.96 * 0.18593 / 1.38415 = 0.2634.
    assert Rate(5, 10).interval() == pytest.approx((0.2366, 0.7634), abs=1e-4)
    # 0 of 10: from 0 to z² / (10 + z²) = 3.8415 / 13.8415.
    assert Rate(0, 10).interval() == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert Rate(0, 0).interval() is None
