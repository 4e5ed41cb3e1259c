"""Questions in fixed waves, each kept once it is whole: a killed run redoes one wave and ends with the same records."""

from collections.abc import Callable, Sequence
from pathlib import Path

from slmcollab import artifacts
from slmcollab.artifacts import Problem
from slmcollab.generation.calls import Call, read_calls, write_calls
from slmcollab.protocol.trajectory import Trajectory, read_trajectories, write_trajectories

Records = tuple[list[Trajectory], list[Call]]
MARKER, TRAJECTORIES, CALLS = "complete.json", "trajectories.jsonl", "calls.parquet"


def run_in_waves(
    problems: Sequence[Problem], per_wave: int, folder: Path, run_one: Callable[[Sequence[Problem]], Records]
) -> Records:
    """Return the records of all problems, in their order; run_one gives those of `per_wave` of them, or of the rest.

    folder: where whole waves are kept, for this run alone: its name has to hold a fingerprint of all that the records
    follow from (cell, code, seed, inputs), and its one writer is the caller's to see to (`checkpoints.one_writer`). A
    wave found whole is read, not run.
    """
    if per_wave < 1:
        raise ValueError(f"{per_wave} questions in a wave: at least 1 is needed")
    trajectories, calls = [], []
    for number, start in enumerate(range(0, len(problems), per_wave)):
        wave, kept = problems[start : start + per_wave], Path(folder) / f"wave-{number:04d}"
        if not _is_whole(kept, wave):
            _keep(kept, wave, run_one(wave))
        trajectories += read_trajectories(kept / TRAJECTORIES)
        calls += read_calls(kept / CALLS)
    return trajectories, calls


def _is_whole(kept: Path, wave: Sequence[Problem]) -> bool:
    """Tell whether a wave's marker is there and names these problems and files with these very contents."""
    try:
        marker = artifacts.read_json(kept / MARKER)
        return marker == _marker(kept, wave)
    except artifacts.ArtifactError:
        return False


def _marker(kept: Path, wave: Sequence[Problem]) -> dict[str, object]:
    files = {name: artifacts.digest(kept / name) for name in (TRAJECTORIES, CALLS)}
    return {"problems": [problem.id for problem in wave], "files": files}


def _keep(kept: Path, wave: Sequence[Problem], records: Records) -> None:
    trajectories, calls = records
    with artifacts.replacing(kept) as temporary:
        write_trajectories(temporary / TRAJECTORIES, trajectories)
        write_calls(temporary / CALLS, calls)
        artifacts.write_json(temporary / MARKER, _marker(temporary, wave))
