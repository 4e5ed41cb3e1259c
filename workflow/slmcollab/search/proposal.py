"""What the optimiser reads about a workflow that it is to change, and what is read of its reply."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template

from slmcollab.artifacts import Problem
from slmcollab.graph.nodes import Final, Node, Question, Said, Team
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.protocol.prompt import task_text
from slmcollab.search.tree import Trial
from slmcollab.search.workflow import Workflow, WorkflowError, read_workflow
from slmcollab.seeding import python_generator

OPTIMISER, PROPOSE, FAILURE = "optimiser", "propose", "failure"  # its slot; sections of the prompt
MIN_NODES = 2
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)


@dataclass(frozen=True)
class SearchSettings:
    """A search: proposals, dev questions, proposals in a row without a better workflow that end it, weight of UCB.

    failures: failed questions that the optimiser reads. max_characters, max_nodes: of a proposal. max_new_tokens,
    temperature: of the optimiser.
    """

    iterations: int
    dev_questions: int
    patience: int
    exploration: float
    failures: int
    max_characters: int
    max_nodes: int
    max_new_tokens: int
    temperature: float

    def __post_init__(self) -> None:
        for name, least in {"iterations": 0, "dev_questions": 1, "patience": 1, "max_nodes": MIN_NODES}.items():
            if getattr(self, name) < least:
                raise ValueError(f"search.{name}: {getattr(self, name)} is less than {least}")


@dataclass(frozen=True)
class Proposer:
    """The optimiser as a graph of one node."""

    node: Node

    def nodes(self, team: Team, question: Question, said: Said) -> list[Node]:
        return [self.node]

    def final(self, team: Team, said: Said) -> Final:
        reply = said[self.node.name]
        return Final(reply.answer, reply.node.slot if reply.answer else None, (), 1)


def proposer(
    parent: Trial, problems: Mapping[str, Problem], team: Team, prompt: GraphPrompt, settings: SearchSettings, seed: int
) -> Proposer:
    """Return who proposes a change of a measured workflow.

    It reads the workflow, how it did, and up to `failures` of the questions that it failed, drawn with `seed`: their
    tasks and what was answered. problems: id -> dev problem.
    """
    assert parent.workflow is not None
    assert parent.measured is not None
    # ASSUME: AFlow's optimiser reads failed dev questions and the team's answers to them, no gold answer and no test.
    failed = parent.measured.failures
    drawn = python_generator(seed, "failures").sample(range(len(failed)), min(settings.failures, len(failed)))
    shown = [
        Template(prompt.sections[FAILURE]).substitute(
            question=task_text(problems[failed[place][0]]), answer=failed[place][1], own="", seen="", slot="", slots=""
        )
        for place in sorted(drawn)
    ]
    texts = {
        "workflow": parent.workflow.written().strip(),
        "accuracy": f"{100 * parent.measured.accuracy:.1f}",
        "score": f"{100 * parent.measured.score:.1f}",
        "num_questions": str(parent.measured.num_graded),
        "failures": "\n\n".join(shown),
        "team": ", ".join(f"{slot} ({size:g} billion parameters)" for slot, size in team.sizes.items()),
        "max_nodes": str(settings.max_nodes),
        "max_characters": str(settings.max_characters),
    }
    return Proposer(Node("proposal", OPTIMISER, PROPOSE, texts=texts, temperature=settings.temperature))


def read_proposal(text: str, slots: Sequence[str], settings: SearchSettings) -> Workflow:
    """Return the workflow of an answer, in its slots; raises WorkflowError saying why there is none.

    A code fence around the JSON is ignored.
    """
    if len(text) > settings.max_characters:
        raise WorkflowError(f"{len(text)} characters; allowed are {settings.max_characters}")
    fenced = _FENCE.fullmatch(text.strip())
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        raise WorkflowError(f"not JSON ({type(error).__name__})") from error
    return read_workflow(value, min_nodes=MIN_NODES, max_nodes=settings.max_nodes).placed(slots)


def duplicate(workflow: Workflow, trials: Sequence[Trial]) -> Trial | None:
    """Return the trial that measured this very workflow; None where it is new."""
    return next((trial for trial in trials if trial.measured is not None and trial.workflow == workflow), None)
