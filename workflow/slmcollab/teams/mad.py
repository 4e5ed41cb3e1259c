"""Multi-agent debate (Du et al., 2024), one debater for each model: all answer, then revise in view of their peers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slmcollab.graph.nodes import Node, Question, Team
from slmcollab.graph.rounds import Rounds, name

KINDS = {"answer": set(), "debate": set()}
SETTINGS = ("rounds", "first_temperature", "temperature")


@dataclass(frozen=True)
class Debate(Rounds):
    """In round 0 each slot answers alone, at first_temperature; in each later round it sees what was said in the last.

    It is shown its own reply and, without their names and in an order drawn for it, its peers'. The team's answer is
    the vote on the last round's, the largest model's where it is tied. rounds: at least 1.
    """

    first_temperature: float
    temperature: float

    def node(self, team: Team, question: Question, number: int, slot: str) -> Node:
        if number == 0:
            return Node(name(slot, 0), slot, "answer", temperature=self.first_temperature)
        peers = [name(other, number - 1) for other in team.slots if other != slot]
        question.generator("peers", slot, number).shuffle(peers)
        own = name(slot, number - 1)
        return Node(name(slot, number), slot, "debate", tuple(peers), own, temperature=self.temperature)


def build(settings: Mapping[str, Any]) -> Debate:
    return Debate(**settings)
