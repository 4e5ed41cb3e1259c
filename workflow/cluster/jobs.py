"""The jobs of a run that outlived its workflow: SLURM's, and processes on this machine."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

STEPS = "slmcollab.steps"
BY_HAND = "slmcollab.steps.verify_provenance"  # only reads, and no rule starts it


class QueueError(RuntimeError):
    """SLURM is there but does not answer."""


@dataclass(frozen=True)
class Job:
    """A job in SLURM's queue; name: the rule and wildcards, as Snakemake's plugin writes them into the comment."""

    number: str
    state: str
    name: str

    def __str__(self) -> str:
        return f"{self.number} ({self.name}, {self.state})"


def queued(run: Path) -> list[Job]:
    """Return this user's jobs of the workflow in the folder `run` that SLURM still has to start or end.

    Empty without SLURM. Raises QueueError where squeue is there and fails.
    """
    if shutil.which("squeue") is None:
        return []
    return parse_queue(_slurm("squeue", "--me", "--noheader", "--format=%T|%i|%Z|%k"), run)


def parse_queue(listed: str, run: Path) -> list[Job]:
    """Return the jobs of one folder from lines of "state|number|working directory|comment"."""
    rows = [line.split("|", 3) for line in listed.splitlines() if line.count("|") >= 3]
    return [
        Job(number, state, comment.removeprefix("rule_").replace("_wildcards_", " "))
        for state, number, folder, comment in rows
        if comment.startswith("rule_") and os.path.realpath(folder) == os.path.realpath(run)
    ]


def cancel(jobs: list[Job], *options: str) -> None:
    """Cancel these jobs; options of scancel narrow it. Raises QueueError where scancel fails."""
    if jobs:
        _slurm("scancel", "--quiet", *options, *(job.number for job in jobs))


def _slurm(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise QueueError(f"{' '.join(command[:3])}: {done.stderr.strip()[-300:]}")
    return done.stdout


@dataclass(frozen=True)
class Found:
    """A process of this user on this machine: its command line, its program, and the SLURM job that it is part of."""

    process: psutil.Process
    words: list[str]
    program: str
    job: str

    @property
    def is_snakemake(self) -> bool:
        return self.program.startswith("python") and any(Path(word).name == "snakemake" for word in self.words[:3])

    @property
    def is_step(self) -> bool:
        ruled = any(STEPS in word and BY_HAND not in word for word in self.words)
        return ruled or (self.is_snakemake and "--mode" in self.words)


def drivers(run: Path) -> list[int]:
    """Return the ids of the Snakemake processes here that work in the folder `run` and are no jobs of another."""
    return [found.process.pid for found in _processes(run) if found.is_snakemake and not found.is_step]


def left_here(run: Path, driver_job: str) -> list[psutil.Process]:
    """Return the processes on this machine that are a step of the run or started by one, but no part of a SLURM job.

    driver_job: the SLURM job that the workflow itself was part of, so that its own processes count; "" for none.
    """
    steps = [found.process for found in _processes(run) if found.is_step and found.job in ("", driver_job)]
    return list({each.pid: each for step in steps for each in [step, *_started_by(step)]}.values())


def stop(processes: list[psutil.Process]) -> None:
    """Kill processes and return once they have ended; steps are made to be killed at any time."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=60)


def _started_by(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def _processes(run: Path) -> Iterator[Found]:
    """Yield this user's other processes that work in the folder `run`."""
    folder, user = os.path.realpath(run), os.getuid()
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.uids().real == user and process.cwd() == folder:
                job = process.environ().get("SLURM_JOB_ID", "")
                yield Found(process, process.cmdline(), Path(process.exe()).name, job)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
