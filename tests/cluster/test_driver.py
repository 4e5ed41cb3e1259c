"""What becomes of SLURM's jobs when the workflow that submitted them is stopped or killed."""

import contextlib
import dataclasses
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest
from checkout import Checkout, copy_checkout
from on_slurm import LIMIT, Held, OnSlurm, Training, freezing, hold

from cluster import driver
from slurm import wait_until

pytestmark = pytest.mark.cluster

CONFIGS = ("tests/workflow/micro.yaml", "tests/cluster/long.yaml")
FIRST, SECOND = PAIR = [Training("single", "none", seed) for seed in (0, 1)]
TARGETS = [training.target for training in PAIR]
SHUTDOWN = "The executor shuts down."  # says fast_polling.py
# A question about jobs that finds the file `hold` is not answered until that is gone, and can be seen to be asked.
SLOW = """\
#!/bin/sh
case "$*" in *"--format=%i|%T"*) while [ -e "$0.hold" ]; do touch "$0.asked"; sleep 0.1; done ;; esac
exec /usr/bin/squeue "$@"
"""


def finish(on_slurm: OnSlurm, *, fails: bool = False) -> str:
    """Run the workflow and return what it prints."""
    process = on_slurm.start(*TARGETS)
    output = process.communicate(timeout=LIMIT)[0]
    assert (process.returncode != 0) == fails, output[-4000:]
    return output


def trainings(on_slurm: OnSlurm, **having: str) -> list[dict[str, str]]:
    return [job for job in on_slurm.jobs(**having) if job.get("Comment", "").startswith("rule_train_grpo")]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A checkout in which both trainings were done on this machine, without a cluster."""
    folder = copy_checkout(tmp_path_factory.mktemp("local") / "slmcollab")
    Checkout(folder, tuple(folder / name for name in CONFIGS)).snakemake(*TARGETS)
    (folder / "runs/tiny").rename(folder / "runs/cluster")
    return folder


@pytest.fixture
def on_slurm(trained, tmp_path, cluster):
    """The same checkout with the trainings still to do, on a cluster of which one GPU is free."""
    folder = Path(shutil.copytree(trained, tmp_path / "slmcollab", symlinks=True)).resolve()
    shutil.rmtree(folder / "runs/cluster/results/musketeers")
    blockers = [cluster.block(node, 600) for node in cluster.nodes[:2]]
    wait_until(lambda: all(cluster.job(blocker)["JobState"] == "RUNNING" for blocker in blockers), "two GPUs taken")
    yield OnSlurm(folder, cluster, CONFIGS)
    cluster.run("scancel", "--me")
    wait_until(lambda: not cluster.run("squeue", "--noheader"), "the queue is empty")


@pytest.fixture
def slow_squeue(on_slurm) -> Path:
    """A squeue that can be held; see SLOW."""
    program = on_slurm.folder / "slow/squeue"
    program.parent.mkdir()
    program.write_text(SLOW)
    program.chmod(0o755)
    return program


@pytest.fixture
def half_way(on_slurm, request):
    """A workflow one of whose trainings is frozen after a checkpoint, while the other waits for a GPU.

    Also what is frozen.
    """
    slow = "slow_squeue" in request.fixturenames
    here = dataclasses.replace(on_slurm, programs=(on_slurm.folder / "slow",) * slow)
    with contextlib.ExitStack() as at_the_end:
        with freezing(here):
            workflow = here.start(*TARGETS)
            at_the_end.callback(workflow.wait)
            at_the_end.callback(workflow.kill)
            watch = threading.Timer(2 * LIMIT, workflow.kill)  # so that nobody waits for ever for what it says
            watch.start()
            at_the_end.callback(watch.cancel)
            states = ("PENDING", "RUNNING")
            wait_until(lambda: all(trainings(here, JobState=state) for state in states), "both", LIMIT)
            [running] = trainings(here, JobState="RUNNING")
            held = hold(next(one for one in PAIR if one.comment == running["Comment"]), here, workflow)
        yield workflow, held


def end_as_undisturbed_ones_do(on_slurm: OnSlurm, trained: Path) -> bool:
    return all(one.outputs(on_slurm.run) == one.outputs(trained / "runs/cluster") for one in PAIR)


def first_steps(on_slurm: OnSlurm) -> list[int]:
    """Return the first step of each training's last attempt, in ascending order."""
    return sorted(one.steps(on_slurm.run)[0] for one in PAIR)


def test_ctrl_c_cancels_the_jobs_even_in_the_middle_of_a_question_about_them(slow_squeue, half_way, on_slurm, trained):
    workflow, held = half_way
    hold_file, asked = (slow_squeue.with_name(f"squeue.{name}") for name in ("hold", "asked"))
    hold_file.touch()
    wait_until(asked.exists, "asked about jobs")
    workflow.send_signal(signal.SIGINT)
    output = ""
    while SHUTDOWN not in output and (line := workflow.stdout.readline()):
        output += line
    hold_file.unlink()  # what Snakemake cancels, it has cancelled
    output += workflow.stdout.read()
    workflow.wait()
    assert "Terminating processes on user request" in output
    assert on_slurm.cluster.run("squeue", "--noheader", "--format=%j").split() == ["blocker", "blocker"]
    assert not driver.locked(on_slurm.run)
    assert not (on_slurm.run / driver.RECORD).exists()
    finish(on_slurm)
    assert end_as_undisturbed_ones_do(on_slurm, trained)
    assert first_steps(on_slurm) == [1, held.step + 1]  # the one that ran went on


@pytest.mark.parametrize("now", [False, True], ids=["awaited", "cancelled"])
def test_a_killed_workflow_is_taken_over(half_way, on_slurm, trained, now):
    workflow, held = half_way
    workflow.kill()
    workflow.wait()
    [waiting] = trainings(on_slurm, JobState="PENDING")
    refused = finish(on_slurm, fails=True)
    assert "had a workflow that was killed" in refused
    assert "`make takeover RUN=runs/cluster`" in refused
    assert len(trainings(on_slurm)) == 2

    said = take_over(on_slurm, held, now=now)
    assert f"cancelled {waiting['JobId']} (train_grpo" in said
    assert f"{'cancelled' if now else 'waiting for'} {held.job} (train_grpo" in said
    states = [on_slurm.cluster.job(job)["JobState"] for job in (held.job, waiting["JobId"])]
    assert states == ["CANCELLED" if now else "COMPLETED", "CANCELLED"]

    finish(on_slurm)
    assert end_as_undisturbed_ones_do(on_slurm, trained)
    assert len(trainings(on_slurm, JobState="COMPLETED")) == 2
    assert len(trainings(on_slurm)) == (4 if now else 3)
    assert first_steps(on_slurm) == [1, held.step + 1 if now else 1]


def take_over(on_slurm: OnSlurm, held: Held, *, now: bool) -> str:
    """Return what taking over says; a training that is to be awaited thaws once that has been said."""
    process = on_slurm.start_python("-m", "cluster.takeover", "runs/cluster", *["--now"] * now)
    said = ""
    while line := process.stdout.readline():
        said += line
        if line.startswith("waiting for"):
            os.kill(held.pid, signal.SIGCONT)
    assert process.wait() == 0, said
    return said
