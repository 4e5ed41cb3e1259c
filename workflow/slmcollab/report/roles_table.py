"""The table of roles: what each slot does, the shapes of trajectories, and how often the protocol is broken."""

from collections.abc import Callable, Mapping, Sequence

from slmcollab.analysis.anomalies import call_anomalies, call_failures, question_failures, reply_failures
from slmcollab.analysis.rates import Rate
from slmcollab.analysis.roles import roles
from slmcollab.analysis.topology import topologies
from slmcollab.generation.calls import SEARCH, Call
from slmcollab.protocol.response import ANOMALIES, SOLO_ANOMALIES
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.report.slices_runs import NAMES, Quantities, Quantity
from slmcollab.report.tidy import CONDITIONS, NUMBERS
from slmcollab.report.titles import title
from slmcollab.scoring.equality import plain

KEYS = ("slot", "model", "measure")
COLUMNS = (*NAMES, *KEYS, *NUMBERS)
ALL = "all"
PRINTED = {
    "revision": "answer_revision_rate_pct",
    "handoff": "handoff_rate_pct",
    "termination": "termination_rate_pct",
    "final_answer": "final_answer_share_pct",
}


def role_quantities(
    trajectories: Sequence[Trajectory],
    calls: Sequence[Call],
    models: Mapping[str, str],
    normalise: Callable[[str], str] = plain,
) -> Quantities:
    """Return (slot, model, measure) -> quantity of a run, measures of the whole team under the slot `all`.

    models: slot -> model; normalise: see `roles`. A slot's measures: revision, handoff, termination and final_answer in
    percent, steps a question. The team's: share_ and steps_ of each kind of trajectory, step counts as recorded;
    any_anomaly, protocol_failure and the other `question_failures` in percent of the questions. Both have
    calls_anomalous and calls_ of each kind of anomaly, in percent of their calls.
    """
    found: dict[tuple[str, ...], Quantity] = {}
    for slot, role in roles(trajectories, list(models), normalise).items():
        for measure in PRINTED:
            found[slot, models[slot], measure] = Quantity.share(getattr(role, measure))
        steps = role.steps / len(trajectories) if trajectories else None
        found[slot, models[slot], "steps"] = Quantity(steps, "steps", n=len(trajectories))
        found |= _anomalies(slot, models[slot], [call for call in calls if call.agent == slot])
    for kind, shape in topologies(trajectories).items():
        found[ALL, "", f"share_{kind}"] = Quantity.share(Rate(shape.count, len(trajectories)))
        found[ALL, "", f"steps_{kind}"] = Quantity(shape.mean_steps, "steps", n=shape.count)
    for measure, rate in question_failures(trajectories).items():
        found[ALL, "", measure] = Quantity.share(rate)
    return found | _anomalies(ALL, "", calls)


def failure_quantities(
    trajectories: Sequence[Trajectory], calls: Sequence[Call], models: Mapping[str, str]
) -> Quantities:
    """Return (slot, model, measure) -> quantity of a baseline's run: its replies have no actions, so only anomalies.

    calls_anomalous and calls_ of each kind, of each slot and of `all`, in percent of the calls in evaluation; of `all`,
    any_anomaly, no_answer and protocol_failure in percent of the questions.
    """
    found: dict[tuple[str, ...], Quantity] = {}
    answering = [call for call in calls if call.phase != SEARCH]
    for slot, model in models.items():
        found |= _anomalies(slot, model, [call for call in answering if call.agent == slot], SOLO_ANOMALIES)
    for measure, rate in reply_failures(trajectories).items():
        found[ALL, "", measure] = Quantity.share(rate)
    return found | _anomalies(ALL, "", answering, SOLO_ANOMALIES)


def _anomalies(slot: str, model: str, calls: Sequence[Call], kinds: Sequence[str] = ANOMALIES) -> Quantities:
    rates = call_anomalies(calls, kinds)
    found = {(slot, model, f"calls_{kind}"): Quantity.share(rate) for kind, rate in rates.items()}
    return {(slot, model, "calls_anomalous"): Quantity.share(call_failures(calls))} | found


def printed_role(names: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the paper's (quantity, condition) of a row; the paper names models, as "Qwen3-4B, after CL"."""
    when, measure = CONDITIONS.get(names["method"]), names["measure"]
    if when is None:
        return None
    if measure in PRINTED:
        return PRINTED[measure], f"{title(names['model'])}, {when}"
    if measure.startswith("share_"):
        return "topology_share_pct", f"{measure.removeprefix('share_').replace('_', ' ')}, {when}"
    return ("avg_steps_short_cyclic", when) if measure == "steps_short_cyclic" else None
