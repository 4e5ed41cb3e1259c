"""Multi-agent debate (Du et al., 2024), one debater for each model: all answer, then revise in view of their peers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slmcollab.graph.nodes import Final, Node, Question, Said, Team
from slmcollab.graph.vote import team_answer

KINDS = {"answer": set(), "debate": set()}
SETTINGS = ("rounds", "first_temperature", "temperature")


@dataclass(frozen=True)
class Debate:
    """In round 0 each slot answers alone, at first_temperature; in each later round it sees what was said in the last.

    It is shown its own reply and, without their names and in an order drawn for it, its peers'. The team's answer is
    the vote on the last round's, the largest model's where it is tied. rounds: at least 1.
    """

    rounds: int
    first_temperature: float
    temperature: float

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"rounds: {self.rounds} is less than 1")

    def nodes(self, team: Team, question: Question, said: Said) -> list[Node]:
        return [self._node(team, question, number, slot) for number in range(self.rounds) for slot in team.slots]

    def _node(self, team: Team, question: Question, number: int, slot: str) -> Node:
        if number == 0:
            return Node(_name(slot, 0), slot, "answer", temperature=self.first_temperature)
        peers = [_name(other, number - 1) for other in team.slots if other != slot]
        question.generator("peers", slot, number).shuffle(peers)
        own = _name(slot, number - 1)
        return Node(_name(slot, number), slot, "debate", tuple(peers), own, temperature=self.temperature)

    def final(self, team: Team, said: Said) -> Final:
        last = [said[_name(slot, self.rounds - 1)] for slot in team.slots]
        earlier = tuple(reply for reply in said.values() if reply.level < self.rounds - 1)
        return Final(*team_answer(last, team), earlier, self.rounds)


def _name(slot: str, number: int) -> str:
    return f"{slot}-{number}"


def build(settings: Mapping[str, Any]) -> Debate:
    return Debate(**settings)
