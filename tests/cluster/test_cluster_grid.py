"""The grid of cluster.yaml on a real SLURM: what its jobs ask for, and what comes out."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from on_slurm import Wish, asked, most_at_once, purpose

pytestmark = pytest.mark.cluster

# What a job is for -> how many there are, and what each asks for: a group for the time of all its jobs.
JOBS = {
    "generate_problems": (1, Wish(0, 1, 8000, 30)),
    "write_toy_corpus": (3, Wish(0, 1, 4000, 30)),
    "train_toy_model": (2, Wish(0, 1, 4000, 10)),
    "experts": (1, Wish(1, 1, 64000, 120)),
    "train_grpo": (6, Wish(1, 1, 64000, 720)),
    "answers": (6, Wish(1, 1, 32000, 90)),
}


def test_jobs_get_what_their_rules_ask_for(grid_on_slurm):
    jobs = grid_on_slurm.jobs()
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    wishes = Counter((purpose(job, JOBS), asked(job)) for job in jobs)
    assert wishes == {(name, wish): count for name, (count, wish) in JOBS.items()}


def test_gpus_are_all_used_and_never_shared(grid_on_slurm):
    with_gpu = [job for job in grid_on_slurm.jobs() if asked(job).gpus]
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
