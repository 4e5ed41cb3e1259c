"""What the scores of a system say of a metric: over its seeds, over its questions, against the reference system."""

from collections.abc import Iterable, Mapping

import numpy as np
from jaxtyping import Float
from scipy import stats

from slmcollab.analysis.points import Scores, group_of, question_points, run_problems
from slmcollab.analysis.statistics import (
    BATCH,
    RESAMPLES,
    bootstrap_interval,
    mean_and_std,
    paired,
    paired_test,
    question_means,
)
from slmcollab.artifacts import ArtifactError
from slmcollab.report.measured import Measured
from slmcollab.report.tables import Key, metric_values
from slmcollab.seeding import derive


def system_points(names: Iterable[str], scores: Mapping[str, Scores], metric: str) -> dict[str, float]:
    """Return a system's percent points per question (see `question_points`), averaged over its seeds.

    names: its scores files. Raises ArtifactError where its seeds answered different questions.
    """
    names = list(names)
    try:
        return question_means([question_points(name, scores[name], metric) for name in names])
    except ValueError as error:
        raise ArtifactError(f"{', '.join(names)}: {error}") from error


def measure(
    key: Key,
    metric: str,
    names: Iterable[str],
    scores: Mapping[str, Scores],
    reference: Mapping[str, float] | None = None,
) -> Measured:
    """Return what the scores files of a system say of a metric.

    reference: the reference system's `system_points`; without any there is no p. Random numbers belong to (key,
    metric). Raises ArtifactError where the reference answered other questions, or others could not be run.
    """
    names = list(names)
    values = metric_values(names, scores, metric)
    if not values:
        return Measured()
    points, seed = system_points(names, scores, metric), derive(0, *key, metric)
    rows = run_problems(scores[names[0]])
    interval = _interval(points, {id_: group_of(metric, rows[id_]) for id_ in points}, seed)
    p_value = None
    if reference:
        try:
            ours, theirs = map(np.array, paired(points, reference))
        except ValueError as error:
            raise ArtifactError(f"{key}, {metric}: {error}") from error
        p_value = paired_test(ours, theirs, np.random.default_rng([seed, 1]))
    return Measured(*mean_and_std(values), len(values), *interval, p_value)


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
