"""Entry of the rule reward_steps."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_json, read_problems, write_json
from slmcollab.digests import with_outputs
from slmcollab.protocol.record import describe_light
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.supervision.files import read_step_scores, write_rewards
from slmcollab.supervision.grading import count_rewards, grade_trajectories
from slmcollab.supervision.rewards import rewards as reward


def main(
    *,
    cell: str,
    code: str,
    workers: int,
    trajectories: Path,
    scores: list[Path],
    evaluation: list[Path],
    problems: Path,
    rewards: Path,
    counts: Path,
) -> None:
    """Give every step its reward; a trajectory whose answer could not be graded, or whose steps were not, gets none."""
    settings, found = json.loads(cell), read_trajectories(trajectories)
    read = {"trajectories": trajectories, "problems": problems, **dict(zip(("scores",), scores, strict=False))}
    read |= dict(zip(("evaluation",), evaluation, strict=False))
    record = describe_light(settings, code, read) | {"evaluation": [read_json(path) for path in evaluation]}
    step_scores = {id_: steps for path in scores for id_, steps in read_step_scores(path, found).items()}
    graded = grade_trajectories(found, read_problems(problems), settings, workers)
    sound = [(trajectory, score) for trajectory, score in zip(found, graded, strict=True) if score.error is None]
    # ASSUME: m of eq. 12 has partial credit: F1 on MuSiQue, closeness on GSM-Hard and MATH, Conifer's .75 and .25.
    metrics = {trajectory.id: score.score for trajectory, score in sound}
    kept = [trajectory for trajectory, _ in sound]
    given = reward(kept, list(metrics.values()), settings["reward"], alpha=settings.get("alpha"), scores=step_scores)
    counted = count_rewards(found, graded, given)
    if not given:
        raise ValueError(f"{trajectories}: no trajectory has a reward, so there is nothing to learn from: {counted}")
    write_rewards(rewards, given, metrics)
    write_json(counts, counted | {"record": with_outputs(record, {"rewards": rewards})})


if __name__ == "__main__":
    tyro.cli(main)
