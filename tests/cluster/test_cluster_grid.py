"""The grid of cluster.yaml on a real SLURM: what its jobs ask for, and what comes out."""

import os
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster

# What a job is for -> how many there are, and what each asks for: (GPUs, MB, minutes), the sum over a group's jobs.
JOBS = {
    "generate_problems": (1, (0, 8000, 30)),
    "write_toy_corpus": (3, (0, 4000, 30)),
    "train_toy_model": (2, (0, 4000, 10)),
    "experts": (1, (1, 64000, 120)),
    "train_grpo": (6, (1, 64000, 720)),
    "answers": (6, (1, 32000, 90)),
}


def asked(job: dict[str, str]) -> tuple[int, int, int]:
    memory = re.search(r"mem=([\d.]+)([MG])", job["TRES"])
    hours, minutes, _ = map(int, job["TimeLimit"].split(":"))
    gpus = int(job.get("TresPerJob", "gres:gpu:0").removeprefix("gres:gpu:"))
    return gpus, int(float(memory[1]) * {"M": 1, "G": 1024}[memory[2]]), 60 * hours + minutes


def purpose(job: dict[str, str]) -> str:
    """Return the rule or the group that a job is of."""
    return next(name for name in JOBS if job["Comment"].startswith((f"rule_{name}", f"group_{name}")))


def most_at_once(jobs: list[dict[str, str]]) -> int:
    """Return the largest number of jobs that ran at one time."""
    starts = Counter(datetime.fromisoformat(job["StartTime"]) for job in jobs)
    starts.subtract(Counter(datetime.fromisoformat(job["EndTime"]) for job in jobs))
    running = [0]
    for time in sorted(starts):
        running.append(running[-1] + starts[time])
    return max(running)


def test_jobs_get_what_their_rules_ask_for(grid_on_slurm):
    jobs = grid_on_slurm.jobs()
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert {(purpose(job), asked(job)) for job in jobs} == {(name, wish) for name, (_, wish) in JOBS.items()}
    assert Counter(map(purpose, jobs)) == {name: count for name, (count, _) in JOBS.items()}


def test_gpus_are_all_used_and_never_shared(grid_on_slurm):
    with_gpu = [job for job in grid_on_slurm.jobs() if asked(job)[0]]
    assert most_at_once(with_gpu) == grid_on_slurm.cluster.gpus
    for node in grid_on_slurm.cluster.nodes:
        assert most_at_once([job for job in with_gpu if job["NodeList"] == node]) == 1


def test_the_table_is_that_of_a_local_run(grid_on_slurm):
    folder, binaries = grid_on_slurm.folder, str(Path(sys.executable).parent)
    configs = ["workflow/config/tiny.yaml", "tests/cluster/cluster.yaml"]
    where = ["--profile", "workflow/profiles/tiny", "--directory", "runs/local", "--configfile", *configs]
    environment = os.environ | {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "snakemake", "results/table1.csv", *where]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    table = (grid_on_slurm.run / "results/table1.csv").read_bytes()
    assert table == (folder / "runs/local/results/table1.csv").read_bytes()
    assert re.search(rb"single,none,accuracy,[1-9]", table)  # equal zeros would prove nothing
