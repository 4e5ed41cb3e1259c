"""A run of a system as numbers of its questions: each quantity is the ratio of two sums over them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from slmcollab.analysis.anomalies import question_failures
from slmcollab.analysis.cost import cost
from slmcollab.analysis.missed import first_compliant_then_failed
from slmcollab.analysis.outcomes import Outcome
from slmcollab.analysis.overlap import overlap
from slmcollab.analysis.points import Scores, metric_pair, question_points, task_of
from slmcollab.analysis.retention import retention
from slmcollab.analysis.roles import roles
from slmcollab.analysis.topology import KINDS, kind
from slmcollab.generation.calls import SEARCH, Call
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.scoring.equality import EQUALITIES

Pair = tuple[float | int, float | int]  # what a question adds to the numerator and to the denominator


class Ratio(NamedTuple):
    """One quantity of one run: the sum of `over` by the sum of `under`.

    tasks: the task that each question is a version of, () where each is its own. fixed: whether another seed would give
    the same numbers.
    """

    questions: tuple[str, ...]
    over: Float[np.ndarray, " question"]
    under: Float[np.ndarray, " question"]
    tasks: tuple[str, ...] = ()
    fixed: bool = False

    @classmethod
    def of(cls, pairs: Mapping[str, Pair]) -> "Ratio":
        names = tuple(sorted(pairs))
        over, under = (np.array([pairs[name][side] for name in names], dtype=float) for side in (0, 1))
        return cls(names, over, under)


Measures = dict[str, Ratio]


def with_tasks(measures: Measures, scores: Scores) -> Measures:
    """Return the measures of a scores file's questions with the task of each."""
    tasks = {id_: task_of(id_, row) for id_, row in scores["problems"].items()}
    return {name: one._replace(tasks=tuple(tasks[id_] for id_ in one.questions)) for name, one in measures.items()}


def metric_measures(name: str, scores: Scores) -> Measures:
    """Return the two metrics of Table 1 in percent points, without one of which no question was run.

    name: of the scores file, for the complaint (ArtifactError) where its questions do not add up to a metric.
    """
    points = {metric: question_points(name, scores, metric) for metric in metric_pair(name, scores)}
    return {
        metric: Ratio.of({id_: (value, 1) for id_, value in found.items()}) for metric, found in points.items() if found
    }


def outcome_measures(outcomes: Mapping[str, Outcome]) -> Measures:
    """Return what became of the questions: shares and counts of first answers, corrections, retention, sources.

    corrected is the share of questions whose first answer was wrong and whose final one is right.
    """
    found: dict[str, dict[str, Pair]] = defaultdict(dict)
    for id_, one in outcomes.items():
        kept, failed = retention([one]), first_compliant_then_failed([one])
        found["first answer right"][id_] = (float(one.first is True), 1)
        found["corrected"][id_] = (float(one.first is False and one.correct), 1)
        found["retention"][id_] = (kept.num_kept, kept.num_discovered)
        found["compliant, then failed"][id_] = (failed.count, failed.total)
        found["steps"][id_] = (one.num_steps, 1)
        if one.group is not None:
            found[f"solved {one.group.rpartition('-')[0]}"][id_] = (float(one.correct), 1)
    return {name: Ratio.of(pairs) for name, pairs in found.items()}


def trajectory_measures(
    trajectories: Sequence[Trajectory], slots: Sequence[str], normalise: str = "text", *, overlaps: bool
) -> Measures:
    """Return shares and lengths of the kinds of trajectory, what each slot does, protocol failures, and overlap.

    normalise: what makes two answers one (see EQUALITIES). overlaps: whether reasoning is compared, which takes long.
    Names of a slot's measures start with the slot.
    """
    found: dict[str, dict[str, Pair]] = defaultdict(dict)
    for one in trajectories:
        shape, length = kind(one), len(one.steps)
        for name in KINDS:
            found[f"share of {name}"][one.problem] = (float(shape == name), 1)
            found[f"steps of {name}"][one.problem] = (length * (shape == name), float(shape == name))
        failed = question_failures([one])["protocol_failure"]
        found["protocol failure"][one.problem] = (failed.count, failed.total)
        for name, pair in _slot_pairs(one, slots, normalise, overlaps):
            found[name][one.problem] = pair
    return {name: Ratio.of(pairs) for name, pairs in found.items()}


def _slot_pairs(one: Trajectory, slots: Sequence[str], normalise: str, overlaps: bool) -> Iterator[tuple[str, Pair]]:
    for slot, role in roles([one], slots, EQUALITIES[normalise]).items():
        for name in ("revision", "handoff", "termination", "final_answer"):
            rate = getattr(role, name)
            yield f"{slot} {name}", (rate.count, rate.total)
    for slot, repeated in overlap([one], slots).items() if overlaps else ():
        yield f"{slot} overlap", ((repeated.share or 0.0) * repeated.pairs, repeated.pairs)


def call_measures(calls: Sequence[Call], questions: Sequence[str]) -> Measures:
    """Return invocations and weighted tokens (billions of parameters x tokens) of each question.

    Both are counted twice. Invocations: of the evaluation, retries included, and with those of a search, spread over
    the questions. Tokens: of all calls, those of a search spread over the questions, and of first attempts of the
    evaluation alone.
    """
    # ASSUME: the paper's invocations are all calls of the evaluation, retries included; those of a search are left out.
    # ASSUME: the paper's count of tokens leaves out retries and a search; the primary count has everything.
    of: dict[str, list[Call]] = {question: [] for question in questions}
    for call in calls:
        if call.phase != SEARCH and call.qid in of:
            of[call.qid].append(call)
    search = [call for call in calls if call.phase == SEARCH]
    searched, asked = cost(search, len(questions), 1.0).b_tokens, len(search) / len(questions)
    every = {question: cost(own, 1, 1.0) for question, own in of.items()}
    first = {question: cost([call for call in own if call.retry_of is None], 1, 1.0) for question, own in of.items()}
    return {
        "invocations": Ratio.of({question: (one.invocations, 1) for question, one in every.items()}),
        "invocations, search included": Ratio.of({name: (one.invocations + asked, 1) for name, one in every.items()}),
        "weighted tokens": Ratio.of({question: (one.b_tokens + searched, 1) for question, one in every.items()}),
        "weighted tokens, first attempts": Ratio.of({question: (one.b_tokens, 1) for question, one in first.items()}),
    }
