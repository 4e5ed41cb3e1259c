"""What a toy optimiser of workflows is taught: to write a workflow down, and to change one thing of another."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.graph.nodes import Node
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.protocol.response import Fields, serialise
from slmcollab.protocol.toy_corpora import TEAM
from slmcollab.search.workflow import ENSEMBLE, EXTRACT, SOLVE, read_workflow
from slmcollab.seeding import python_generator
from slmcollab.supervision.toy_drafts import Row, row

MOST_FIRST, MOST_SECOND = 3, 2  # slots of a layer
PROBLEM = Problem("workflow", "workflow", [{"role": "user", "content": "workflow"}], None, {})


@dataclass(frozen=True)
class Layers:
    """Slots that solve on their own, slots that solve in view of all of these, and whether the answer is written out.

    Where the last layer has several slots, one of their replies is picked.
    """

    first: tuple[str, ...]
    second: tuple[str, ...] = ()
    extracts: bool = False

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes of the workflow."""
        numbers = list(range(1, len(self.first) + 1))
        nodes: list[dict[str, Any]] = [{"operator": SOLVE, "slot": slot} for slot in self.first]
        nodes += [{"operator": SOLVE, "slot": slot, "sees": numbers} for slot in self.second]
        last = list(range(len(self.first) + 1, len(nodes) + 1)) or numbers
        if len(last) > 1:
            nodes.append({"operator": ENSEMBLE, "sees": last})
        return [*nodes, {"operator": EXTRACT, "sees": [len(nodes)]}] if self.extracts else nodes

    def changed(self, generator: random.Random) -> "Layers":
        """Return layers that differ in one thing: a slot more, less or other, or whether the answer is written out."""
        layer, most = generator.choice([("first", MOST_FIRST), ("second", MOST_SECOND)])
        slots = list(getattr(self, layer))
        place = generator.randrange(len(slots) + 1)
        what = generator.choice(["more", "less", "other", "extracts"])
        if what == "extracts":
            return replace(self, extracts=not self.extracts)
        slots[place : place + (what != "more")] = [] if what == "less" else [generator.choice(TEAM)]
        return replace(self, **{layer: tuple(slots[:most])})


def proposal_rows(prompt: GraphPrompt, num_rows: int, data_seed: int) -> list[Row]:
    """Return rows {question, messages, completion} of a proposal each, a change of a workflow of at least 2 nodes."""
    generator = python_generator(data_seed, "proposals")
    rows: list[Row] = []
    while len(rows) < num_rows:
        parent = _draw(generator)
        child = parent.changed(generator)
        if child != parent and child.first and min(len(parent.nodes()), len(child.nodes())) > 1:
            rows.append(_row(prompt, parent, child))
    return rows


def write(layers: Layers) -> str:
    """Return the workflow as the JSON that a toy writes: of fragments without spaces, each of which is one word."""
    nodes = ", ".join(_fragments(node) for node in layers.nodes())
    return f'{{"nodes":[ {nodes} ]}}'


def _fragments(node: dict[str, Any]) -> str:
    head = {key: value for key, value in node.items() if key != "sees"}
    text = json.dumps(head, separators=(",", ":"))
    numbers: Sequence[int] = node.get("sees", ())
    return f'{text[:-1]},"sees":[ {" , ".join(map(str, numbers))} ]}}' if numbers else text


def _draw(generator: random.Random) -> Layers:
    first = generator.choices(TEAM, k=generator.randint(1, MOST_FIRST))
    second = generator.choices(TEAM, k=generator.choice([0, 0, 1, MOST_SECOND]))
    return Layers(tuple(first), tuple(second), generator.random() < 0.5)


def _row(prompt: GraphPrompt, parent: Layers, child: Layers) -> Row:
    texts = dict.fromkeys(("accuracy", "score", "num_questions", "failures", "team", "max_nodes", "max_characters"), "")
    workflow = read_workflow({"nodes": parent.nodes()}).written().strip()
    node = Node("proposal", "optimiser", "propose", texts=texts | {"workflow": workflow})
    return row(prompt, node, PROBLEM, [], serialise(Fields("", write(child))))
