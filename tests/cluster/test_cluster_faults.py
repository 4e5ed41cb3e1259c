"""Trainings that SLURM ends early, each in its own way, resume from checkpoints and end as undisturbed ones do."""

import contextlib
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from on_slurm import LIMIT, TRAININGS, Held, OnSlurm, Training, freezing, hold

from slurm import Cluster, wait_until

pytestmark = pytest.mark.cluster

# A training takes some 700 MB here.
MEMORY_MB = 1400
SILENT = "does not answer, asking again later"
PARTITION = "'lowcancel' if wildcards.method == 'hidden_state' and wildcards.seed == '2' else 'low'"


def swell(_: Cluster, held: Held) -> None:
    """Make a frozen process use the memory that it reserved and never touched, some GB of it, until it is killed."""
    folder = Path(f"/proc/{held.pid}")
    with contextlib.suppress(ProcessLookupError), (folder / "mem").open("r+b", buffering=0) as memory:
        for where, access, _, _, inode, *name in map(str.split, (folder / "maps").read_text().splitlines()):
            if access.endswith("p") and inode == "0" and name in ([], ["[heap]"]):
                start, end = (int(address, 16) for address in where.split("-"))
                memory.seek(start)
                memory.write(bytes(end - start))


def take_node(cluster: Cluster, held: Held) -> None:
    """Lose the node of a job; it comes back once SLURM has given it up."""
    node = cluster.job(held.job)["NodeList"]
    cluster.lose_node(node)
    wait_until(lambda: cluster.job(held.job)["JobState"] != "RUNNING", f"{node} given up")
    cluster.start_node(node)


def block(cluster: Cluster, held: Held) -> None:
    cluster.block(cluster.job(held.job)["NodeList"], seconds=3)


# Training -> what befalls it, and how SLURM says that its first job ended; one that it queues again has not ended.
FAULTS = dict(
    zip(
        TRAININGS,
        [
            (lambda cluster, held: cluster.cancel(held.job), "CANCELLED"),
            (lambda cluster, held: cluster.end_time(held.job), "TIMEOUT"),
            (swell, "FAILED"),
            (block, "requeued"),
            (take_node, "requeued"),
            (block, "PREEMPTED"),
        ],
        strict=True,
    )
)


@pytest.fixture(scope="module")
def struck(grid_on_slurm, tmp_path_factory):
    """A copy of the finished grid whose trainings were run again, each struck once, the controller away for a while.

    Also what was held, by training, and what Snakemake said.
    """
    folder = shutil.copytree(grid_on_slurm.folder, tmp_path_factory.mktemp("struck") / "slmcollab", symlinks=True)
    on_slurm, cluster = OnSlurm(folder, grid_on_slurm.cluster), grid_on_slurm.cluster
    targets = [training.target for training in TRAININGS]
    resources = [f"train_grpo:mem_mb={MEMORY_MB} * attempt", f"train_grpo:slurm_partition={PARTITION}"]
    held, said, controller_back = {}, [], threading.Event()

    def strike(training: Training) -> None:
        held[training] = hold(training, on_slurm, process)
        controller_back.wait()
        FAULTS[training][0](cluster, held[training])

    def listen() -> None:
        for line in process.stdout:
            said.append(line)

    with freezing(on_slurm), ThreadPoolExecutor(len(TRAININGS) + 1) as pool:
        process = on_slurm.start(*targets, "--forcerun", "train_grpo", "--set-resources", *resources)
        listener = pool.submit(listen)
        strikes = [pool.submit(strike, training) for training in TRAININGS]
        try:
            wait_until(lambda: len(held) == cluster.gpus or listener.done(), "a training held per GPU", LIMIT)
            cluster.stop_controller()
            wait_until(lambda: sum(SILENT in line for line in said) >= 2 or listener.done(), "silence seen", LIMIT)
            cluster.start_controller()
            wait_until(cluster.answers, "the controller back")
            controller_back.set()
            for future in [*strikes, listener]:
                future.result(LIMIT)
        except BaseException:
            controller_back.set()
            process.kill()  # its jobs end with the cluster
            raise
    return on_slurm, held, "".join(said), process.wait()


def test_all_trainings_end_after_all(struck):
    _, _, said, status = struck
    assert status == 0, said[-6000:]


def test_a_silent_controller_is_asked_again(struck):
    assert struck[2].count(SILENT) >= 2


def test_what_failed_failed_for_its_memory(struck):
    assert "Exceeded job memory limit" in struck[2]


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.path)
def test_each_fault_was_the_one_meant(struck, training):
    on_slurm, held, _, _ = struck
    jobs = on_slurm.jobs(Comment=training.comment)
    first = next(job for job in jobs if job["JobId"] == held[training].job)
    if FAULTS[training][1] == "requeued":  # by SLURM, and not by Snakemake as well
        assert len(jobs) == 1
        assert (first["JobState"], first["Restarts"]) == ("COMPLETED", "1")
    else:
        assert [job["JobState"] for job in jobs] == [FAULTS[training][1], "COMPLETED"]


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.path)
def test_each_training_resumes_and_ends_with_the_same_weights(struck, grid_on_slurm, training):
    on_slurm, held, _, _ = struck
    assert training.steps(grid_on_slurm.run)[0] == 1
    assert training.steps(on_slurm.run)[0] == held[training].step + 1
    assert training.outputs(on_slurm.run) == training.outputs(grid_on_slurm.run)
