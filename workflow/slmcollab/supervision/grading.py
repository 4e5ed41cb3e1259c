"""The task metric m of whole trajectories, and what became of those that rewards were asked for."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import TIMED_OUT, Score, settle


def grade_trajectories(
    trajectories: Sequence[Trajectory], problems: Sequence[Problem], settings: Mapping[str, Any], num_workers: int
) -> list[Score]:
    """Return the verdict on each trajectory's answer; equal answers to one problem are graded once.

    An error is left where nothing is known of the answer; a program that ran out of time is a plain failure, m = 0.
    settings: scorer, time_limit_s and options. Raises ArtifactError for a trajectory on a problem that is not there.
    """
    by_id = {problem.id: problem for problem in problems}
    foreign = sorted({trajectory.problem for trajectory in trajectories} - by_id.keys())
    if foreign:
        raise ArtifactError(f"trajectories on {len(foreign)} problems that are not in the split: {foreign[:3]}")
    asked = list(dict.fromkeys((trajectory.problem, trajectory.answer) for trajectory in trajectories))
    with Grader(settings["scorer"], settings["time_limit_s"], num_workers, settings["options"]) as grader:
        scores = grader.grade([answer for _, answer in asked], [by_id[problem] for problem, _ in asked])
        settled = [settle(score, grader.module) for score in scores]
    found = dict(zip(asked, settled, strict=True))
    return [found[trajectory.problem, trajectory.answer] for trajectory in trajectories]


def count_rewards(
    trajectories: Sequence[Trajectory], scores: Sequence[Score], rewards: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    """Return how many trajectories were sampled, not graded (and of these timed out), without step scores, rewarded.

    scores: of `grade_trajectories`. mean_metric is over what was graded, mean_reward over steps, None where there is
    none; num_steps and num_negative count rewarded steps and those with r < 0.
    """
    given = [reward for row in rewards.values() for reward in row]
    metrics = [score.score for score in scores if score.error is None]
    not_graded = len(scores) - len(metrics)
    return {
        "sampled": len(trajectories),
        "not_graded": not_graded,
        "timed_out": sum(score.error == TIMED_OUT for score in scores),
        "not_scored": len(trajectories) - not_graded - len(rewards),
        "rewarded": len(rewards),
        "mean_metric": fmean(metrics) if metrics else None,
        "num_steps": len(given),
        "num_negative": sum(reward < 0 for reward in given),
        "mean_reward": fmean(given) if given else None,
    }
