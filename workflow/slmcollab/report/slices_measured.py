"""What the scores of a system say of a metric: over its seeds, over its questions, against the reference system."""

from collections.abc import Iterable, Mapping, Set
from statistics import fmean
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import stats

from slmcollab.analysis.points import Scores, group_of, question_points, run_problems, task_of, task_points
from slmcollab.analysis.statistics import (
    BATCH,
    RESAMPLES,
    bootstrap_interval,
    mean_and_std,
    paired_test,
)
from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured
from slmcollab.report.tables import Key, metric_values
from slmcollab.seeding import derive

Points = Mapping[str, float | None]  # question -> percent points


def system_points(names: Iterable[str], scores: Mapping[str, Scores], metric: str) -> Points:
    """Return a system's percent points of every question that was run (see `question_points`).

    They are means over the seeds whose answer could be judged, None where no answer could. names: its scores files.
    Raises ArtifactError where its seeds answered different questions, or others could not be run.
    """
    found = {name: question_points(name, scores[name], metric) for name in names}
    asked = {name: run_problems(scores[name]).keys() for name in found}
    first = next(iter(asked.values()), {}.keys())
    for name, ids in asked.items():
        _check_same(name, ids, first)
    known = {id_: [of[id_] for of in found.values() if id_ in of] for id_ in sorted(first)}
    return {id_: fmean(values) if values else None for id_, values in known.items()}


def _check_same(name: str, ids: Set[str], others: Set[str]) -> None:
    if ids != others:
        raise ArtifactError(f"{name}: not the same questions were run, only on one side {sorted(ids ^ others)[:3]}")


def measure(
    key: Key,
    metric: str,
    names: Iterable[str],
    scores: Mapping[str, Scores],
    reference: Points | None = None,
) -> Measured:
    """Return what the scores files of a system say of a metric.

    reference: the reference system's `system_points`; without any there is no p. Questions that are versions of one
    task are drawn and flipped together. Random numbers belong to (key, metric). Raises ArtifactError where the
    reference answered other questions, or others could not be run.
    """
    names = list(names)
    values = metric_values(names, scores, metric)
    if not values:
        return Measured()
    points, seed = system_points(names, scores, metric), derive(0, *key, metric)
    rows = run_problems(scores[names[0]])
    tasks = {id_: task_of(id_, row) for id_, row in rows.items()}
    judged = {id_: value for id_, value in points.items() if value is not None}
    interval = _interval(task_points(judged, tasks), _strata(judged, tasks, rows, metric), seed)
    p_value = None
    if reference:
        _check_same(f"{key}, {metric}", points.keys(), reference.keys())
        p_value = _flip_test(points, reference, tasks, np.random.default_rng([seed, 1]))
    return Measured(*mean_and_std(values), len(values), *interval, p_value)


def _flip_test(
    ours: Points, reference: Points, tasks: Mapping[str, str], generator: np.random.Generator
) -> float | None:
    """Return p over the tasks of the questions that both sides could judge, None where there is none."""
    judged = [id_ for id_ in ours if ours[id_] is not None and reference[id_] is not None]
    points = [task_points({id_: side[id_] for id_ in judged}, tasks) for side in (ours, reference)]
    return paired_test(*(np.array(list(side.values())) for side in points), generator) if judged else None


def _strata(
    questions: Iterable[str], tasks: Mapping[str, str], rows: Mapping[str, Mapping[str, Any]], metric: str
) -> dict[str, str]:
    """Return task -> the groups of a macro metric that it has questions in: tasks of the same ones are drawn apart."""
    found: dict[str, set[str]] = {}
    for id_ in questions:
        found.setdefault(tasks[id_], set()).add(group_of(metric, rows[id_]))
    return {task: " ".join(sorted(groups)) for task, groups in found.items()}


def _interval(points: Mapping[str, float], groups: Mapping[str, str], seed: int) -> tuple[float, float]:
    generator = np.random.default_rng([seed, 0])
    values = {group: np.array([points[id_] for id_ in points if groups[id_] == group]) for group in groups.values()}
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
