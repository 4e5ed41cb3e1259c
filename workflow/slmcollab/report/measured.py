"""What the scores of a cell of the grid say of a metric: over its seeds, over its questions, against the baseline."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from slmcollab.analysis.statistics import bootstrap_interval, mean_and_std, paired, paired_test, question_means
from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import Key, Scores, metric_values
from slmcollab.seeding import derive


@dataclass(frozen=True)
class Measured:
    """A metric of a cell, unrounded, in percent points: mean and sample standard deviation over the seeds that have it.

    ci_low and ci_high bound the 95 % bootstrap interval of the mean over questions; p_value is that of the paired test
    to the baseline. None is what does not exist.
    """

    mean: float | None = None
    std: float | None = None
    n_seeds: int = 0
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None


def question_points(name: str, content: Scores, metric: str) -> dict[str, float]:
    """Return percent points of every question that a metric counts; its mean is the metric, None where there is none.

    Raises ArtifactError where the questions of the file (`problems`: id -> score, seen) do not add up to its metric.
    """
    part = {"accuracy_seen": True, "accuracy_unseen": False}.get(metric)
    try:
        counted = {id_: row["score"] for id_, row in content["problems"].items() if part in (None, row["seen"])}
    except (KeyError, TypeError, AttributeError) as error:
        raise ArtifactError(f"{name}: its problems have no scores ({error!r})") from error
    points = {id_: 100 * (score if metric == "score_mean" else float(score == 1)) for id_, score in counted.items()}
    mean, value = (float(np.mean(list(points.values()))) if points else None), content["metrics"][metric]
    if (mean is None) != (value is None) or (mean is not None and abs(mean - value) > 1e-6):
        raise ArtifactError(f"{name}: {metric} is {value}, its problems say {mean}")
    return points


def cell_points(names: Iterable[str], scores: Mapping[str, Scores], metric: str) -> dict[str, float]:
    """Return a cell's percent points per question, averaged over its seeds; {} where there is nothing to measure.

    names: the cell's scores files. Raises ArtifactError where its seeds answered different questions.
    """
    names = list(names)
    seeds = [question_points(name, scores[name], metric) for name in names]
    try:
        return question_means(seeds)
    except ValueError as error:
        raise ArtifactError(f"{', '.join(names)}: {error}") from error


def measure(
    key: Key,
    metric: str,
    names: Iterable[str],
    scores: Mapping[str, Scores],
    baseline: Mapping[str, float] | None = None,
) -> Measured:
    """Return what the scores files of a cell say of a metric.

    baseline: the baseline's `cell_points`; without any there is no p. Random numbers belong to (key, metric), so a cell
    has the same interval in every table. Raises what `metric_values` and `cell_points` raise, and ArtifactError where
    the baseline answered other questions.
    """
    names = list(names)
    values = metric_values(names, scores, metric)
    if not values:
        return Measured()
    points, seed = cell_points(names, scores, metric), derive(0, *key, metric)
    interval = bootstrap_interval(np.array(list(points.values())), np.random.default_rng([seed, 0]))
    p_value = None
    if baseline:
        try:
            ours, theirs = map(np.array, paired(points, baseline))
        except ValueError as error:
            raise ArtifactError(f"{key}, {metric}: {error}") from error
        p_value = paired_test(ours, theirs, np.random.default_rng([seed, 1]))
    return Measured(*mean_and_std(values), len(values), *interval, p_value)
