"""How often the protocol is broken: by kind of anomaly over all calls, and by what it costs over all questions."""

from collections import Counter
from collections.abc import Sequence

from slmcollab.analysis.rates import Rate, rate
from slmcollab.generation.calls import Call
from slmcollab.protocol.response import ANOMALIES as KINDS
from slmcollab.protocol.trajectory import ANOMALIES, STEP_LIMIT, TERMINATED, Trajectory


def call_anomalies(calls: Sequence[Call], kinds: Sequence[str] = KINDS) -> dict[str, Rate]:
    """Return kind -> rate over all calls, retries too: these kinds, by default the protocol's, and what else occurs."""
    counts = Counter(call.anomaly for call in calls if call.anomaly is not None)
    kinds = list(dict.fromkeys([*kinds, *sorted(counts)]))
    return {name: Rate(counts[name], len(calls)) for name in kinds}


def call_failures(calls: Sequence[Call]) -> Rate:
    """Return the share of calls with an anomaly of any kind."""
    return rate(call.anomaly is not None for call in calls)


def reply_failures(trajectories: Sequence[Trajectory]) -> dict[str, Rate]:
    """Return rates over the trajectories of a baseline, whose steps are replies that a rule makes an answer of.

    any_anomaly: as of `question_failures`; no_answer: no answer of the team, the only protocol_failure there is.
    """
    silent = rate(trajectory.end != TERMINATED for trajectory in trajectories)
    broken = rate(any(step.anomaly for step in trajectory.steps) for trajectory in trajectories)
    return {"any_anomaly": broken, "no_answer": silent, "protocol_failure": silent}


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
