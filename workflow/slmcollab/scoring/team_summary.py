"""From the answers of a system to its scores: final answers, and what stood as answer before them."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import NOT_RUN, RAISED, TIMED_OUT, Score, is_judged


def summarise(rows: Sequence[dict[str, Any]], problems: Sequence[Problem], grader: Grader) -> dict[str, Any]:
    """Return {num_problems, metrics, counts, problems} of one system's answers.

    rows: {id, answer, candidates: [{answer, ...}, ...], ...}, one for each problem in any order. metrics: percent
    points by name, those that the scorer names in METRICS or else its details, means over the problems whose final
    answer counts (None where none does); the scorer's own summarise(problems, scores), if there is one, adds to them.
    counts: final answers whose scorer raised (errors), worth 0; that ran out of time (timed_out), worth 0 if they are
    programs; that could not be run (not_run). What was not run does not count, nor what a check had no time for.
    problems: {id: {score, correct, metrics, candidates, error, group, task}}; metrics is {} where the answer does not
    count, candidates are true, false or, where they do not count, null. Equal answers to one problem are graded once.
    Raises ArtifactError unless rows and problems match by id.
    """
    ordered = _matched(rows, problems)
    graded = _grade(ordered, problems, grader)
    finals = [graded[problem.id, row["answer"]] for row, problem in zip(ordered, problems, strict=True)]
    names = _names(grader, finals)
    return {
        "num_problems": len(problems),
        "metrics": _metrics(problems, finals, names, grader),
        "counts": {
            "errors": sum(_fails_with(RAISED, final) for final in finals),
            "timed_out": sum(_fails_with(TIMED_OUT, final) for final in finals),
            "not_run": sum(_fails_with(NOT_RUN, final) for final in finals),
        },
        "problems": {
            problem.id: {
                "score": final.score,
                "correct": final.correct,
                "metrics": _details(final, names) if _counts(final, grader) else {},
                "candidates": [_verdict(graded[problem.id, one["answer"]], grader) for one in row["candidates"]],
                "error": final.error,
                "group": problem.metadata.get("group"),
                "task": _task(problem),
            }
            for row, problem, final in zip(ordered, problems, finals, strict=True)
        },
    }


def _matched(rows: Sequence[dict[str, Any]], problems: Sequence[Problem]) -> list[dict[str, Any]]:
    by_id = {row["id"]: row for row in rows}
    ids = [problem.id for problem in problems]
    if len(by_id) < len(rows) or set(by_id) != set(ids) or len(set(ids)) < len(ids):
        odd = sorted(set(by_id) ^ set(ids))
        raise ArtifactError(f"answers and problems do not match one to one: {len(rows)} and {len(ids)}, {odd[:3]}")
    return [by_id[id_] for id_ in ids]


def _grade(rows: Sequence[dict[str, Any]], problems: Sequence[Problem], grader: Grader) -> dict[tuple[str, str], Score]:
    asked = {}
    for row, problem in zip(rows, problems, strict=True):
        for answer in [row["answer"], *(candidate["answer"] for candidate in row["candidates"])]:
            asked[problem.id, answer] = problem
    scores = grader.grade([answer for _, answer in asked], list(asked.values()))
    return dict(zip(asked, scores, strict=True))


def _names(grader: Grader, scores: Sequence[Score]) -> list[str]:
    found = {name: None for score in scores for name, value in score.detail.items() if isinstance(value, int | float)}
    return list(getattr(grader.module, "METRICS", found))


def _fails_with(kind: str, score: Score) -> bool:
    return (score.error or "").startswith(kind)


def _counts(score: Score, grader: Grader) -> bool:
    """Return whether an answer counts: judged, or such that its scorer raised, which must not raise a mean."""
    return is_judged(score, grader.module) or _fails_with(RAISED, score)


def _verdict(score: Score, grader: Grader) -> bool | None:
    return score.correct if _counts(score, grader) else None


def _task(problem: Problem) -> str | None:
    """Return the task that a problem has in common with others, as MultiPL-E's in other languages, None where none."""
    task = problem.metadata.get("task")
    return task if isinstance(task, str) else None


def _details(score: Score, names: Sequence[str]) -> dict[str, float]:
    """Return a score's metrics; 0 where its scorer failed before it named them."""
    return {name: float(score.detail.get(name, 0.0)) for name in names}


def _metrics(
    problems: Sequence[Problem], scores: Sequence[Score], names: Sequence[str], grader: Grader
) -> dict[str, float | None]:
    counted = [(problem, score) for problem, score in zip(problems, scores, strict=True) if _counts(score, grader)]
    details = [_details(score, names) for _, score in counted]
    means = {name: 100 * fmean(detail[name] for detail in details) if counted else None for name in names}
    own = getattr(grader.module, "summarise", None)
    return means if own is None else means | own([problem for problem, _ in counted], [score for _, score in counted])


def describe_tools(grader: Grader, problems: Sequence[Problem], options: dict[str, Any]) -> dict[str, Any]:
    """Return {"tools": ...}, what a scorer that runs programs ran them with, {} for any other scorer."""
    environment = getattr(grader.module, "environment", None)
    if environment is None:
        return {}
    return {"tools": environment(problems, **{key: value for key, value in options.items() if key != "time_limit_s"})}
