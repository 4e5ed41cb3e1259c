"""MAPoRL (Park et al., ACL 2025): agents discuss in rounds, and each answer earns what the discussion makes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slmcollab.graph.nodes import Question
from slmcollab.graph.rounds import Rounds, name
from slmcollab.marl.arena import Arena, Verdict, counted, joint_episodes
from slmcollab.marl.learner import Harvest, Sample
from slmcollab.marl.objectives import Ppo
from slmcollab.marl.returns import discussion_bonuses, discussion_returns

KINDS = {"draft": set(), "revise": set()}
SETTINGS = ("rounds",)
LEARNING = (
    "episodes",
    "discount",
    "bonus",
    "official_sign",
    "learning_rates",
    "clip",
    "kl",
    "epochs",
    "mini_batches",
    "value_weight",
    "value_clip",
    "gae_lambda",
    "gamma",
)


@dataclass(frozen=True)
class Maporl:
    """Every answer of every round is judged; PPO with a value head makes of S + B an advantage for each token.

    S: how right the answer is, and the team's in the rounds after it; B: the bonus for changing one's own mind or that
    of one's peers to the better.
    """

    method: Rounds
    episodes: int
    discount: float | int
    bonus: Sequence[float | int]
    official_sign: bool
    objective: Ppo

    def harvest(self, arena: Arena, questions: Sequence[Question]) -> Harvest:
        groups = joint_episodes(arena, self.method, questions, self.episodes)
        episodes = [episode for group in groups for episode in group]
        answers = [[reply.answer for reply in one.said.values()] for one in episodes]
        finals = [self.method.final(arena.team, one.said).answer for one in episodes]
        together = list(zip(episodes, answers, finals, strict=True))
        said = [(answer, one.question.problem) for one, own, final in together for answer in (*own, final)]
        verdicts = iter(arena.judge([answer for answer, _ in said], [problem for _, problem in said]))
        samples, outcomes = [], []
        for episode in episodes:
            judged = {node: next(verdicts) for node in episode.said}
            rewards = self._rewards(arena.team.slots, judged)
            earned = [(asked, rewards[asked.node.name]) for asked in counted(episode)] if rewards else []
            samples += [Sample(asked, reward, reward) for asked, reward in earned]
            outcomes.append(next(verdicts))
        return Harvest(episodes, outcomes, samples)

    def _rewards(self, slots: Sequence[str], judged: Mapping[str, Verdict | None]) -> dict[str, float]:
        """Return S + B of each node, nothing where not all of an episode is known."""
        if None in judged.values():
            return {}
        table = [[judged[name(slot, number)].value for slot in slots] for number in range(self.method.rounds)]
        returns = discussion_returns(table, self.discount)
        bonuses = discussion_bonuses(table, self.bonus, official_sign=self.official_sign)
        places = [(number, agent) for number in range(len(table)) for agent in range(len(slots))]
        return {name(slots[agent], number): returns[number][agent] + bonuses[number][agent] for number, agent in places}


def build(settings: Mapping[str, Any]) -> Rounds:
    return Rounds(**settings)


def learner(settings: Mapping[str, Any], learning: Mapping[str, Any]) -> Maporl:
    own = {name: learning[name] for name in ("episodes", "discount", "bonus", "official_sign")}
    names = ("clip", "kl", "value_weight", "value_clip", "gamma", "gae_lambda")
    return Maporl(build(settings), **own, objective=Ppo(**{name: learning[name] for name in names}))
