"""Steps of a run that halt by themselves at one moment: a test that watches them from outside may look too late."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import psutil

STOP = "os.kill(os.getpid(), signal.SIGSTOP)"
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
KILL_ALL = "os.killpg(os.getpgrp(), signal.SIGKILL)"  # Snakemake too, where it was started in a session of its own
MARK = "halted"
LIMIT = 900  # seconds
# Python imports it at the start of each step that has its folder in PYTHONPATH.
HOOK = """\
import os
import signal
import sys
from pathlib import Path

FILES = []


def halt(event, arguments):
    if event in ("open", "os.rename") and len(FILES) <= {files} and any(folder.glob({pattern!r})):
        FILES.append(arguments)
        if len(FILES) > {files}:
            (folder / {mark!r}).symlink_to(str(os.getpid()))
            {act}


if "slmcollab.steps.{step}" in sys.orig_argv:
    folder = Path(sys.orig_argv[sys.orig_argv.index("--checkpoints") + 1]).absolute()
    if not (folder / {mark!r}).is_symlink():
        sys.addaudithook(halt)
"""


@contextlib.contextmanager
def halting(path: Path, step: str, pattern: str, act: str = STOP, files: int = 0) -> Iterator[None]:
    """Let a step that starts within the block, with `path` in its PYTHONPATH, halt once there is a certain checkpoint.

    pattern: matches a file in the step's folder of checkpoints once that is so. act: what the step does then, or that
    many opened or renamed files later. It does so once for each folder: what goes on from there is not halted again.
    """
    hook = path / "sitecustomize.py"
    hook.write_text(HOOK.format(step=step, pattern=pattern, act=act, files=files, mark=MARK))
    try:
        yield
    finally:
        hook.unlink()


def halted(folder: Path, snakemake: Popen) -> psutil.Process:
    """Return the process that has stopped itself, known by its folder of checkpoints, once it stands still."""
    end = time.monotonic() + LIMIT
    while True:
        with contextlib.suppress(FileNotFoundError, psutil.NoSuchProcess):
            process = psutil.Process(int((folder / MARK).readlink().name))
            if process.status() == psutil.STATUS_STOPPED:
                return process
        assert snakemake.poll() is None, f"Snakemake ended before {folder} had its checkpoint"
        assert time.monotonic() < end, f"{folder} has no checkpoint"
        time.sleep(0.02)
