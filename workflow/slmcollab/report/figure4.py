"""The data of Figure 4: training runs grouped by benchmark and team, and the numbers behind the drawing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from slmcollab.analysis.attention import Dynamics, entropy_reward_correlation, mean_dynamics
from slmcollab.analysis.statistics import mean_and_std
from slmcollab.report.tables import format_number

COLUMNS = ("benchmark", "team", "seed", "step", "quantity", "expert", "value")


@dataclass(frozen=True)
class Group:
    """One row of the figure: the seeds of one team on one benchmark, their shares in the order of `experts`."""

    benchmark: str
    team: str
    method: str
    experts: tuple[str, ...]
    seeds: dict[int, Dynamics]

    @cached_property
    def mean(self) -> Dynamics:
        return mean_dynamics(list(self.seeds.values()))

    @cached_property
    def correlations(self) -> dict[int, float | None]:
        """Spearman's ρ between entropy and reward, per seed."""
        return {seed: entropy_reward_correlation(run) for seed, run in self.seeds.items()}

    @cached_property
    def mean_correlation(self) -> float | None:
        """The mean of the correlations that exist."""
        known = [value for value in self.correlations.values() if value is not None]
        return mean_and_std(known)[0] if known else None


def group_runs(runs: Sequence[Mapping[str, Any]], measured: Sequence[Dynamics]) -> list[Group]:
    """Return the rows of the figure in the order in which their first run is given.

    runs: {"benchmark", "team", "seed", "method", "experts"}, in the order of `measured`. Raises ValueError where a
    benchmark and team come with two methods or two lists of experts, a seed twice, or seeds that differ in their steps.
    """
    groups: dict[tuple[str, str], Group] = {}
    for run, dynamics in zip(runs, measured, strict=True):
        key, seed = (run["benchmark"], run["team"]), run["seed"]
        group = groups.setdefault(key, Group(*key, run["method"], tuple(run["experts"]), {}))
        if (group.method, group.experts) != (run["method"], tuple(run["experts"])):
            raise ValueError(f"{key}: seed {seed} has another method or other experts than the seeds before it")
        if seed in group.seeds:
            raise ValueError(f"{key}: seed {seed} is there twice")
        groups[key] = replace(group, seeds={**group.seeds, seed: dynamics})
    if not groups:
        raise ValueError("no runs to show")
    return list(groups.values())


def figure4_rows(groups: Sequence[Group]) -> Iterator[dict[str, str]]:
    """Return what the figure shows, unsmoothed, one number a row; seed "mean" is the mean over seeds.

    quantity: attention_share (of an expert, 0 to 1), attention_entropy and attention_entropy_prompt (nats), reward, and
    spearman_entropy_reward (a run's, so without a step; empty where it does not exist). Values have six decimals.
    """
    for group in groups:
        runs = [(str(seed), run, group.correlations[seed]) for seed, run in group.seeds.items()]
        for seed, run, correlation in [*runs, ("mean", group.mean, group.mean_correlation)]:
            whole_run = ("", "spearman_entropy_reward", "", correlation)
            for step, quantity, expert, value in [*_series(group, run), whole_run]:
                row = (group.benchmark, group.team, seed, step, quantity, expert, format_number(value, 6))
                yield dict(zip(COLUMNS, row, strict=True))


def _series(group: Group, run: Dynamics) -> Iterator[tuple[str, str, str, float]]:
    columns = [("attention_share", expert, run.shares[:, index]) for index, expert in enumerate(group.experts)]
    columns += [("attention_entropy", "", run.entropy), ("attention_entropy_prompt", "", run.entropy_prompt)]
    for quantity, expert, values in [*columns, ("reward", "", run.reward)]:
        for step, value in zip(run.step.tolist(), values.tolist(), strict=True):
            yield str(step), quantity, expert, value
