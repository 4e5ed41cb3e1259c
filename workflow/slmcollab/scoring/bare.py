"""Grading of answers that may stand without tags, as experts give them."""

from collections.abc import Sequence

from slmcollab.artifacts import Problem
from slmcollab.scoring.answers import TAG
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score


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
