"""From the answers of a system to its scores: final answers, and what stood as answer before them."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.scoring.grader import TIMED_OUT, Grader
from slmcollab.scoring.score import Score

NOT_RUN = "not_run"


def summarise(rows: Sequence[dict[str, Any]], problems: Sequence[Problem], grader: Grader) -> dict[str, Any]:
    """Return {num_problems, metrics, counts, problems} of one system's answers.

    rows: {id, answer, candidates: [{answer, ...}, ...], ...}, one for each problem in any order. metrics: percent
    points by name, those that the scorer names in METRICS or else its details, means over the problems that could be
    run (None where none could); the scorer's own summarise(problems, scores), if there is one, adds to them. counts:
    final answers whose scorer raised (errors), ran out of time (timed_out), both worth 0, and that could not be run
    (not_run). problems: {id: {score, correct, metrics, candidates: [correct, ...], error, group}}. Equal answers to
    one problem are graded once. Raises ArtifactError unless rows and problems match by id.
    """
    ordered = _matched(rows, problems)
    graded = _grade(ordered, problems, grader)
    finals = [graded[problem.id, row["answer"]] for row, problem in zip(ordered, problems, strict=True)]
    names = _names(grader, finals)
    return {
        "num_problems": len(problems),
        "metrics": _metrics(problems, finals, names, grader),
        "counts": {
            "errors": sum((final.error or "").startswith("raised") for final in finals),
            "timed_out": sum(final.error == TIMED_OUT for final in finals),
            "not_run": sum(not _was_run(final) for final in finals),
        },
        "problems": {
            problem.id: {
                "score": final.score,
                "correct": final.correct,
                "metrics": _details(final, names) if _was_run(final) else {},
                "candidates": [graded[problem.id, candidate["answer"]].correct for candidate in row["candidates"]],
                "error": final.error,
                "group": problem.metadata.get("group"),
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


def _was_run(score: Score) -> bool:
    return not (score.error or "").startswith(NOT_RUN)


def _details(score: Score, names: Sequence[str]) -> dict[str, float]:
    """Return a score's metrics; 0 where its scorer failed before it named them."""
    return {name: float(score.detail.get(name, 0.0)) for name in names}


def _metrics(
    problems: Sequence[Problem], scores: Sequence[Score], names: Sequence[str], grader: Grader
) -> dict[str, float | None]:
    run = [(problem, score) for problem, score in zip(problems, scores, strict=True) if _was_run(score)]
    details = [_details(score, names) for _, score in run]
    means = {name: 100 * fmean(detail[name] for detail in details) if run else None for name in names}
    own = getattr(grader.module, "summarise", None)
    return means if own is None else means | own([problem for problem, _ in run], [score for _, score in run])


def describe_tools(grader: Grader, problems: Sequence[Problem], options: dict[str, Any]) -> dict[str, Any]:
    """Return {"tools": ...}, what a scorer that runs programs ran them with, {} for any other scorer."""
    environment = getattr(grader.module, "environment", None)
    if environment is None:
        return {}
    return {"tools": environment(problems, **{key: value for key, value in options.items() if key != "time_limit_s"})}
