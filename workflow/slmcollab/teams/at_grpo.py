"""AT-GRPO (Zhao et al., arXiv 2510.11062): agents take turns; candidates for one turn are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slmcollab.graph.nodes import Final, Node, Question, Said, Team
from slmcollab.graph.vote import team_answer
from slmcollab.marl.advantages import group_advantages
from slmcollab.marl.arena import Arena, grow_trees
from slmcollab.marl.learner import Harvest, Sample
from slmcollab.marl.objectives import Grpo

KINDS = {"draft": set(), "revise": set()}
SETTINGS = ("rounds",)
LEARNING = ("train_turns", "branches", "max_advantage", "learning_rates", "clip", "kl", "epochs", "mini_batches")


@dataclass(frozen=True)
class Turns:
    """The slots take turns, `rounds` each; every turn sees the last reply of each slot that has spoken.

    The team's answer is the vote on the slots' last replies, the largest model's where it is tied. rounds: at least 1.
    turns: how many turns there are in all, if it is not as many for each slot.
    """

    rounds: int = 1
    turns: int | None = None

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"settings.rounds: {self.rounds} is less than 1")
        if self.turns is not None and self.turns < 1:
            raise ValueError(f"learning.train_turns: {self.turns} is less than 1")

    def _number(self, team: Team) -> int:
        return self.turns or self.rounds * len(team.slots)

    def nodes(self, team: Team, question: Question, said: Said) -> list[Node]:
        return [self._node(team, turn) for turn in range(self._number(team))]

    def _node(self, team: Team, turn: int) -> Node:
        slots = team.slots
        # ASSUME: a turn of AT-GRPO sees the last reply of each slot, its own included, not all replies so far.
        seen = tuple(map(_name, range(max(0, turn - len(slots)), turn)))
        return Node(_name(turn), slots[turn % len(slots)], "revise" if turn else "draft", seen)

    def final(self, team: Team, said: Said) -> Final:
        """Return the vote; every turn but the last came before its end, and is a candidate."""
        replies = [said[_name(turn)] for turn in range(self._number(team))]
        return Final(*team_answer(replies[-len(team.slots) :], team), tuple(replies[:-1]), len(replies))


def _name(turn: int) -> str:
    return f"turn-{turn}"


@dataclass(frozen=True)
class AtGrpo:
    """A group are candidates of one question, turn and agent, which read the same; each earns its team's outcome.

    Only candidates are trained, not what continued them.
    """

    method: Turns
    branches: int
    max_advantage: float | int | None
    objective: Grpo

    def harvest(self, arena: Arena, questions: Sequence[Question]) -> Harvest:
        trees = grow_trees(arena, self.method, questions, turns=self.method.turns, number=self.branches)
        grown = [((at, turn), branches) for at, tree in enumerate(trees) for turn, branches in enumerate(tree)]
        known = [
            (key, candidate, outcome.value)
            for key, branches in grown
            for candidate, outcome in zip(branches.candidates, branches.outcomes, strict=True)
            if outcome is not None
        ]
        keys, rewards = [key for key, _, _ in known], [reward for _, _, reward in known]
        advantages = group_advantages(keys, rewards, standardise=True, limit=self.max_advantage)
        samples = [Sample(one, reward, own) for (_, one, reward), own in zip(known, advantages, strict=True)]
        episodes = [episode for _, branches in grown for episode in branches.episodes]
        # Later turns start from the best reply of the turn before: their outcomes say more than the policies can.
        return Harvest(episodes, [outcome for tree in trees for outcome in tree[0].outcomes], samples)


def build(settings: Mapping[str, Any]) -> Turns:
    return Turns(**settings)


def learner(settings: Mapping[str, Any], learning: Mapping[str, Any]) -> AtGrpo:
    objective = Grpo(learning["clip"], learning["kl"])
    method = Turns(**settings, turns=learning["train_turns"])
    return AtGrpo(method, learning["branches"], learning["max_advantage"], objective)
