"""Which teacher trajectories are demonstrations (slices, 2.2.2: protocol distillation)."""

from collections import Counter
from collections.abc import Sequence

from slmcollab.protocol import permutation
from slmcollab.protocol.trajectory import TERMINATED, Trajectory
from slmcollab.scoring.score import TIMED_OUT, Score

KEPT = "kept"
REASONS = ("anomalous", "not_terminated", "timed_out", "not_graded", "below_threshold", KEPT)


def qualify(
    trajectories: Sequence[Trajectory], scores: Sequence[Score], threshold: float
) -> tuple[list[Trajectory], dict[str, int]]:
    """Return the trajectories that qualify, and how many were sampled and fell to each reason, the first that holds.

    scores: of `grade_trajectories`, one a trajectory; threshold: the least metric m, in [0, 1].
    """
    # ASSUME: a teacher trajectory qualifies if it has no anomaly, was terminated and its metric reaches the threshold.
    verdicts = [_verdict(*pair, threshold) for pair in zip(trajectories, scores, strict=True)]
    kept = [trajectory for trajectory, verdict in zip(trajectories, verdicts, strict=True) if verdict == KEPT]
    counts = Counter(verdicts)
    return kept, {"sampled": len(trajectories)} | {reason: counts[reason] for reason in REASONS}


def _verdict(trajectory: Trajectory, score: Score, threshold: float) -> str:
    if any(step.anomaly for step in trajectory.steps):
        return "anomalous"
    if trajectory.end != TERMINATED:
        return "not_terminated"
    if score.error is not None:
        return "timed_out" if score.error == TIMED_OUT else "not_graded"
    return KEPT if score.score >= threshold else "below_threshold"


def demonstrations(kept: Sequence[Trajectory], slots: Sequence[str], seed: int) -> list[Trajectory]:
    """Return the trajectories as the team will learn them: in each, a permutation of the slots was drawn."""
    return [permutation.permute(trajectory, permutation.draw(slots, seed, trajectory.id)) for trajectory in kept]
