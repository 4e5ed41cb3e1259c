"""From the scores of single completions to the numbers of a run."""

import csv
import io
import math
from collections.abc import Sequence, Set
from pathlib import Path
from statistics import fmean
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem, read_text
from slmcollab.scoring.score import TIMED_OUT, Score

ANSWER_KEYS = {"id", "completion", "num_tokens", "cut"}
HISTORY_COLUMNS = ("step", "reward", "share_cut", "share_unparsed", "frac_reward_zero_std")


def match_answers(answers: Sequence[dict[str, Any]], problems: Sequence[Problem], path: Path) -> list[dict[str, Any]]:
    """Return the answer rows of `path` in the order of the problems; raises ArtifactError unless they match by id."""
    by_id = {}
    for row in answers:
        if set(row) != ANSWER_KEYS:
            raise ArtifactError(f"{path}: a row has the keys {sorted(row)}, not {sorted(ANSWER_KEYS)}")
        if row["id"] in by_id:
            raise ArtifactError(f"{path}: {row['id']} is answered twice")
        by_id[row["id"]] = row
    ids = [problem.id for problem in problems]
    missing, foreign = sorted(set(ids) - set(by_id)), sorted(set(by_id) - set(ids))
    if missing or foreign or len(set(ids)) < len(ids):
        raise ArtifactError(
            f"{path}: answers and problems do not match one to one: {len(missing)} of {len(ids)} problems unanswered"
            f" {missing[:3]}, {len(foreign)} answers to no problem {foreign[:3]}"
        )
    return [by_id[id_] for id_ in ids]


def summarise_scores(
    problems: Sequence[Problem], scores: Sequence[Score], *, cut: Sequence[bool], trained: Set[str]
) -> dict[str, Any]:
    """Return {num_problems, metrics, tasks, shares, counts, problems} of one run; the three sequences are in one order.

    A problem is seen if its question is one of `trained`. metrics are percent points: accuracy (share of correct
    ones) of all, of seen and of unseen problems, and the mean score; None where there is no such problem. tasks: the
    same for each task of a family, {task: {num_problems, accuracy, score_mean}}, since chance and the credit that a
    scorer gives away differ; empty where the problems name no task. shares (0 to 1): cut by the token budget, without
    an extractable answer. counts: errors (the scorer raised) and timed_out, both wrong answers in the metrics, and
    unseen problems. problems: {id: {score, seen}}.
    """
    # ASSUME: accuracy counts the completions whose score is exactly 1; the mean score stands beside it.
    seen = [problem.question in trained for problem in problems]
    correct = list(zip((score.correct for score in scores), seen, strict=True))
    timed_out = sum(score.error == TIMED_OUT for score in scores)
    unparsed = [score.extracted is None and score.error is None for score in scores]
    return {
        "num_problems": len(problems),
        "metrics": {
            "accuracy": _percent([right for right, _ in correct]),
            "accuracy_seen": _percent([right for right, known in correct if known]),
            "accuracy_unseen": _percent([right for right, known in correct if not known]),
            "score_mean": _percent([score.score for score in scores]),
        },
        "tasks": _summarise_tasks(problems, scores),
        "shares": {"cut": _mean(cut), "unparsed": _mean(unparsed)},
        "counts": {
            "errors": sum(score.error is not None for score in scores) - timed_out,
            "timed_out": timed_out,
            "unseen": seen.count(False),
        },
        "problems": {
            problem.id: {"score": score.score, "seen": known}
            for problem, score, known in zip(problems, scores, seen, strict=True)
        },
    }


def _summarise_tasks(problems: Sequence[Problem], scores: Sequence[Score]) -> dict[str, dict[str, Any]]:
    by_task: dict[str, list[Score]] = {}
    for problem, score in zip(problems, scores, strict=True):
        if "source_dataset" in problem.metadata:
            by_task.setdefault(problem.metadata["source_dataset"], []).append(score)
    return {
        task: {
            "num_problems": len(found),
            "accuracy": _percent([score.correct for score in found]),
            "score_mean": _percent([score.score for score in found]),
        }
        for task, found in by_task.items()
    }


def read_history(path: Path) -> list[dict[str, float]]:
    """Return one row of HISTORY_COLUMNS per training step; raises ArtifactError for a file that is not whole."""
    rows = [_read_step(row, path) for row in csv.DictReader(io.StringIO(read_text(path), newline=""))]
    steps = [row["step"] for row in rows]
    if not steps or steps != [steps[0] + index for index in range(len(steps))]:
        raise ArtifactError(f"{path}: its steps are not one row each, in order")
    return rows


def tenth_means(values: Sequence[float]) -> tuple[float, float]:
    """Return the means over the first and the last tenth of the steps; a tenth is rounded down, at least one step."""
    size = max(1, len(values) // 10)
    return fmean(values[:size]), fmean(values[-size:])


def summarise_history(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean reward of the first and last tenth of the steps and the other columns' means."""
    first, last = tenth_means([row["reward"] for row in rows])
    return {
        "reward_first_tenth": first,
        "reward_last_tenth": last,
        **{column: fmean(row[column] for row in rows) for column in HISTORY_COLUMNS[2:]},
    }


def _read_step(row: dict[str, str], path: Path) -> dict[str, float]:
    values = {}
    for column in HISTORY_COLUMNS:
        try:
            values[column] = float(row[column])
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"{path}: {column} of step {row.get('step')!r} is missing or no number") from error
        if not math.isfinite(values[column]):
            raise ArtifactError(f"{path}: {column} of step {row['step']} is {row[column]}")
    return values


def _mean(values: Sequence[float | int]) -> float | None:
    return fmean(values) if values else None


def _percent(values: Sequence[float | int]) -> float | None:
    return 100 * fmean(values) if values else None
