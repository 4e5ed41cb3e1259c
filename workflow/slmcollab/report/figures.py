"""Figure 4: what the experts contribute while the policy trains, one row of three panels per benchmark and team."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from slmcollab.analysis.attention import Dynamics, block_means, entropy_reward_correlation, mean_dynamics
from slmcollab.analysis.statistics import mean_and_std
from slmcollab.report.style import COLORS, INK, PALE, series_style
from slmcollab.report.tables import format_number

FIGURE4_COLUMNS = ("benchmark", "team", "seed", "step", "quantity", "expert", "value")
THIN, BOLD = {"linewidth": 0.6, "alpha": 0.45}, {"linewidth": 2.0, "solid_capstyle": "round"}
DOTTED = (0, (1, 2))


@dataclass(frozen=True)
class Panels:
    """One row of the figure: the seeds of one team on one benchmark, the shares in the order of `experts`."""

    benchmark: str
    method: str
    team: str
    experts: tuple[str, ...]
    seeds: Mapping[int, Dynamics]

    @property
    def mean(self) -> Dynamics:
        return mean_dynamics(list(self.seeds.values()))

    @property
    def correlations(self) -> dict[int, float | None]:
        return {seed: entropy_reward_correlation(run) for seed, run in self.seeds.items()}


def group_runs(runs: Sequence[Mapping], dynamics: Sequence[Dynamics]) -> list[Panels]:
    """Return the rows of the figure in the order in which their first run is given.

    runs: {"benchmark", "team", "seed", "method", "experts"}, in the order of `dynamics`. Raises ValueError where a
    benchmark and team come with two methods or two lists of experts, or a seed twice.
    """
    groups: dict[tuple[str, str], Panels] = {}
    for run, measured in zip(runs, dynamics, strict=True):
        key, seed = (run["benchmark"], run["team"]), run["seed"]
        new = Panels(*key[:1], run["method"], run["team"], tuple(run["experts"]), {seed: measured})
        old = groups.get(key)
        if old is None:
            groups[key] = new
            continue
        if (old.method, old.experts) != (new.method, new.experts):
            raise ValueError(f"{key}: {old.method} with {old.experts} and {new.method} with {new.experts} in one figure")
        if seed in old.seeds:
            raise ValueError(f"{key}: seed {seed} is there twice")
        groups[key] = Panels(old.benchmark, old.method, old.team, old.experts, {**old.seeds, **new.seeds})
    return list(groups.values())


def figure4_rows(groups: Sequence[Panels]) -> Iterator[dict[str, str]]:
    """Return what Figure 4 shows, unsmoothed, one number a row; seed "mean" is the mean over seeds.

    Values are shares, nats, rewards, and per run Spearman's ρ between entropy and reward (no step; empty where it does
    not exist), all with six decimals.
    """
    for group in groups:
        correlations = group.correlations
        known = [value for value in correlations.values() if value is not None]
        labelled = {str(seed): run for seed, run in group.seeds.items()} | {"mean": group.mean}
        rho = {str(seed): value for seed, value in correlations.items()}
        rho["mean"] = mean_and_std(known)[0] if known else None
        for seed, run in labelled.items():
            series = [("attention_share", expert, run.shares[:, i]) for i, expert in enumerate(group.experts)]
            names = {"attention_entropy": run.entropy, "attention_entropy_prompt": run.entropy_prompt}
            series += [(name, "", values) for name, values in (names | {"reward": run.reward}).items()]
            numbers = [(str(t), name, who, v) for name, who, values in series for t, v in zip(run.step, values, strict=True)]
            for row in [*numbers, ("", "spearman_entropy_reward", "", rho[seed])]:
                step, quantity, expert, value = row
                text = format_number(None if value is None else float(value), 6)
                yield dict(zip(FIGURE4_COLUMNS, (group.benchmark, group.team, seed, step, quantity, expert, text), strict=True))
