"""GPTSwarm (Zhuge et al., 2024) as one fixed graph of seven nodes; its edges are not optimised."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slmcollab.graph.nodes import Final, Node, Question, Said, Team

KINDS = {"io": set(), "cot": set(), "debate": set(), "aggregate": set()}
SETTINGS = ("temperature",)
SLOTS = 3
# ASSUME: the swarm's edges are fixed; small models answer, the largest debates and writes the team's answer.
FIRST, SECOND = ("io-0", "cot-0", "cot-1"), ("cot-2", "io-1")
GRAPH = {
    **dict.fromkeys(FIRST, ()),
    "debate-0": FIRST,
    **dict.fromkeys(SECOND, ("debate-0",)),
    "aggregate-0": ("debate-0", *SECOND),
}


@dataclass(frozen=True)
class Swarm:
    """Three answers, a debate on them, two more answers in view of it, and an aggregator that writes the team's.

    Nothing is voted on: a team whose aggregator's reply could not be read has no answer.
    """

    temperature: float

    def nodes(self, team: Team, question: Question, said: Said) -> list[Node]:
        """Return the graph; raises ValueError for a team that has not three slots."""
        if len(team.slots) != 3:
            raise ValueError(f"systems.*.models: {len(team.slots)} of them; the graph of gptswarm has 3")
        large, middle, small = team.ranked
        slots = {"io": small, "cot": middle, "debate": large, "aggregate": large}
        kinds = {name: name.partition("-")[0] for name in GRAPH}
        return [
            Node(name, slots[kinds[name]], kinds[name], sees, temperature=self.temperature)
            for name, sees in GRAPH.items()
        ]

    def final(self, team: Team, said: Said) -> Final:
        *earlier, last = said.values()
        return Final(last.answer, last.node.slot if last.answer else None, tuple(earlier), last.level + 1)


def build(settings: Mapping[str, Any]) -> Swarm:
    return Swarm(**settings)
