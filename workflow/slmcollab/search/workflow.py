"""Workflows as data: a small JSON language over three operators, read strictly and never executed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from slmcollab.graph.nodes import Final, Node, Question, Said, Team

SOLVE, ENSEMBLE, EXTRACT = "solve", "ensemble", "extract"
KEYS = {  # operator -> what its node may say beside "operator" and "sees"
    SOLVE: {"slot", "instruction"},
    ENSEMBLE: frozenset(),
    EXTRACT: frozenset(),
}
MAX_INSTRUCTION = 500  # characters
# ASSUME: the search starts with three members' own solutions, of which the largest model picks one and writes it out.
START = {
    "nodes": [
        *({"operator": SOLVE} for _ in range(3)),
        {"operator": ENSEMBLE, "sees": [1, 2, 3]},
        {"operator": EXTRACT, "sees": [4]},
    ]
}


class WorkflowError(ValueError):
    """A workflow that the language does not have; the message says what is wrong, and what is allowed."""


@dataclass(frozen=True)
class Operation:
    """A node of a workflow; sees: the numbers, from 1, of earlier nodes whose replies it reads, in the order shown.

    slot is None where the round-robin decides, and at ensemble and extract, which ask the largest model.
    """

    operator: str
    sees: tuple[int, ...] = ()
    slot: str | None = None
    instruction: str = ""


@dataclass(frozen=True)
class Workflow:
    """Operations in the order of their numbers; the last one answers, and every other is seen by a later one."""

    nodes: tuple[Operation, ...]

    def placed(self, slots: Sequence[str]) -> "Workflow":
        """Return the workflow with every solve node's slot: its own, else the round-robin's over all solve nodes.

        Raises WorkflowError for a slot that there is not.
        """
        nodes, solves = [], 0
        for number, node in enumerate(self.nodes, start=1):
            if node.slot is not None and node.slot not in slots:
                raise WorkflowError(f"node {number}: slot {node.slot!r} is not one of {', '.join(slots)}")
            nodes.append(
                replace(node, slot=node.slot or slots[solves % len(slots)]) if node.operator == SOLVE else node
            )
            solves += node.operator == SOLVE
        return Workflow(tuple(nodes))

    def described(self) -> dict[str, list[dict[str, Any]]]:
        """Return what `read_workflow` reads."""
        rows = [asdict(node) | {"sees": list(node.sees)} for node in self.nodes]
        return {"nodes": [{key: value for key, value in row.items() if value not in (None, "")} for row in rows]}

    def written(self) -> str:
        """Return the workflow as JSON, a node a line."""
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in self.described()["nodes"])
        return f'{{"nodes": [\n{lines}\n]}}\n'


def read_workflow(value: Any, *, min_nodes: int = 1, max_nodes: int | None = None) -> Workflow:
    """Return the workflow of parsed JSON; raises WorkflowError naming the first thing that is wrong with it.

    A workflow is {"nodes": [...]}. A node is {"operator": "solve", "slot", "instruction", "sees"}, all but the operator
    optional; or an ensemble, which sees at least two nodes, or an extract, which sees exactly one.
    """
    if not isinstance(value, Mapping) or set(value) != {"nodes"} or not isinstance(value["nodes"], list):
        raise WorkflowError('a workflow is {"nodes": [...]} and nothing else')
    rows = value["nodes"]
    if len(rows) < min_nodes or (max_nodes is not None and len(rows) > max_nodes):
        raise WorkflowError(f"{len(rows)} nodes; allowed are {min_nodes} to {max_nodes or 'any number'}")
    nodes = tuple(_operation(number, row) for number, row in enumerate(rows, start=1))
    unseen = sorted(set(range(1, len(nodes))) - {seen for node in nodes for seen in node.sees})
    if unseen:
        raise WorkflowError(f"node {unseen[0]}: no later node sees it, and it is not the last, which answers")
    return Workflow(nodes)


def _operation(number: int, row: Any) -> Operation:
    operator = row.get("operator") if isinstance(row, Mapping) else None
    if not isinstance(operator, str) or operator not in KEYS:
        raise WorkflowError(f"node {number}: operator is not one of {', '.join(KEYS)}")
    allowed = {"operator", "sees"} | KEYS[operator]
    unknown = sorted(set(row) - allowed)
    if unknown:
        raise WorkflowError(f"node {number}: key {unknown[0]!r}; {operator} has {', '.join(sorted(allowed))}")
    for key in sorted(row.keys() & KEYS[SOLVE]):
        if not isinstance(row[key], str) or not _is_text(row[key]):
            raise WorkflowError(f"node {number}: {key} is no text")
    if len(row.get("instruction", "")) > MAX_INSTRUCTION:
        raise WorkflowError(f"node {number}: instruction is longer than {MAX_INSTRUCTION} characters")
    return Operation(
        operator, _sees(number, operator, row.get("sees", [])), row.get("slot"), row.get("instruction", "")
    )


def _is_text(text: str) -> bool:
    """Tell whether a text can be written: JSON can spell halves of characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _sees(number: int, operator: str, numbers: Any) -> tuple[int, ...]:
    if not isinstance(numbers, list) or not all(type(seen) is int for seen in numbers):
        raise WorkflowError(f"node {number}: sees is no list of numbers")
    if not all(1 <= seen < number for seen in numbers) or len(set(numbers)) < len(numbers):
        raise WorkflowError(f"node {number}: sees {str(numbers)[:40]}; allowed are earlier nodes, each once")
    if operator == ENSEMBLE and len(numbers) < 2:
        raise WorkflowError(f"node {number}: ensemble sees at least 2 nodes, not {len(numbers)}")
    if operator == EXTRACT and len(numbers) != 1:
        raise WorkflowError(f"node {number}: extract sees exactly 1 node, not {len(numbers)}")
    return tuple(numbers)


@dataclass(frozen=True)
class Compiled:
    """A workflow as a method of the graph runner; temperature: of solve nodes, the others are greedy."""

    workflow: Workflow
    temperature: float

    def nodes(self, team: Team, question: Question, said: Said) -> list[Node]:
        """Return the whole graph; raises WorkflowError where the team lacks a slot of it."""
        found, largest = [], team.ranked[0]
        for number, one in enumerate(self.workflow.placed(team.slots).nodes, start=1):
            name, sees = str(number), tuple(map(str, one.sees))
            if one.operator == SOLVE:
                kind, texts = "revise" if sees else SOLVE, {"instruction": one.instruction}
                found.append(Node(name, one.slot or "", kind, sees, texts=texts, temperature=self.temperature))
            else:
                found.append(Node(name, largest, one.operator, sees, picks=one.operator == ENSEMBLE))
        return found

    def final(self, team: Team, said: Said) -> Final:
        """Return what the last node answers; the candidates are all other nodes."""
        *before, last = said.values()
        return Final(last.answer, last.node.slot if last.answer else None, tuple(before), last.level + 1)
