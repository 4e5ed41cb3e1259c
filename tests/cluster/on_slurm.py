"""A checkout, a cluster, and the way to run the one on the other."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from halting import halted, halting

from slurm import Cluster

HERE = Path(__file__).parent
LIMIT = 900  # seconds for one Snakemake
CHECKPOINT = "*/*/complete.json"  # in a training's folder of checkpoints


@dataclass(frozen=True)
class OnSlurm:
    """A checkout whose workflow runs on a cluster under the profile that ships, in runs/cluster."""

    folder: Path
    cluster: Cluster
    configs: tuple[str, ...] = ("tests/cluster/cluster.yaml",)
    programs: tuple[Path, ...] = ()  # folders of programs that come before all others

    @property
    def run(self) -> Path:
        return self.folder / "runs/cluster"

    def start(self, *arguments: str) -> subprocess.Popen:
        """Start Snakemake as the README says, but for its patience."""
        options = ["--profile", "slurm", "--directory", "runs/cluster", "--sdm", "env-modules"]
        configs = ["--configfile", "workflow/config/tiny.yaml", *self.configs]
        return self.start_python(str(HERE / "fast_polling.py"), *arguments, *options, *configs)

    def start_python(self, *arguments: str) -> subprocess.Popen:
        """Start Python at the top of the checkout, with the cluster at hand."""
        environment = {**os.environ, **self.cluster.environment(), "OMP_NUM_THREADS": "1", "PYTHONPATH": "workflow"}
        binaries = Path(sys.executable).parent
        environment["PATH"] = os.pathsep.join([*map(str, self.programs), str(binaries), environment["PATH"]])
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def jobs(self, **having: str) -> list[dict[str, str]]:
        """Return the jobs of this checkout, as Cluster.jobs does."""
        return self.cluster.jobs(WorkDir=str(self.run.resolve()), **having)


class Wish(NamedTuple):
    """What a job or a group asks for."""

    gpus: int
    cpus: int
    mem_mb: int
    minutes: int


def asked(job: dict[str, str]) -> Wish:
    cpus, memory, unit = re.search(r"cpu=(\d+),mem=([\d.]+)([MG])", job["TRES"]).groups()
    days, hours, minutes = re.match(r"(?:(\d+)-)?(\d+):(\d+):", job["TimeLimit"]).groups(default="0")
    gpus = int(job.get("TresPerJob", "gres:gpu:0").removeprefix("gres:gpu:"))
    mem_mb = int(float(memory) * {"M": 1, "G": 1024}[unit])
    return Wish(gpus, int(cpus), mem_mb, (24 * int(days) + int(hours)) * 60 + int(minutes))


def purpose(job: dict[str, str], names: Iterable[str]) -> str:
    """Return which of these rules and groups a job is of."""
    return next(name for name in names if job["Comment"].startswith(f"rule_{name}_"))


def most_at_once(jobs: list[dict[str, str]]) -> int:
    """Return the largest number of jobs that ran at one time."""
    starts = Counter(datetime.fromisoformat(job["StartTime"]) for job in jobs)
    starts.subtract(Counter(datetime.fromisoformat(job["EndTime"]) for job in jobs))
    running = [0]
    for time in sorted(starts):
        running.append(running[-1] + starts[time])
    return max(running)


@dataclass(frozen=True)
class Training:
    """One training of the grid, and what it left in a run."""

    method: str
    team: str
    seed: int

    @property
    def path(self) -> str:
        return f"toy_sums/{self.method}/{self.team}/seed{self.seed}"

    @property
    def target(self) -> str:
        return f"results/musketeers/{self.path}/run.json"

    @property
    def comment(self) -> str:
        """What SLURM has as the comment of its jobs."""
        return f"rule_train_grpo_wildcards_toy_sums_{self.method}_{self.team}_{self.seed}"

    def outputs(self, run: Path) -> dict[str, str]:
        """Return the digests of the trained weights and of the history."""
        return json.loads((run / self.target).read_text())["outputs"]

    def steps(self, run: Path) -> list[int]:
        """Return the steps that the last attempt took; its log starts anew with each."""
        log = run / f"results/logs/train_grpo/{self.path}.log"
        return [int(step) for step in re.findall(r"^step (\d+)/", log.read_text(), re.MULTILINE)]


@dataclass(frozen=True)
class Held:
    """A training frozen half-way: its job, its process, and the step of its last whole checkpoint."""

    job: str
    pid: int
    step: int


def freezing(on_slurm: OnSlurm) -> contextlib.AbstractContextManager[None]:
    """Let trainings that start within the block freeze at their first checkpoint: what comes finds them half-way."""
    return halting(on_slurm.folder / "workflow", "train_grpo", CHECKPOINT)


def hold(training: Training, on_slurm: OnSlurm, snakemake: subprocess.Popen) -> Held:
    """Return a training that freezes (see `freezing`), once it does."""
    folder = on_slurm.run / "checkpoints/musketeers" / training.path
    process = halted(folder, snakemake)
    holder = json.loads((folder / "holder.json").read_text())
    assert not (on_slurm.run / training.target).exists()
    steps = [int(marker.parent.name.removeprefix("checkpoint-")) for marker in folder.glob(CHECKPOINT)]
    return Held(holder["job"], process.pid, max(steps))


TRAININGS = [Training(*run, seed) for run in (("single", "none"), ("hidden_state", "toy")) for seed in (0, 1, 2)]
