"""What the experts contribute while a policy trains: shares of attention, their entropy, and its tie to the reward."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy import special, stats

from slmcollab.artifacts import ArtifactError, read_text

SHARE = "attention_share/"
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Dynamics:
    """One run, step by step: share of attention mass per expert, entropies in nats, mean sampled reward.

    entropy is that of the step's mean mass; entropy_prompt is the mean of the entropies of the step's prompts.
    """

    step: Int[np.ndarray, " step"]
    shares: Float[np.ndarray, "step expert"]
    entropy: Float[np.ndarray, " step"]
    entropy_prompt: Float[np.ndarray, " step"]
    reward: Float[np.ndarray, " step"]


def read_history(path: Path) -> pd.DataFrame:
    """Return a training history, one row a step; raises ArtifactError for a file without columns, or a cut one."""
    text = read_text(path)
    try:
        return pd.read_csv(io.StringIO(text))
    except ValueError as error:
        raise ArtifactError(f"{path}: not a whole CSV file ({error})") from error


def dynamics(name: str, history: pd.DataFrame, experts: Sequence[str]) -> Dynamics:
    """Return the attention and reward columns of the history in the file `name`, the shares in the order of `experts`.

    Raises ArtifactError naming it where a column is missing or one too many, a value is not a finite number, steps do
    not rise, shares do not add up to one, or the recorded entropy is not theirs.
    """
    shares = [SHARE + expert for expert in experts]
    found = [column for column in history.columns if column.startswith(SHARE)]
    if sorted(found) != sorted(shares):
        raise ArtifactError(f"{name}: attention shares {found}, but the team has {shares}")
    columns = ["attention_entropy", "attention_entropy_prompt", "reward"]
    for column in ["step", *shares, *columns]:
        if column not in history or not np.isfinite(pd.to_numeric(history[column], errors="coerce")).all():
            raise ArtifactError(f"{name}: column {column!r} is missing or holds something else than finite numbers")
    step = history["step"].to_numpy(dtype=np.int64)
    if len(step) == 0 or (np.diff(step) <= 0).any():
        raise ArtifactError(f"{name}: steps have to rise from row to row, and there has to be one")
    mass = history[shares].to_numpy(dtype=float)
    recorded, *others = (history[column].to_numpy(dtype=float) for column in columns)
    if (mass < 0).any() or (abs(mass.sum(axis=1) - 1) > TOLERANCE).any():
        raise ArtifactError(f"{name}: attention shares of a step have to be at least 0 and add up to 1")
    if (abs(entropy(mass) - recorded) > TOLERANCE).any():
        raise ArtifactError(f"{name}: attention_entropy is not the entropy of the attention shares in nats")
    return Dynamics(step, mass, recorded, *others)


def entropy(shares: Float[np.ndarray, "step expert"]) -> Float[np.ndarray, " step"]:
    """Return -Σ p ln p over the experts, in nats, where 0 ln 0 = 0; ln n when n experts share equally."""
    return special.entr(shares).sum(axis=1)


def mean_dynamics(runs: Sequence[Dynamics]) -> Dynamics:
    """Return the mean over runs, step by step; raises ValueError where runs differ in their steps."""
    if any(not np.array_equal(run.step, runs[0].step) for run in runs):
        raise ValueError("seeds differ in their training steps")
    means = {field.name: np.mean([getattr(run, field.name) for run in runs], axis=0) for field in fields(Dynamics)}
    return Dynamics(**means | {"step": runs[0].step})


def block_means(values: Float[np.ndarray, " step"], size: int) -> Float[np.ndarray, " block"]:
    """Return the means over consecutive blocks of `size` steps; the last block holds what is left."""
    return np.array([values[start : start + size].mean() for start in range(0, len(values), size)])


def entropy_reward_correlation(run: Dynamics) -> float | None:
    """Return Spearman's ρ between the entropy of the mean attention and the reward over the steps of one run.

    None where it does not exist: fewer than two steps, or one of the two never changes.
    """
    if len(run.step) < 2 or np.ptp(run.entropy) == 0 or np.ptp(run.reward) == 0:
        return None
    return float(stats.spearmanr(run.entropy, run.reward).statistic)


def last_tenth(values: Float[np.ndarray, "step series"]) -> Float[np.ndarray, " series"]:
    """Return the mean over the last tenth of the steps; a tenth is rounded down, at least one step."""
    return values[-max(1, len(values) // 10) :].mean(axis=0)


def entropy_trend(run: Dynamics, size: int = 10) -> tuple[float, float] | None:
    """Return Kendall's τ between time and the entropy of the mean attention, as means over `size` steps, and its p.

    p is two-sided and takes the blocks for independent, which they are not quite. None where τ does not exist: fewer
    than two blocks, or an entropy that never changes.
    """
    means = block_means(run.entropy, size)
    if len(means) < 2 or np.ptp(means) == 0:
        return None
    found = stats.kendalltau(np.arange(len(means)), means)
    return float(found.statistic), float(found.pvalue)
