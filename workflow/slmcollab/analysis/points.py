"""What a metric says of each question, in percent points: what intervals and paired tests are made of."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from slmcollab.analysis.outcomes import NOT_RUN, is_judged
from slmcollab.artifacts import ArtifactError

PAIRS = (("accuracy", "f1"), ("weighted", "macro"), ("coverage", "explicit"))  # what Table 1 prints of a benchmark
MACRO, MACRO_LANGUAGE = "macro", "macro_language"  # means over groups of problems: source x language, language
OF_SCORES = ("weighted", MACRO, MACRO_LANGUAGE)  # three means of one thing, whether a program passes
BINARY = ("accuracy", "weighted", "all_explicit")  # 0 or 1 for each question
TOLERANCE = 1e-6  # percent points

Scores = Mapping[str, Any]  # a parsed scores.json


def metric_pair(name: str, scores: Scores) -> tuple[str, str]:
    """Return the two metrics that Table 1 prints; raises ArtifactError naming a file that has no such pair."""
    for pair in PAIRS:
        if set(pair) <= set(scores["metrics"]):
            return pair
    raise ArtifactError(f"{name}: metrics {sorted(scores['metrics'])}, none of the pairs {PAIRS}")


def group_of(metric: str, row: Mapping[str, Any]) -> str:
    """Return the group that a problem (such as humaneval-cpp) belongs to in a metric; "" where all count alike."""
    if metric not in (MACRO, MACRO_LANGUAGE):
        return ""
    return row["group"] if metric == MACRO else row["group"].rpartition("-")[2]


def run_problems(scores: Scores) -> dict[str, Mapping[str, Any]]:
    """Return the verdicts on the problems that were run."""
    return {id_: row for id_, row in scores["problems"].items() if not (row["error"] or "").startswith(NOT_RUN)}


def question_points(name: str, scores: Scores, metric: str) -> dict[str, float]:
    """Return percent points of every question that was judged; their plain mean is the metric, {} where none was.

    In a mean over groups a question weighs more in a small group, and so may have more than 100. Raises ArtifactError
    where the questions of the file do not add up to its metric.
    """
    return weighed(question_scores(name, scores, metric), metric, scores["problems"])


def question_scores(name: str, scores: Scores, metric: str) -> dict[str, float]:
    """Return the same percent points before groups are weighed, so from 0 to 100; raises what that raises."""
    rows = {id_: row for id_, row in scores["problems"].items() if is_judged(row)}
    try:
        found = {id_: row["score"] if metric in OF_SCORES else row["metrics"][metric] for id_, row in rows.items()}
    except KeyError as error:
        raise ArtifactError(f"{name}: its problems have no {metric}") from error
    found = {id_: 100 * value for id_, value in found.items()}
    points, value = weighed(found, metric, rows), scores["metrics"][metric]
    mean = float(np.mean(list(points.values()))) if points else None
    if (mean is None) != (value is None) or (mean is not None and abs(mean - value) > TOLERANCE):
        raise ArtifactError(f"{name}: {metric} is {value}, its problems say {mean}")
    return found


def weighed(points: Mapping[str, float], metric: str, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the points of these questions such that their plain mean is a mean over the groups of the metric."""
    groups = {id_: group_of(metric, rows[id_]) for id_ in points}
    sizes = Counter(groups.values())
    return {id_: value * len(points) / (len(sizes) * sizes[groups[id_]]) for id_, value in points.items()}


def task_of(id_: str, row: Mapping[str, Any]) -> str:
    """Return the task that a problem is a version of, such as humaneval/12, itself where it has none."""
    return row.get("task") or id_


def task_points(points: Mapping[str, float], tasks: Mapping[str, str]) -> dict[str, float]:
    """Return percent points of every task, whose plain mean is that of the questions.

    tasks: question -> task. A task has the sum of its questions' points, by the mean number of questions a task: so a
    question keeps the weight that its group gives it. Where each question is its own task its points are unchanged.
    """
    # ASSUME: tests and intervals take all translations of a task as one, each program weighed by the size of its group.
    sums: dict[str, float] = {}
    for id_, value in points.items():
        sums[tasks[id_]] = sums.get(tasks[id_], 0.0) + value
    return {task: total * (len(sums) / len(points)) for task, total in sums.items()}
