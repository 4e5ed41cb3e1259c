"""Rows of answers.jsonl: what every row of Table 1 answered, and what was answered before its last step."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, read_jsonl
from slmcollab.protocol.trajectory import ANOMALIES, STEP_LIMIT, TERMINATED, Trajectory

ENDS = (TERMINATED, STEP_LIMIT, ANOMALIES)
_TYPES = {"id": str, "answer": str, "slot": str | None, "end": str, "num_steps": int, "candidates": list}
_CANDIDATE_TYPES = {"step": int, "slot": str, "answer": str}


def answer_rows(trajectories: Iterable[Trajectory]) -> list[dict[str, Any]]:
    """Return {"id", "answer", "slot", "end", "num_steps", "candidates"} for each trajectory, one on each problem.

    slot gave the answer, None where there is no answer. candidates: the answers (not empty) of the steps t < T, those
    before the last, in order. Raises ValueError where two trajectories are on one problem.
    """
    trajectories = list(trajectories)
    if len({trajectory.problem for trajectory in trajectories}) < len(trajectories):
        raise ValueError("answers of several trajectories on one problem: an evaluation has one sample")
    return [_row(trajectory) for trajectory in trajectories]


def _row(trajectory: Trajectory) -> dict[str, Any]:
    earlier = enumerate(trajectory.steps[:-1])
    return {
        "id": trajectory.problem,
        "answer": trajectory.answer,
        "slot": None if trajectory.answering is None else trajectory.steps[trajectory.answering].slot,
        "end": trajectory.end,
        "num_steps": len(trajectory.steps),
        "candidates": [{"step": t, "slot": step.slot, "answer": step.answer} for t, step in earlier if step.answer],
    }


def read_answers(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file; raises ArtifactError, naming the row, where one does not keep to `answer_rows`."""
    rows = read_jsonl(path)
    for number, row in enumerate(rows, start=1):
        fault = _fault(row)
        if fault:
            raise ArtifactError(f"{path}, row {number}: {fault}")
    if len({row["id"] for row in rows}) < len(rows):
        raise ArtifactError(f"{path}: a problem is there twice")
    return rows


def _fault(row: dict[str, Any]) -> str | None:
    """Return what is wrong with a row, None where nothing is."""
    if not _has(row, _TYPES):
        return f"not the keys or types of {', '.join(_TYPES)}"
    if row["end"] not in ENDS:
        return f"end {row['end']!r} is not one of {', '.join(ENDS)}"
    if not row["answer"] and row["slot"] is not None:
        return f"slot {row['slot']!r} gave no answer"
    if not all(isinstance(candidate, dict) and _has(candidate, _CANDIDATE_TYPES) for candidate in row["candidates"]):
        return f"a candidate without the keys or types of {', '.join(_CANDIDATE_TYPES)}"
    steps = [candidate["step"] for candidate in row["candidates"]]
    if steps != sorted(steps) or not all(0 <= step < row["num_steps"] - 1 for step in steps):
        return f"candidates of steps {steps}: they go up, and stand before the last of {row['num_steps']} steps"
    return None if all(candidate["answer"] for candidate in row["candidates"]) else "a candidate is empty"


def _has(row: dict[str, Any], types: dict[str, Any]) -> bool:
    return row.keys() == types.keys() and all(isinstance(row[key], kind) for key, kind in types.items())
