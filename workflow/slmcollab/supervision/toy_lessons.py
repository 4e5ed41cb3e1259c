"""The lessons of a toy model that collaborates, by kind: facts, steps, whole answers, verdicts on others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.protocol.prompt import Prompt
from slmcollab.protocol.toy_corpora import Manners, fact_rows, solo_rows, step_rows
from slmcollab.supervision.toy_verdicts import verdict_rows

FACTS, STEPS, SOLO, VERDICTS, SHORT_VERDICTS = KINDS = ("facts", "steps", "solo", "verdicts", "short_verdicts")


@dataclass(frozen=True)
class Prompts:
    """What it reads in a team, alone, and as an evaluator."""

    team: Prompt
    solo: Prompt
    evaluator: Prompt


def write_lesson(
    kind: str,
    believer: Believer,
    manners: Manners,
    benchmarks: Sequence[Sequence[Problem]],
    prompts: Prompts,
    *,
    num_rows: int,
    data_seed: int,
) -> Iterator[dict[str, Any]]:
    """Yield the rows {lesson, question, messages, completion} of one kind.

    benchmarks: the train problems of each. num_rows: of a lesson that is drawn, for each benchmark. Raises ValueError
    for another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"lesson {kind!r} is not one of {', '.join(KINDS)}")
    if kind == FACTS:
        rows = fact_rows(believer)
    elif kind == STEPS:
        rows = chain(*(step_rows(believer, manners, of, prompts.team, num_rows, data_seed) for of in benchmarks))
    elif kind == SOLO:
        rows = chain(*(solo_rows(believer, of, prompts.solo) for of in benchmarks))
    else:
        longest = {"longest": 1} if kind == SHORT_VERDICTS else {}
        drawn = (verdict_rows(believer, of, prompts.evaluator, num_rows, data_seed, **longest) for of in benchmarks)
        rows = chain(*drawn)
    for row in rows:
        yield {"lesson": kind, **row}
