"""Files of experts' own answers: one per expert and split, generated once and shared by every use of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem, read_jsonl

# The keys of a row and their types.
KINDS = {"id": str, "completion": str, "token_ids": list, "num_tokens": int, "cut": bool, "prompt_cut": bool}


def make_row(
    problem_id: str, completion: str, token_ids: Sequence[int], *, ended: bool, prompt_cut: bool = False
) -> dict[str, Any]:
    """Return a row of the file.

    completion: the answer as text. token_ids: its tokens without the one that ended it. num_tokens: how many were
    generated, that one included. cut: the budget was full before one came. prompt_cut: the prompt had lost its
    start, so the question may not have been read whole.
    """
    return {
        "id": problem_id,
        "completion": completion,
        "token_ids": list(token_ids),
        "num_tokens": len(token_ids) + ended,
        "cut": not ended,
        "prompt_cut": prompt_cut,
    }


def read_answers(path: Path, problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return the rows of `make_row`, one per problem, in their order.

    Raises ArtifactError for a file that is not one of experts' answers, or whose answers are not those to these
    problems, in this order.
    """
    rows = read_jsonl(path)
    for row in rows:
        if {key: type(value) for key, value in row.items()} != KINDS:
            raise ArtifactError(f"{path}: a row has {sorted(row)}, not {sorted(KINDS)} of an expert's answer")
        if row["num_tokens"] != len(row["token_ids"]) + (not row["cut"]):
            raise ArtifactError(f"{path}: {row['id']}: num_tokens is not the number of its tokens and the end")
    given, asked = [row["id"] for row in rows], [problem.id for problem in problems]
    if given != asked:
        place = next((i for i, pair in enumerate(zip(given, asked, strict=False)) if len(set(pair)) > 1), None)
        where = f"{len(given)} answers to {len(asked)} problems" if place is None else f"{given[place]} is out of place"
        raise ArtifactError(f"{path}: not the answers to these problems, in their order: {where}")
    return rows
