"""Files of step scores and rewards: rows that belong to the trajectories at hand, or an error that names the row."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, read_jsonl, write_jsonl
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.supervision.rewards import StepScores


def write_step_scores(path: Path, scores: Mapping[str, StepScores]) -> None:
    write_jsonl(path, ({"trajectory": name, "steps": [list(pair) for pair in given]} for name, given in scores.items()))


def read_step_scores(path: Path, trajectories: Iterable[Trajectory]) -> dict[str, StepScores]:
    """Return trajectory id -> (s_rea, s_act) of each step; raises ArtifactError for a row that does not fit."""
    sizes = {one.id: len(one.steps) for one in trajectories}
    found: dict[str, StepScores] = {}
    for name, steps in _rows(path, "steps", sizes):
        if not all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_share, pair)) for pair in steps):
            raise ArtifactError(f"{path}: {name}: not two numbers from -1 to 1 for each step")
        found[name] = [(float(pair[0]), float(pair[1])) for pair in steps]
    return found


def write_rewards(path: Path, rewards: Mapping[str, Sequence[float]], metrics: Mapping[str, float]) -> None:
    """Write a row for each rewarded trajectory; metrics: m of its answer."""
    write_jsonl(path, ({"trajectory": id_, "metric": metrics[id_], "rewards": row} for id_, row in rewards.items()))


def read_rewards(path: Path, trajectories: Iterable[Trajectory]) -> dict[str, list[float]]:
    """Return trajectory id -> the reward of each step; raises ArtifactError for a row that does not fit."""
    sizes = {one.id: len(one.steps) for one in trajectories}
    found = {}
    for name, given in _rows(path, "rewards", sizes):
        if not all(map(_is_share, given)):
            raise ArtifactError(f"{path}: {name}: not a number from -1 to 1 for each step")
        found[name] = [float(reward) for reward in given]
    return found


def _rows(path: Path, key: str, sizes: Mapping[str, int]) -> Iterable[tuple[str, list[Any]]]:
    """Yield (trajectory id, list) of each row."""
    seen = set()
    for row in read_jsonl(path):
        name, given = row.get("trajectory"), row.get(key)
        if name not in sizes or not isinstance(given, list):
            raise ArtifactError(f"{path}: {name!r}: not {key} of one of the {len(sizes)} trajectories")
        if len(given) != sizes[name] or name in seen:
            raise ArtifactError(f"{path}: {name}: there twice, or {len(given)} {key} for {sizes[name]} steps")
        seen.add(name)
        yield name, given


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and abs(value) <= 1
