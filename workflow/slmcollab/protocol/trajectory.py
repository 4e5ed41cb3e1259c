"""A recorded collaboration: who spoke, what was said, and how it ended."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, read_jsonl, write_jsonl

CONTINUE, TERMINATE, HANDOFF = "continue", "terminate", "handoff"
TERMINATED, STEP_LIMIT, ANOMALIES = "terminated", "step_limit", "anomalies"  # how a trajectory ends


@dataclass(frozen=True)
class Step:
    """One step z_t = (i_t, x_t, y_t, a_t); its context x_t follows from the question and the steps before it.

    text is the response as it was given; reasoning, answer, action and target are what could be parsed of it: "" or
    None where nothing could. anomaly is its kind where the protocol was broken in the last attempt, else None.
    complaint is the anomaly of the attempt before the last, which the last read a complaint about, else None.
    """

    slot: str
    text: str
    reasoning: str
    answer: str
    action: str | None
    target: str | None = None
    anomaly: str | None = None
    complaint: str | None = None


@dataclass(frozen=True)
class Trajectory:
    """All steps on one problem; sample numbers the trajectories on it. end: terminated, step_limit or anomalies."""

    problem: str
    sample: int
    steps: tuple[Step, ...]
    end: str

    @property
    def id(self) -> str:
        return f"{self.problem}#{self.sample}"

    @property
    def answer(self) -> str:
        """Return the last answer that could be parsed, "" where there is none."""
        return next((step.answer for step in reversed(self.steps) if step.answer), "")

    @property
    def answering(self) -> int | None:
        """Return the index of the step that gave the answer, None where there is none."""
        return next((index for index in range(len(self.steps) - 1, -1, -1) if self.steps[index].answer), None)


def write_trajectories(path: Path, trajectories: Iterable[Trajectory]) -> None:
    write_jsonl(path, (asdict(trajectory) for trajectory in trajectories))


def read_trajectories(path: Path) -> list[Trajectory]:
    """Return the trajectories of a file; raises ArtifactError where it holds something else, or one of them twice."""
    try:
        found = [_trajectory(row) for row in read_jsonl(path)]
    except (KeyError, TypeError) as error:
        raise ArtifactError(f"{path}: not a file of trajectories ({error})") from error
    if len({trajectory.id for trajectory in found}) < len(found):
        raise ArtifactError(f"{path}: a trajectory is there twice")
    return found


def _trajectory(row: dict[str, Any]) -> Trajectory:
    return Trajectory(**row | {"steps": tuple(Step(**step) for step in row["steps"])})
