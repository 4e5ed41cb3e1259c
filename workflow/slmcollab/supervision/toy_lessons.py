"""The lessons of a toy model that collaborates, by kind: facts, steps, whole answers, verdicts, and duties."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.protocol.prompt import Prompt
from slmcollab.protocol.toy_corpora import Manners, fact_rows, solo_rows, step_rows
from slmcollab.supervision.toy_drafts import SOME, Row, claim_rows, draft_rows
from slmcollab.supervision.toy_duties import duty_rows
from slmcollab.supervision.toy_proposals import proposal_rows
from slmcollab.supervision.toy_verdicts import verdict_rows

FACTS, STEPS, SOLO, VERDICTS, SHORT_VERDICTS = "facts", "steps", "solo", "verdicts", "short_verdicts"
CLAIMS, DRAFTS, DEBATES, DUTIES, PROPOSALS = "claims", "drafts", "debates", "duties", "proposals"
KINDS = (FACTS, STEPS, SOLO, VERDICTS, SHORT_VERDICTS, CLAIMS, DRAFTS, DEBATES, DUTIES, PROPOSALS)


@dataclass(frozen=True)
class Prompts:
    """What it reads in a team, alone, and as an evaluator; and in teams without a protocol, by method."""

    team: Prompt
    solo: Prompt
    evaluator: Prompt
    mad: GraphPrompt
    agentverse: GraphPrompt
    aflow: GraphPrompt


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

    benchmarks: the train problems of each. num_rows: of a lesson that is drawn, for each benchmark if it is about them.
    Raises ValueError for another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"lesson {kind!r} is not one of {', '.join(KINDS)}")
    sizes = num_rows, data_seed
    general: dict[str, Callable[[], list[Row]]] = {
        FACTS: lambda: fact_rows(believer),
        CLAIMS: lambda: claim_rows(believer, manners, prompts.mad, *sizes),
        PROPOSALS: lambda: proposal_rows(prompts.aflow, *sizes),
    }
    on_problems: dict[str, Callable[[Sequence[Problem]], list[Row]]] = {
        STEPS: lambda of: step_rows(believer, manners, of, prompts.team, *sizes),
        SOLO: lambda of: solo_rows(believer, of, prompts.solo),
        VERDICTS: lambda of: verdict_rows(believer, of, prompts.evaluator, *sizes),
        SHORT_VERDICTS: lambda of: verdict_rows(believer, of, prompts.evaluator, *sizes, longest=1),
        DRAFTS: lambda of: draft_rows(believer, manners, of, prompts.mad, *sizes),
        DEBATES: lambda of: draft_rows(believer, manners, of, prompts.mad, *sizes, read=SOME),
        DUTIES: lambda of: duty_rows(believer, of, prompts.agentverse, prompts.aflow, *sizes),
    }
    rows = general[kind]() if kind in general else chain.from_iterable(map(on_problems[kind], benchmarks))
    for row in rows:
        yield {"lesson": kind, **row}
