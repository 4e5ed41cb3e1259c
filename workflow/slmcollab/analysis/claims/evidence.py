"""What the claims are judged on: answers, attention and rewards of every run, found by benchmark, method and team."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from slmcollab.analysis.attention import Dynamics, last_tenth
from slmcollab.analysis.claims.verdicts import NotRun
from slmcollab.seeding import derive

HIDDEN, SHUFFLED, PREFIX = "hidden_state", "hidden_state_shuffled", "prefix"
SINGLE, NO_TEAM = "single", "none"


class Run(NamedTuple):
    benchmark: str
    method: str
    team: str
    seed: int


class Rewards(NamedTuple):
    """Mean rewards of the steps that sampled both: of prompts with context tokens, and of the prompt alone."""

    step: Float[np.ndarray, " step"]
    with_context: Float[np.ndarray, " step"]
    alone: Float[np.ndarray, " step"]


@dataclass(frozen=True)
class Evidence:
    """Runs in grid order. correct: 1 where an answer is right, per problem, in one order for all runs of a benchmark.

    seen: whether the question occurs in train. dynamics, rewards, attention (the parsed attention.json): of the method
    hidden_state. models: expert -> manifest. roles: which benchmarks, team and experts the paper's sentences are about.
    """

    correct: Mapping[Run, Float[np.ndarray, " problem"]]
    seen: Mapping[str, Bool[np.ndarray, " problem"]]
    dynamics: Mapping[Run, Dynamics]
    rewards: Mapping[Run, Rewards]
    attention: Mapping[Run, Mapping[str, Any]]
    models: Mapping[str, Mapping[str, Any]]
    teams: Mapping[str, list[str]]
    poolings: Mapping[str, str]
    sizes: Mapping[str, str]
    roles: Mapping[str, Any]
    published: Mapping[tuple[str, ...], Any]

    def role(self, name: str) -> str:
        """Return who or what plays a role; raises NotRun where the config names nobody."""
        if not self.roles.get(name):
            raise NotRun(f"the config gives no {name}")
        return self.roles[name]

    def listed(self, name: str) -> list[str]:
        """Return the benchmarks with a role, in order, [] for none."""
        return list(self.roles.get(name) or [])

    def runs(self, benchmark: str, method: str, team: str) -> list[Run]:
        """Return the seeds of a cell; raises NotRun where the grid runs none."""
        found = [run for run in self.correct if run[:3] == (benchmark, method, team)]
        if not found:
            raise NotRun(f"no run of {method} with team {team} on {benchmark}")
        return found

    def answers(self, benchmark: str, method: str, team: str) -> Float[np.ndarray, "seed problem"]:
        return np.stack([self.correct[run] for run in self.runs(benchmark, method, team)])

    def accuracies(self, benchmark: str, method: str, team: str) -> Float[np.ndarray, " seed"]:
        """Return the accuracy of each seed in percent points."""
        return 100 * self.answers(benchmark, method, team).mean(axis=1)

    def cells(self) -> list[tuple[str, str]]:
        """Return every (benchmark, team) of the method hidden_state, in grid order; raises NotRun for none."""
        found = list(dict.fromkeys((run.benchmark, run.team) for run in self.correct if run.method == HIDDEN))
        if not found:
            raise NotRun(f"no run of {HIDDEN}")
        return found

    def cells_with(self, *experts: str) -> list[tuple[str, str]]:
        """Return the cells whose team has all of the experts; raises NotRun where there is none."""
        found = [(benchmark, team) for benchmark, team in self.cells() if set(experts) <= set(self.teams[team])]
        if not found:
            raise NotRun(f"no team in the grid has {' and '.join(experts)}")
        return found

    def trained(self, benchmark: str, team: str) -> list[Dynamics]:
        """Return the training dynamics of each seed of hidden_state."""
        return [self.dynamics[run] for run in self.runs(benchmark, HIDDEN, team)]

    def final_shares(self, benchmark: str, team: str) -> Float[np.ndarray, "seed expert"]:
        """Return the shares of attention, 0 to 1, over the last tenth of the steps, experts in the team's order."""
        return np.stack([last_tenth(run.shares) for run in self.trained(benchmark, team)])

    def sampled_rewards(self, benchmark: str, team: str) -> list[Rewards]:
        """Return the rewards of each seed of hidden_state; raises NotRun where the prompt alone was never sampled."""
        found = [self.rewards[run] for run in self.runs(benchmark, HIDDEN, team)]
        if any(len(run.step) == 0 for run in found):
            raise NotRun(f"{HIDDEN} on {benchmark} never sampled without context (history.csv: reward_without_context)")
        return found

    def measured_attention(self, benchmark: str, team: str) -> list[Mapping[str, Any]]:
        """Return the attention of each seed over the test prompts; raises NotRun where a run has no attention.json."""
        runs = self.runs(benchmark, HIDDEN, team)
        missing = [run for run in runs if run not in self.attention]
        if missing:
            raise NotRun(f"no attention.json of {', '.join('/'.join(map(str, run)) for run in missing)}")
        return [self.attention[run] for run in runs]

    def published_mean(self, benchmark: str, method: str, team: str, metric: str = "accuracy") -> float | None:
        found = self.published.get((benchmark, method, team, metric))
        return None if found is None else float(found[0])

    def published_overall(self, team: str, metric: str) -> float | None:
        """Return a number of the paper over all benchmarks, None unless the gain benchmark is one of its own."""
        printed = {benchmark for benchmark, *_ in self.published}
        return self.published_mean("all", HIDDEN, team, metric) if self.roles.get("gain") in printed else None

    def published_difference(self, ours: tuple[str, str, str], baseline: tuple[str, str, str]) -> float | None:
        """Return the difference of the paper's accuracies in points, None where it does not print both."""
        first, second = self.published_mean(*ours), self.published_mean(*baseline)
        return None if first is None or second is None else first - second

    def generator(self, *names: str) -> np.random.Generator:
        """Return the stream of random numbers of one test: the same for the same names, whatever else is judged."""
        return np.random.default_rng(derive(0, "claims", *names))
