"""Entry of the rule reward_steps."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_jsonl, read_problems, write_json, write_jsonl
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.supervision.grading import count_rewards, grade_trajectories
from slmcollab.supervision.rewards import rewards as reward


def main(
    *, cell: str, workers: int, trajectories: Path, scores: list[Path], problems: Path, rewards: Path, counts: Path
) -> None:
    """Give every step its reward; a trajectory whose answer could not be graded, or whose steps were not, gets none."""
    settings, found = json.loads(cell), read_trajectories(trajectories)
    step_scores = {row["trajectory"]: row["steps"] for path in scores for row in read_jsonl(path)}
    graded = grade_trajectories(found, read_problems(problems), settings, workers)
    sound = [(trajectory, score) for trajectory, score in zip(found, graded, strict=True) if score.error is None]
    metrics = {trajectory.id: score.score for trajectory, score in sound}
    kept = [trajectory for trajectory, _ in sound]
    given = reward(kept, list(metrics.values()), settings["reward"], alpha=settings["alpha"], scores=step_scores)
    write_jsonl(rewards, ({"trajectory": id_, "metric": metrics[id_], "rewards": row} for id_, row in given.items()))
    write_json(counts, count_rewards(found, graded, given))


if __name__ == "__main__":
    tyro.cli(main)
