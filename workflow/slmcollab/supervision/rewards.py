"""What a step is worth: the evaluator's scores and the task's metric together (slices, eq. 11 and 12)."""

from collections.abc import Sequence

from slmcollab.protocol.trajectory import Trajectory

SCORES, TASK, CONSTANT = "scores", "task", "constant"  # kinds of rewards
KINDS = (SCORES, TASK, CONSTANT)
# ASSUME: the control with a constant reward gives every step 0.5.
CONSTANT_REWARD = 0.5

Real = int | float
StepScores = Sequence[Sequence[Real]]  # (reasoning, action) of every step, each in [-1, 1]


def delivered(reasoning: Real, action: Real) -> float:
    """Return s_del = (s_rea + s_act) / 2 in [-1, 1] (eq. 11); raises ValueError for a score outside [-1, 1]."""
    return (_within("a step's reasoning score", reasoning, -1) + _within("a step's action score", action, -1)) / 2


def task_reward(metric: Real) -> float:
    """Return r_task = 2m - 1 in [-1, 1] of a metric m in [0, 1] (eq. 12)."""
    return 2 * _within("the metric", metric, 0) - 1


def step_reward(metric: Real, reasoning: Real, action: Real, alpha: Real) -> float:
    """Return r_t = alpha r_task + (1 - alpha) s_del in [-1, 1] (eq. 12); alpha is in [0, 1]."""
    alpha = _within("alpha", alpha, 0)
    return alpha * task_reward(metric) + (1 - alpha) * delivered(reasoning, action)


def rewards(
    trajectories: Sequence[Trajectory],
    metrics: Sequence[Real],
    kind: str,
    *,
    alpha: Real | None = None,
    scores: dict[str, StepScores] | None = None,
) -> dict[str, list[float]]:
    """Return trajectory id -> the reward of each of its steps; metrics: m in [0, 1] of each trajectory's answer.

    kind: `scores` (eq. 12 with alpha; a trajectory without scores is left out), `task` (2m - 1 for every step),
    `constant`.
    Raises ValueError for another kind, scores of another number of steps, or a value out of its range.
    """
    if kind not in KINDS:
        raise ValueError(f"reward: {kind!r} is not one of {', '.join(KINDS)}")
    found = {}
    for trajectory, metric in zip(trajectories, metrics, strict=True):
        if kind == SCORES and trajectory.id not in (scores or {}):
            continue
        given = scores[trajectory.id] if kind == SCORES else len(trajectory.steps) * [(0.0, 0.0)]
        if len(given) != len(trajectory.steps):
            raise ValueError(f"{trajectory.id}: {len(given)} step scores for {len(trajectory.steps)} steps")
        if kind == SCORES:
            found[trajectory.id] = [step_reward(metric, reasoning, action, alpha) for reasoning, action in given]
        else:
            reward = task_reward(metric) if kind == TASK else CONSTANT_REWARD
            found[trajectory.id] = len(trajectory.steps) * [reward]
    return found


def _within(name: str, value: Real, least: Real) -> float:
    if not least <= value <= 1:  # NaN is not, either
        raise ValueError(f"{name}: {value} is not in [{least}, 1]")
    return float(value)
