"""What a method that learns has to say beside its graph: how it samples, and what each response earned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from slmcollab.graph.nodes import Question
from slmcollab.graph.runner import Asked, Episode
from slmcollab.marl.arena import Arena, Verdict
from slmcollab.marl.objectives import Objective


@dataclass(frozen=True)
class Sample:
    """A response that its slot learns from. credit: its advantage (GRPO), or the reward at its last token (PPO)."""

    asked: Asked
    reward: float
    credit: float


@dataclass(frozen=True)
class Harvest:
    """What questions brought: everything that was said, the team's outcomes, and the responses that are trained.

    outcomes: of the team as it is, None where nothing is known of its answer; an episode that goes on from a reply
    which was chosen for its outcome has none here.
    """

    episodes: Sequence[Episode]
    outcomes: Sequence[Verdict | None]
    samples: Sequence[Sample]


@runtime_checkable
class Learner(Protocol):
    """A module of teams/ whose method is trained has `learner(settings, learning)`, which returns one."""

    objective: Objective

    def harvest(self, arena: Arena, questions: Sequence[Question]) -> Harvest:
        """Sample on the questions; the sample of a question says how often it has been drawn before."""
        ...
