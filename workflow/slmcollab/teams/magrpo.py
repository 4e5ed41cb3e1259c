"""MAGRPO (Liu et al., arXiv 2508.04652): agents draft and revise in rounds, and share what the team's answer earns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slmcollab.graph.nodes import Question
from slmcollab.graph.rounds import Rounds
from slmcollab.marl.advantages import group_advantages
from slmcollab.marl.arena import Arena, counted, joint_episodes
from slmcollab.marl.learner import Harvest, Sample
from slmcollab.marl.objectives import Grpo

KINDS = {"draft": set(), "revise": set()}
SETTINGS = ("rounds",)
LEARNING = ("episodes", "standardise", "max_advantage", "learning_rates", "clip", "kl", "epochs", "mini_batches")


@dataclass(frozen=True)
class Magrpo:
    """An episode is the whole team on a question, and its reward the team's: its group are the question's episodes.

    Every response of an episode has the episode's advantage, in all rounds and of all agents.
    """

    method: Rounds
    episodes: int
    standardise: bool
    max_advantage: float | int | None
    objective: Grpo

    def harvest(self, arena: Arena, questions: Sequence[Question]) -> Harvest:
        groups = joint_episodes(arena, self.method, questions, self.episodes)
        episodes = [(group, episode) for group, of_group in enumerate(groups) for episode in of_group]
        outcomes = arena.outcomes(self.method, [episode for _, episode in episodes])
        known = [(*one, outcome.value) for one, outcome in zip(episodes, outcomes, strict=True) if outcome is not None]
        keys, rewards = [group for group, _, _ in known], [reward for _, _, reward in known]
        advantages = group_advantages(keys, rewards, standardise=self.standardise, limit=self.max_advantage)
        samples = [
            Sample(asked, reward, advantage)
            for (_, episode, reward), advantage in zip(known, advantages, strict=True)
            for asked in counted(episode)
        ]
        return Harvest([episode for _, episode in episodes], outcomes, samples)


def build(settings: Mapping[str, Any]) -> Rounds:
    return Rounds(**settings)


def learner(settings: Mapping[str, Any], learning: Mapping[str, Any]) -> Magrpo:
    own = {name: learning[name] for name in ("episodes", "standardise", "max_advantage")}
    return Magrpo(build(settings), **own, objective=Grpo(learning["clip"], learning["kl"]))
