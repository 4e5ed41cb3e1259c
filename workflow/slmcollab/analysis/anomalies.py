"""How often the protocol is broken: by kind of anomaly over all calls, and by what it costs over all questions."""

from collections import Counter
from collections.abc import Sequence

from slmcollab.analysis.rates import Rate, rate
from slmcollab.generation.calls import Call
from slmcollab.protocol.response import ANOMALIES as KINDS
from slmcollab.protocol.trajectory import ANOMALIES, STEP_LIMIT, TERMINATED, Trajectory


def call_anomalies(calls: Sequence[Call]) -> dict[str, Rate]:
    """Return kind -> rate over all calls, retries too: all kinds of the protocol, and what else occurs."""
    counts = Counter(call.anomaly for call in calls if call.anomaly is not None)
    kinds = dict.fromkeys([*KINDS, *sorted(counts)])
    return {name: Rate(counts[name], len(calls)) for name in kinds}


def call_failures(calls: Sequence[Call]) -> Rate:
    """Return the share of calls with an anomaly of any kind."""
    return rate(call.anomaly is not None for call in calls)


def question_failures(trajectories: Sequence[Trajectory]) -> dict[str, Rate]:
    """Return rates over trajectories.

    any_anomaly: a step that its retry did not mend; step_limit and anomalies: the ends of these names; no_answer;
    protocol_failure: another end than a termination with an answer.
    """
    answered = [trajectory.end == TERMINATED and trajectory.answer != "" for trajectory in trajectories]
    return {
        "any_anomaly": rate(any(step.anomaly for step in trajectory.steps) for trajectory in trajectories),
        STEP_LIMIT: rate(trajectory.end == STEP_LIMIT for trajectory in trajectories),
        ANOMALIES: rate(trajectory.end == ANOMALIES for trajectory in trajectories),
        "no_answer": rate(trajectory.answer == "" for trajectory in trajectories),
        "protocol_failure": rate(not whole for whole in answered),
    }
