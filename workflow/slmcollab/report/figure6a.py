"""The data of Figure 6a: the reward of answers with the context and of answers to the prompt alone, while training."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from slmcollab.artifacts import ArtifactError, read_text
from slmcollab.report.tables import format_number

COLUMNS = ("benchmark", "team", "method", "seed", "step", "quantity", "value")
WITH, WITHOUT = "reward", "reward_without_context"  # columns of a history; the second is empty where not sampled


@dataclass(frozen=True)
class Curve:
    """A mean reward (0 to 1) at the training steps at which it was sampled."""

    step: Int[np.ndarray, " step"]
    value: Float[np.ndarray, " step"]


Rewards = dict[str, Curve]  # by WITH and WITHOUT


@dataclass(frozen=True)
class RewardGroup:
    """One panel of the figure: the seeds of one method with one team on one benchmark."""

    benchmark: str
    team: str
    method: str
    seeds: dict[int, Rewards]

    @cached_property
    def mean(self) -> Rewards:
        """The mean over seeds, step by step."""
        runs = list(self.seeds.values())
        return {
            name: Curve(runs[0][name].step, np.mean([run[name].value for run in runs], axis=0))
            for name in (WITH, WITHOUT)
        }


def read_rewards(path: Path) -> Rewards:
    """Return both rewards of a training history.

    Raises ArtifactError naming the file where it is not whole, its steps do not rise, a reward is no number from 0 to
    1, `reward` is empty at a step, or `reward_without_context` at all of them.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    absent = {"step", WITH, WITHOUT} - set(reader.fieldnames or [])
    if absent:
        raise ArtifactError(f"{path}: lacks the columns {sorted(absent)}")
    rows = list(reader)
    sampled = [row for row in rows if row[WITHOUT] != ""]
    rewards = {name: _curve(part, name, path) for name, part in ((WITH, rows), (WITHOUT, sampled))}
    if (np.diff(rewards[WITH].step) <= 0).any():
        raise ArtifactError(f"{path}: steps have to rise from row to row")
    return rewards


def _curve(rows: Sequence[Mapping[str, str]], name: str, path: Path) -> Curve:
    if not rows:
        raise ArtifactError(f"{path}: no step with {name}")
    values = []
    for row in rows:
        try:
            values.append((int(row["step"]), float(row[name])))
        except (TypeError, ValueError) as error:
            raise ArtifactError(f"{path}: step {row['step']!r}: {name} is {row[name]!r}, no number") from error
        if not (math.isfinite(values[-1][1]) and 0 <= values[-1][1] <= 1):
            raise ArtifactError(f"{path}: step {row['step']}: {name} is {row[name]}, not between 0 and 1")
    step, value = zip(*values, strict=True)
    return Curve(np.array(step, dtype=np.int64), np.array(value, dtype=float))


def group_rewards(runs: Sequence[Mapping[str, Any]], measured: Sequence[Rewards]) -> list[RewardGroup]:
    """Return the panels in the order in which their first run is given.

    runs: {"benchmark", "method", "team", "seed"}, in the order of `measured`. Raises ValueError where there is no run,
    a seed is there twice, or the seeds of a panel were sampled at different steps.
    """
    groups: dict[tuple[str, str, str], RewardGroup] = {}
    for run, rewards in zip(runs, measured, strict=True):
        key, seed = (run["benchmark"], run["team"], run["method"]), run["seed"]
        group = groups.setdefault(key, RewardGroup(*key, {}))
        if seed in group.seeds:
            raise ValueError(f"{key}: seed {seed} is there twice")
        first = next(iter(group.seeds.values()), rewards)
        if any(not np.array_equal(first[name].step, rewards[name].step) for name in (WITH, WITHOUT)):
            raise ValueError(f"{key}: seed {seed} was sampled at other steps than the seeds before it")
        groups[key] = replace(group, seeds={**group.seeds, seed: rewards})
    if not groups:
        raise ValueError("no runs to show")
    return list(groups.values())


def figure6a_rows(groups: Sequence[RewardGroup]) -> Iterator[dict[str, str]]:
    """Return what the figure shows, unsmoothed, one number a row; seed "mean" is the mean over seeds.

    quantity: reward and reward_without_context (only at steps at which it was sampled), 0 to 1, with six decimals.
    """
    for group in groups:
        runs = [*((str(seed), run) for seed, run in group.seeds.items()), ("mean", group.mean)]
        for seed, run in runs:
            for quantity, curve in run.items():
                for step, value in zip(curve.step.tolist(), curve.value.tolist(), strict=True):
                    row = (group.benchmark, group.team, group.method, seed, str(step), quantity)
                    yield dict(zip(COLUMNS, (*row, format_number(value, 6)), strict=True))
