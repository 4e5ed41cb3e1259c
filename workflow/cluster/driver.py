"""Who drives the workflow of a folder: written down when its first job starts, told to whoever finds the folder locked.

Standard library only: Snakemake imports this in every process.
"""

import json
import os
import platform
import shlex
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

RECORD = Path(".snakemake/driver.json")
LOCKS = Path(".snakemake/locks")


@dataclass(frozen=True)
class Driver:
    """The process that runs a workflow.

    ticks: when it started, in the kernel's clock ticks since boot; pid and ticks together name it for good;
    job: the SLURM job that it is itself part of, "" for none; slurm: whether it sends its jobs to SLURM.
    """

    host: str
    pid: int
    ticks: int
    started: str
    job: str
    slurm: bool

    def __str__(self) -> str:
        part = f", part of SLURM job {self.job}" if self.job else ""
        return f"process {self.pid} on {self.host}{part}, started {self.started}"

    def is_this(self) -> bool:
        """Return whether it is this very process."""
        return (self.host, self.pid, self.ticks) == (platform.node(), os.getpid(), _ticks(os.getpid()))


def this_one(*, slurm: bool) -> Driver:
    """Return the description of this very process."""
    pid, now = os.getpid(), time.strftime("%Y-%m-%d %H:%M:%S")
    return Driver(platform.node(), pid, _ticks(pid), now, os.environ.get("SLURM_JOB_ID", ""), slurm)


def write(run: Path, *, slurm: bool) -> None:
    """Write down that this process drives the workflow in the folder `run`, whose lock it holds."""
    new = run / RECORD.with_suffix(".new")
    new.write_text(json.dumps(asdict(this_one(slurm=slurm))), "utf-8")
    new.replace(run / RECORD)


def remove(run: Path) -> None:
    """Remove what `write` wrote; nothing to remove is no error."""
    (run / RECORD).unlink(missing_ok=True)


def locked(run: Path) -> bool:
    """Return whether the folder holds Snakemake's lock."""
    return any((run / LOCKS).glob("*.lock"))


def read(run: Path) -> Driver | None:
    """Return who drives the workflow in the folder, or did until killed; None where nobody wrote it down.

    A record older than the lock is of an earlier workflow: the one that holds the lock has not come to its first job.
    """
    locks = [lock.stat().st_mtime for lock in (run / LOCKS).glob("*.lock")]
    found = recorded(run)
    return None if found is None or (run / RECORD).stat().st_mtime < max(locks, default=0) else found


def recorded(run: Path) -> Driver | None:
    """Return who is written down, whosever the lock is; None for nobody, and for a record that a crash has cut."""
    record = run / RECORD
    try:
        return Driver(**json.loads(record.read_text("utf-8"))) if record.is_file() else None
    except (ValueError, TypeError):
        return None


def lives(driver: Driver) -> bool | None:
    """Return whether the driver still runs; None where this machine cannot know: it was started on another one."""
    if driver.host == platform.node():
        return _ticks(driver.pid) == driver.ticks
    if driver.job:
        listed = subprocess.run(["squeue", "--me", "-h", "-o", "%i"], capture_output=True, text=True, check=False)
        return driver.job in listed.stdout.split() if listed.returncode == 0 else None
    return None


def _ticks(pid: int) -> int:
    """Return when a process started, -1 if there is none or it has ended and waits to be collected."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return -1
    return -1 if state in "ZX" else int(rest[18])


def takeover_command(run: Path, checkout: Path) -> str:
    """Return the command, in backticks, that frees the folder of a killed workflow."""
    name = os.path.relpath(run, checkout)
    return "`make takeover`" if name == "." else f"`make takeover {shlex.quote(f'RUN={name}')}`"


def refusal(run: Path, checkout: Path) -> str:
    """Return what is said to whoever starts a second workflow in a locked folder: whose lock it is, and what to do."""
    driver = read(run)
    if driver is None:
        return (
            f"{_name(run, checkout)} is locked by a workflow that has not come to its first job, or was killed before "
            f"it. If it no longer runs (`pgrep -af snakemake` where it was started), {takeover_command(run, checkout)} "
            "frees the folder"
        )
    return told(driver, run, checkout)


def told(driver: Driver, run: Path, checkout: Path) -> str:
    """Return what is said to whoever starts a workflow in the folder of this driver's."""
    where = _name(run, checkout)
    match lives(driver):
        case True:
            return (
                f"{where} has a workflow that runs: {driver}. Wait for it, or stop it with Ctrl-C there"
                f" (`kill -INT {driver.pid}`), which cancels its jobs"
            )
        case False:
            return (
                f"{where} had a workflow that was killed: {driver}. Its jobs may still run. "
                f"{takeover_command(run, checkout)} sees to them and frees the folder; then give this command again"
            )
        case _:
            return (
                f"{where} has a workflow of another machine: {driver}. Whether it runs can only be seen there: give "
                f"this command on {driver.host}"
            )


def _name(run: Path, checkout: Path) -> str:
    name = os.path.relpath(run, checkout)
    return "this folder" if name == "." else name
