"""Checkpoints that survive a killed job: whole or ignored, of this very run or ignored, one writer at a time."""

import contextlib
import json
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from slmcollab import artifacts
from slmcollab.digests import DIGESTS

MARKER = "complete.json"
# Without one of these TRL goes on, but elsewhere, and says nothing.
REQUIRED = ("adapter_model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth", "trainer_state.json")


def fingerprint(run: dict[str, Any]) -> str:
    """Return the sha256 of a run's description; where its files lie does not count, what they hold does."""
    told = {key: value for key, value in run.items() if key != DIGESTS}
    return artifacts.digest_text(json.dumps(told, sort_keys=True, allow_nan=False))


def latest(folder: Path, fingerprint: str) -> Path | None:
    """Return the last whole checkpoint in `folder` of the run with this fingerprint, None where there is none.

    Whole: its marker is there and names this run, and every file that it lists has the contents that it lists.
    """
    last_first = sorted(Path(folder).glob("checkpoint-*"), key=_step, reverse=True)
    return next((path for path in last_first if _is_whole(path, fingerprint)), None)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("checkpoint-"))


def _is_whole(checkpoint: Path, fingerprint: str) -> bool:
    try:
        marker = artifacts.read_json(checkpoint / MARKER, "fingerprint", "files")
    except artifacts.ArtifactError:
        return False
    files = marker["files"]
    return (
        marker["fingerprint"] == fingerprint
        and set(REQUIRED) <= files.keys()
        and all((checkpoint / name).is_file() for name in files)
        and all(artifacts.digest(checkpoint / name) == digest for name, digest in files.items())
    )


def remove_after(start: Path | None, folder: Path) -> None:
    """Remove the checkpoints in `folder` that are later than `start`, all without one: those that are not whole."""
    for path in Path(folder).glob("checkpoint-*"):
        if start is None or _step(path) > _step(start):
            shutil.rmtree(path)


class MarkComplete(TrainerCallback):
    """Writes, once a checkpoint is saved, the marker without which it does not count."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        files = [path for path in sorted(checkpoint.iterdir()) if path.name != MARKER]
        digests = {path.name: artifacts.digest(path) for path in files}
        artifacts.write_json(checkpoint / MARKER, {"fingerprint": self.fingerprint, "files": digests})


@contextlib.contextmanager
def one_writer(folder: Path, job_id: str) -> Iterator[None]:
    """Keep other processes from training into `folder`, which is removed once the block is done.

    job_id: the cluster's id of this job, which is told to those kept out. Raises RuntimeError naming the holder where
    there is one. The kernel releases the lock of a process that is killed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock, holder = FileLock(folder / "lock"), folder / "holder.json"
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RuntimeError(f"{folder}: already being trained into by {_held_by(holder)}") from error
    with lock:
        artifacts.write_json(holder, {"host": platform.node(), "pid": os.getpid(), "job": job_id})
        yield
        shutil.rmtree(folder)


def _held_by(holder: Path) -> str:
    """Return who holds a lock, and how to end it."""
    if not holder.is_file():
        return "another process; wait for it"
    who = artifacts.read_json(holder)
    if who["job"].isdigit():
        return f"job {who['job']} on {who['host']}; wait for it, or end it: scancel {who['job']}"
    return f"process {who['pid']} on {who['host']}; wait for it, or end it there: kill {who['pid']}"
