"""`make takeover`: sees to the jobs of a workflow that was killed, so that the same command can go on with its work."""

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cluster import driver, jobs

EVERY_S = 5


class Refused(RuntimeError):
    """The folder is not to be taken over."""


def takeover(run: Path, *, now: bool, say: Callable[[str], None], every_s: float = EVERY_S) -> None:
    """Return once no job of the folder's killed workflow runs any more and its lock is gone.

    SLURM's jobs that wait are cancelled; those that run are waited for, since they write down themselves that they are
    done, or with `now` cancelled too. Processes on this machine are stopped: they would end without anybody to note it,
    and be made again. Raises Refused where the workflow lives or may live, jobs.QueueError where SLURM does not answer.
    """
    held_by = driver.read(run)
    _refuse_living(run, held_by)
    if held_by is None or held_by.slurm:
        _end_queued(run, now, say, every_s)
    processes = jobs.left_here(run, held_by.job if held_by else "")
    for process in processes:
        say(f"stopped process {process.pid}")
    jobs.stop(processes)
    shutil.rmtree(run / driver.LOCKS, ignore_errors=True)  # what `snakemake --unlock` does, which needs the targets
    driver.remove(run)


def _refuse_living(run: Path, held_by: driver.Driver | None) -> None:
    if not run.is_dir():
        raise Refused(f"{run}: no such folder; RUN= names the folder of a run")
    if held_by and driver.lives(held_by):
        raise Refused(f"{run}: its workflow runs: {held_by}. Stop it there with Ctrl-C (`kill -INT {held_by.pid}`)")
    if held_by and driver.lives(held_by) is None:
        raise Refused(
            f"{run}: its workflow was started on another machine: {held_by}. Call this there; if that machine is no "
            f"more, remove {run / driver.RECORD} and call again"
        )
    if snakemakes := jobs.drivers(run):
        raise Refused(f"{run}: Snakemake runs in it, process {snakemakes[0]}: wait for it, or stop it first")


def _end_queued(run: Path, now: bool, say: Callable[[str], None], every_s: float) -> None:
    told: set[tuple[str, str]] = set()

    def tell(deed: str, job: jobs.Job) -> None:
        if (deed, job.number) not in told:
            told.add((deed, job.number))
            say(f"{deed} {job}")

    while left := jobs.queued(run):
        waiting = [job for job in left if job.state == "PENDING"]
        running = [job for job in left if job.state != "PENDING"]
        for job in waiting:
            tell("cancelled", job)
        jobs.cancel(waiting, "--state=PENDING")  # one that has started meanwhile goes on
        for job in running:
            tell("cancelled" if now else "waiting for", job)
        if now:
            jobs.cancel(running)
        time.sleep(every_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, nargs="?", default=Path(), help="the folder of the run")
    parser.add_argument("--now", action="store_true", help="cancel running jobs too; trainings resume")
    arguments = parser.parse_args()
    try:
        takeover(arguments.run, now=arguments.now, say=lambda line: print(line, flush=True))
    except (Refused, jobs.QueueError) as error:
        sys.exit(str(error))
    print("free: give the same command again")


if __name__ == "__main__":
    main()
