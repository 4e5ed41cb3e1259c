"""The corpora of toy slices and of their evaluator, by kind."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.toy_corpora import Manners, fact_rows, solo_rows, step_rows
from slmcollab.supervision.evaluator import read_evaluator_prompt
from slmcollab.supervision.toy_verdicts import verdict_rows

FACTS, STEPS, SOLO, VERDICTS = KINDS = ("facts", "steps", "solo", "verdicts")


def write_corpus(
    *,
    corpus: str,
    kind: str,
    believer: str,
    knows: Mapping[str, float | int],
    data_seed: int,
    problems: Mapping[str, Sequence[Problem]],
    prompt: Path | None = None,
    manners: Mapping[str, float | int] | None = None,
    num_rows: int = 0,
) -> list[dict[str, Any]]:
    """Return rows {question, messages, completion}, equal ones for equal settings, benchmark by benchmark.

    kind: `facts`, which needs no problems and no prompt; `steps` of collaborations and `verdicts` of an evaluator,
    `num_rows` on each benchmark; `solo`: whole answers without actions, one to each problem. problems: by benchmark,
    those of its train split; prompt: the file that the kind's reader reads. Raises ValueError for another kind.
    """
    who = Believer(believer, knows)
    if kind == FACTS:
        return fact_rows(who)
    if kind == STEPS:
        read, manner = read_prompt(prompt), Manners(**(manners or {}))
        parts = [step_rows(who, manner, own, read, num_rows, data_seed) for own in problems.values()]
    elif kind == SOLO:
        read = read_prompt(prompt, actions=False)
        parts = [solo_rows(who, own, read) for own in problems.values()]
    elif kind == VERDICTS:
        read = read_evaluator_prompt(prompt)
        parts = [verdict_rows(who, own, read, num_rows, data_seed) for own in problems.values()]
    else:
        raise ValueError(f"corpora.{corpus}.kind: {kind!r} is not one of {', '.join(KINDS)}")
    return [row for part in parts for row in part]
