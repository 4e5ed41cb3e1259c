"""What becomes of SLURM's jobs when the workflow that submitted them is stopped or killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import Checkout, copy_checkout
from cluster import driver

from slurm import wait_until

pytestmark = pytest.mark.cluster

HERE = Path(__file__).parent
CONFIGS = (HERE.parent / "workflow/micro.yaml", HERE / "long.yaml")
RUN = Path("runs/cluster")
SEEDS = ("0", "1")


def adapter(seed: str) -> str:
    return f"results/musketeers/toy_sums/single/none/seed{seed}/adapter"


# A question about jobs takes its time, and can be seen to be asked.
SLOW = """\
#!/bin/sh
case "$*" in *"--format=%i|%T"*) touch "$0.asked"; sleep 3; rm "$0.asked" ;; esac
exec /usr/bin/squeue "$@"
"""


class OnSlurm:
    """A checkout, a cluster, and the way to run the one on the other."""

    def __init__(self, folder: Path, cluster) -> None:
        self.folder, self.run, self.cluster = folder, folder / RUN, cluster
        self.programs = [str(Path(sys.executable).parent)]  # before all others on PATH

    def start(self, *targets: str) -> subprocess.Popen:
        configs = ["workflow/config/tiny.yaml", *map(str, CONFIGS)]
        options = ["--profile", "slurm", "--sdm", "env-modules", "--directory", str(RUN), "--configfile", *configs]
        command = [sys.executable, str(HERE / "fast_polling.py"), *targets, *options]
        return self._popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def takeover(self, *options: str) -> str:
        command = [sys.executable, "-m", "cluster.takeover", str(RUN), *options]
        process = self._popen(command, stdout=subprocess.PIPE, text=True)
        said = process.communicate(timeout=300)[0]
        assert process.returncode == 0, said
        return said

    def _popen(self, command: list[str], **options) -> subprocess.Popen:
        environment = {**os.environ, **self.cluster.environment(), "OMP_NUM_THREADS": "1"}
        environment |= {"PATH": os.pathsep.join([*self.programs, environment["PATH"]]), "PYTHONPATH": "workflow"}
        return subprocess.Popen(command, cwd=self.folder, env=environment, **options)

    def finish(self, *targets: str, fails: bool = False) -> str:
        process = self.start(*targets)
        output = process.communicate(timeout=600)[0]
        assert (process.returncode != 0) == fails, output[-4000:]
        return output

    def trainings(self, **having: str) -> list[dict[str, str]]:
        jobs = self.cluster.jobs(WorkDir=str(self.run), **having)
        return [job for job in jobs if job.get("Comment", "").startswith("rule_train_grpo")]

    def checkpoint(self) -> Path | None:
        """Return a whole checkpoint of any training, None while there is none."""
        return max(
            (self.run / "checkpoints").rglob("complete.json"), default=None, key=lambda path: path.stat().st_mtime
        )

    def made(self, seed: str) -> dict[str, str]:
        return json.loads((self.run / adapter(seed)).with_name("run.json").read_text())["outputs"]

    def steps(self, seed: str) -> str:
        return (self.run / f"results/logs/train_grpo/toy_sums/single/none/seed{seed}.log").read_text()


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Checkout:
    """A checkout in which both trainings were done on this machine, without a cluster."""
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("local") / "slmcollab"), CONFIGS)
    checkout.snakemake(*map(adapter, SEEDS))
    return checkout


@pytest.fixture
def on_slurm(trained, tmp_path, cluster):
    """The same checkout with the trainings still to do, on a cluster of which one GPU is free."""
    folder = Path(shutil.copytree(trained.folder, tmp_path / "slmcollab", symlinks=True)).resolve()
    (folder / "runs/tiny").rename(folder / RUN)
    shutil.rmtree(folder / RUN / "results/musketeers")
    blockers = [cluster.block(node, 600) for node in cluster.nodes[:2]]
    wait_until(lambda: all(cluster.job(blocker)["JobState"] == "RUNNING" for blocker in blockers), "two GPUs taken")
    yield OnSlurm(folder, cluster)
    cluster.run("scancel", "--me")
    wait_until(lambda: not cluster.run("squeue", "--noheader"), "the queue is empty")


@pytest.fixture
def training(on_slurm):
    """A workflow one of whose two trainings runs and has a checkpoint, while the other waits for a GPU."""
    workflow = on_slurm.start(*map(adapter, SEEDS))
    try:
        wait_until(lambda: on_slurm.checkpoint() and on_slurm.trainings(JobState="PENDING"), "a training runs", 300)
        yield workflow
    finally:
        workflow.kill()
        workflow.wait()


def same_as_undisturbed(on_slurm: OnSlurm, trained: Checkout) -> bool:
    undisturbed = OnSlurm(trained.folder, None)
    undisturbed.run = trained.run
    return all(on_slurm.made(seed) == undisturbed.made(seed) for seed in SEEDS)


@pytest.fixture
def slow_squeue(on_slurm):
    """The file that is there while a squeue, which takes three seconds, is asked about jobs."""
    program = on_slurm.folder / "slow/squeue"
    program.parent.mkdir()
    program.write_text(SLOW)
    program.chmod(0o755)
    on_slurm.programs.append(str(program.parent))
    return program.with_name("squeue.asked")


def test_ctrl_c_cancels_the_jobs_even_in_the_middle_of_a_question_about_them(slow_squeue, on_slurm, training, trained):
    wait_until(slow_squeue.exists, "asked about jobs")
    training.send_signal(signal.SIGINT)
    output = training.communicate(timeout=120)[0]
    assert "Terminating processes on user request" in output
    assert on_slurm.cluster.run("squeue", "--noheader", "--format=%j").split() == ["blocker", "blocker"]
    assert not driver.locked(on_slurm.run)
    assert not (on_slurm.run / driver.RECORD).exists()
    on_slurm.finish(*map(adapter, SEEDS))
    assert same_as_undisturbed(on_slurm, trained)
    assert sorted("step 1/" in on_slurm.steps(seed) for seed in SEEDS) == [False, True]  # the one that ran went on


@pytest.mark.parametrize("now", [False, True], ids=["awaited", "cancelled"])
def test_a_killed_workflow_is_taken_over(on_slurm, training, trained, now):
    training.kill()
    training.wait()
    [running] = on_slurm.trainings(JobState="RUNNING")
    [waiting] = on_slurm.trainings(JobState="PENDING")

    if not now:  # it takes a while, in which the training might come to its end
        refused = on_slurm.finish(*map(adapter, SEEDS), fails=True)
        assert "had a workflow that was killed" in refused
        assert f"`make takeover RUN={RUN}`" in refused
        assert len(on_slurm.trainings()) == 2

    said = on_slurm.takeover(*["--now"] * now)
    assert f"cancelled {waiting['JobId']} (train_grpo" in said
    assert f"{'cancelled' if now else 'waiting for'} {running['JobId']} (train_grpo" in said
    states = [on_slurm.cluster.job(job["JobId"])["JobState"] for job in (running, waiting)]
    assert states == ["CANCELLED" if now else "COMPLETED", "CANCELLED"]

    on_slurm.finish(*map(adapter, SEEDS))
    assert same_as_undisturbed(on_slurm, trained)
    assert len(on_slurm.trainings(JobState="COMPLETED")) == 2
    assert len(on_slurm.trainings()) == (4 if now else 3)
    assert sorted("step 1/" in on_slurm.steps(seed) for seed in SEEDS) == ([False, True] if now else [True, True])
