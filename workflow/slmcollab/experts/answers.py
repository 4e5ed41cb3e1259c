"""Files of experts' own answers: one per expert and split, generated once and shared by every use of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem, read_jsonl
from slmcollab.scoring.answers import TAG
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score

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


def tag_bare(completion: str) -> str:
    """Return a completion without answer tags as an answer in tags, stripped and whole; any other one as it is."""
    # ASSUME: an expert's answer without tags is all answer where the best single expert is picked (accuracy_bare).
    if any("answer" in tag[0] for tag in TAG.finditer(completion)):
        return completion
    return f"<answer>{completion.strip()}</answer>"


def grade_both(
    grader: Grader, completions: Sequence[str], problems: Sequence[Problem]
) -> tuple[list[Score], list[Score]]:
    """Return the scores of completions, and those that they get where a completion without tags is all answer."""
    tagged = [tag_bare(completion) for completion in completions]
    scores = grader.grade(completions, problems)
    bare = [place for place, completion in enumerate(completions) if tagged[place] != completion]
    forgiving = list(scores)
    regraded = grader.grade([tagged[place] for place in bare], [problems[place] for place in bare])
    for place, score in zip(bare, regraded, strict=True):
        forgiving[place] = score
    return scores, forgiving
