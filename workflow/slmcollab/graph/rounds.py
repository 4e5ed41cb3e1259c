"""Synchronous rounds: the graph of MAGRPO and MAPoRL, and what a debate has of it."""

from dataclasses import dataclass

from slmcollab.graph.nodes import Final, Node, Question, Said, Team
from slmcollab.graph.vote import team_answer


@dataclass(frozen=True)
class Rounds:
    """All slots draft at once; in each later round each revises in view of all drafts of the round before, its own too.

    The team's answer is the vote on the last round's, the largest model's where it is tied. rounds: at least 1.
    """

    rounds: int

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"settings.rounds: {self.rounds} is less than 1")

    def nodes(self, team: Team, question: Question, said: Said) -> list[Node]:
        return [self.node(team, question, number, slot) for number in range(self.rounds) for slot in team.slots]

    def node(self, team: Team, question: Question, number: int, slot: str) -> Node:
        # ASSUME: at evaluation the baselines that learn answer greedily.
        seen = tuple(name(other, number - 1) for other in team.slots) if number else ()
        return Node(name(slot, number), slot, "revise" if number else "draft", seen)

    def final(self, team: Team, said: Said) -> Final:
        last = [said[name(slot, self.rounds - 1)] for slot in team.slots]
        earlier = tuple(reply for reply in said.values() if reply.level < self.rounds - 1)
        return Final(*team_answer(last, team), earlier, self.rounds)


def name(slot: str, number: int) -> str:
    """Return the name of a slot's node in a round, from 0."""
    return f"{slot}-{number}"
