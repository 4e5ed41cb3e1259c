"""What a workflow does when it starts and when it fails, so that no job runs without it, or twice."""

import contextlib
import shutil
import time
from pathlib import Path

from cluster import driver, jobs

PROGRAMS = Path("workflow/cluster/bin")  # of a checkout; the slurm profile puts it on PATH
WITHIN_S = 60  # SLURM gives a cancelled job KillWait, 30 s by default


def left_over(run: Path, checkout: Path, *, slurm: bool) -> list[str]:
    """Return a line that says why this process, which has a lock there, may start nothing in the folder `run`, or none.

    Another workflow, which makes other files, runs in it, or jobs of an earlier one do. slurm: whether this workflow
    sends its jobs to SLURM.
    """
    recorded = driver.recorded(run)
    if recorded and not recorded.is_this() and driver.lives(recorded) is not False:
        return [driver.told(recorded, run, checkout)]
    left = [f"job {job}" for job in jobs.queued(run)] if slurm else []
    left += [f"process {process.pid}" for process in jobs.left_here(run, "")]
    command = driver.takeover_command(run, checkout)
    return [f"an earlier workflow left behind: {', '.join(left)}. {command} sees to that"] if left else []


def misplaced(checkout: Path, *, slurm: bool) -> list[str]:
    """Return a line that says why the plugin would ask SLURM's own squeue, or none. slurm: as in `left_over`."""
    found = Path(shutil.which("squeue") or "squeue")
    if not slurm or found.parent.resolve() == (checkout / PROGRAMS).resolve():
        return []
    return [f"{PROGRAMS} is not first on PATH: start Snakemake from {checkout}, with --profile slurm"]


def fail(run: Path, *, slurm: bool, within_s: float = WITHIN_S) -> None:
    """Return once SLURM has none of the jobs of this workflow, which has failed or was stopped.

    Snakemake cancels them itself, but those that it asks SLURM about when Ctrl-C comes are not on its list then.
    Does nothing where another workflow is written down: the jobs are that one's.
    """
    recorded = driver.recorded(run)
    if recorded is None or not recorded.is_this():
        return
    driver.remove(run)
    end = time.monotonic() + within_s
    while slurm and time.monotonic() < end:
        with contextlib.suppress(jobs.QueueError):  # a controller that is away for a while
            if not (left := jobs.queued(run)):
                return
            jobs.cancel(left)
        time.sleep(1)
