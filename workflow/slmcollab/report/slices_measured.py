"""What the scores of a system say of a metric: over its seeds, over its questions, against the reference system."""

from collections.abc import Iterable, Mapping, Set
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from slmcollab.analysis.paired_tests import BOOTSTRAP, MCNEMAR, Comparison, mcnemar, paired_bootstrap
from slmcollab.analysis.points import (
    BINARY,
    Scores,
    group_of,
    question_scores,
    run_problems,
    task_of,
    task_points,
    weighed,
)
from slmcollab.analysis.statistics import (
    BATCH,
    RESAMPLES,
    bootstrap_interval,
    mean_and_std,
)
from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured
from slmcollab.report.tables import Key, metric_values
from slmcollab.seeding import derive

Verdicts = Mapping[str, Mapping[str, Any]]  # question -> its verdict in scores.json


class System(NamedTuple):
    """A metric of a system: points from 0 to 100 of each question that was run, groups not weighed, None if not judged.

    num_runs: how many seeds the points are means over; verdicts: of one of these runs.
    """

    num_runs: int
    points: Mapping[str, float | None]
    verdicts: Verdicts


def system_points(names: Iterable[str], scores: Mapping[str, Scores], metric: str) -> System:
    """Return a system's points (see `question_scores`), means over the seeds whose answer could be judged.

    names: its scores files. Raises ArtifactError where its seeds answered different questions, or others could not be
    run.
    """
    found = {name: question_scores(name, scores[name], metric) for name in names}
    asked = {name: run_problems(scores[name]) for name in found}
    verdicts = next(iter(asked.values()), {})
    for name, rows in asked.items():
        _check_same(name, rows.keys(), verdicts.keys())
    known = {id_: [of[id_] for of in found.values() if id_ in of] for id_ in sorted(verdicts)}
    return System(len(found), {id_: fmean(values) if values else None for id_, values in known.items()}, verdicts)


def _check_same(name: str, ids: Set[str], others: Set[str]) -> None:
    if ids != others:
        raise ArtifactError(f"{name}: not the same questions were run, only on one side {sorted(ids ^ others)[:3]}")


def measure(key: Key, metric: str, names: Iterable[str], scores: Mapping[str, Scores]) -> Measured:
    """Return what the scores files of a system say of a metric, without a test.

    Questions that are versions of one task are drawn together. Random numbers belong to (key, metric).
    """
    names = list(names)
    values = metric_values(names, scores, metric)
    if not values:
        return Measured()
    system = system_points(names, scores, metric)
    judged = {id_: value for id_, value in system.points.items() if value is not None}
    points, strata = _task_points(judged, metric, system.verdicts)
    return Measured(*mean_and_std(values), len(values), *_interval(points, strata, derive(0, *key, metric)))


def compare(key: Key, metric: str, ours: System, reference: System) -> Comparison | None:
    """Return the paired test of a system to the reference, None where there is no question that both could judge.

    McNemar's exact test where a question is right or wrong, one run a side, else the paired bootstrap over questions
    of the means over seeds. Versions of one task (a program in many languages) are drawn together, in a macro metric
    among the tasks that have a version in the same groups, so that each group keeps its size. Random numbers belong to
    (key, metric). Raises ArtifactError where the two answered other questions, or others could not be run.
    """
    _check_same(f"{key}, {metric}", ours.points.keys(), reference.points.keys())
    pairs = {id_: (value, reference.points[id_]) for id_, value in ours.points.items()}
    judged = {id_: round(one - other, 9) for id_, (one, other) in pairs.items() if None not in (one, other)}
    if not judged:
        return None
    points, strata = _task_points(judged, metric, ours.verdicts)
    won, lost = sum(value > 0 for value in judged.values()), sum(value < 0 for value in judged.values())
    # ASSUME: pass@1 of programs in many languages has the bootstrap over tasks; McNemar's test takes them as unrelated.
    if metric in BINARY and len(points) == len(judged) and ours.num_runs == reference.num_runs == 1:
        return Comparison(mcnemar(won, lost), MCNEMAR, len(judged), won + lost)
    generator = np.random.default_rng([derive(0, *key, metric), 1])
    p_value = paired_bootstrap(np.array(list(points.values())), list(strata.values()), generator)
    return Comparison(p_value, BOOTSTRAP, len(judged), won + lost)


def _task_points(
    points: Mapping[str, float], metric: str, verdicts: Verdicts
) -> tuple[dict[str, float], dict[str, str]]:
    """Return task -> its points, whose mean is the metric, and task -> its stratum, in one order.

    A stratum is the groups of a macro metric that a task has questions in: tasks of the same ones are drawn apart.
    """
    tasks = {id_: task_of(id_, verdicts[id_]) for id_ in points}
    groups: dict[str, set[str]] = {}
    for id_, task in tasks.items():
        groups.setdefault(task, set()).add(group_of(metric, verdicts[id_]))
    strata = {task: " ".join(sorted(found)) for task, found in groups.items()}
    return task_points(weighed(points, metric, verdicts), tasks), strata


def _interval(points: Mapping[str, float], groups: Mapping[str, str], seed: int) -> tuple[float, float]:
    generator = np.random.default_rng([seed, 0])
    kinds = dict.fromkeys(groups.values())
    values = {group: np.array([points[id_] for id_ in points if groups[id_] == group]) for group in kinds}
    if len(values) == 1:
        return bootstrap_interval(np.array(list(points.values())), generator)
    sizes = [len(value) for value in values.values()]
    # A group of one problem cannot vary: twice the same value does not either, and scipy asks for two.
    data = [np.repeat(value, 2) if len(value) == 1 else value for value in values.values()]

    def mean(*parts: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
        return sum(part.mean(axis=axis) * size for part, size in zip(parts, sizes, strict=True)) / sum(sizes)

    options = {"n_resamples": RESAMPLES, "batch": BATCH, "method": "percentile"}
    found = stats.bootstrap(data, mean, vectorized=True, rng=generator, **options).confidence_interval
    return float(found.low), float(found.high)
