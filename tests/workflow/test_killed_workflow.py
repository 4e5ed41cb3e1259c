"""A workflow that was killed hard: nothing starts beside what it left running, and what was done is not done again."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from halting import halted, halting

from cluster import driver, hooks, jobs, takeover

TARGET = "results/musketeers/toy_sums/single/none/seed1/adapter"
CHECKPOINTS = "checkpoints/musketeers/toy_sums/single/none/seed1"


def made(checkout):
    """Return the digests of the adapter and the history that the training of TARGET made."""
    return json.loads((checkout.run / TARGET).with_name("run.json").read_text())["outputs"]


@pytest.fixture
def killed(checkout):
    """A checkout whose workflow was killed while it trained, what is left of that, and what it had made before.

    The training stands still right after its first checkpoint.
    """
    undisturbed = made(checkout)
    arguments = (TARGET, "--forcerun", TARGET)
    training = []
    try:
        with halting(checkout.folder / "workflow", "train_grpo", "*/checkpoint-2/complete.json"):
            workflow = checkout.start(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            halted(checkout.run / CHECKPOINTS, workflow)
        training = jobs.left_here(checkout.run, "")
        workflow.kill()
        workflow.wait()
        yield checkout, training, undisturbed
    finally:
        workflow.kill()
        jobs.stop(training or jobs.left_here(checkout.run, ""))


def test_a_killed_workflow_is_taken_over_and_its_training_goes_on(killed):
    checkout, training, undisturbed = killed
    assert training
    refused = checkout.snakemake(TARGET, fails=True)
    assert "runs/tiny had a workflow that was killed: process" in refused
    assert "`make takeover RUN=runs/tiny`" in refused
    assert "--unlock" not in refused
    assert checkout.planned(TARGET) == {"train_grpo": {TARGET}}  # a dry run needs no lock

    checkout.snakemake("--unlock", TARGET)  # as Snakemake advises
    refused = checkout.snakemake(TARGET, fails=True)
    assert f"an earlier workflow left behind: process {training[0].pid}" in refused

    said = []
    takeover.takeover(checkout.run, now=False, say=said.append)
    assert sorted(said) == sorted(f"stopped process {process.pid}" for process in training)
    assert not any(process.is_running() for process in training)

    checkout.snakemake(TARGET)
    log = (checkout.run / "results/logs/train_grpo/toy_sums/single/none/seed1.log").read_text()
    assert "step 3/4" in log
    assert "step 2/4" not in log
    assert made(checkout) == undisturbed
    assert "Nothing to be done" in checkout.snakemake(TARGET)


def hold(run: Path) -> Path:
    """Lock a folder as Snakemake does."""
    lock = run / driver.LOCKS / "0.input.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    return lock


def write(run: Path, **changes) -> driver.Driver:
    """Write down this process, with changes, as the driver of a locked folder."""
    hold(run)
    other = dataclasses.replace(driver.this_one(slurm=False), **changes)
    (run / driver.RECORD).write_text(json.dumps(dataclasses.asdict(other)))
    return other


def test_a_living_workflow_is_named_and_not_taken_over(tmp_path):
    hold(tmp_path)
    driver.write(tmp_path, slurm=False)
    said = driver.refusal(tmp_path, tmp_path)
    assert f"this folder has a workflow that runs: process {os.getpid()} on" in said
    assert f"`kill -INT {os.getpid()}`" in said
    with pytest.raises(takeover.Refused, match=f"its workflow runs: process {os.getpid()}"):
        takeover.takeover(tmp_path, now=False, say=print)
    assert driver.locked(tmp_path)


def test_another_process_with_the_same_number_is_not_the_driver(tmp_path):
    write(tmp_path, ticks=1)
    assert "this folder had a workflow that was killed" in driver.refusal(tmp_path, tmp_path)
    assert f"`make takeover RUN={tmp_path.name}`" in driver.refusal(tmp_path, tmp_path.parent)
    takeover.takeover(tmp_path, now=False, say=print)
    assert not driver.locked(tmp_path)
    assert driver.read(tmp_path) is None


def test_a_workflow_that_ended_and_waits_to_be_collected_is_dead():
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    ticks = int(Path(f"/proc/{ended.pid}/stat").read_text().split()[21])
    assert driver.lives(dataclasses.replace(driver.this_one(slurm=False), pid=ended.pid, ticks=ticks)) is False
    ended.wait()


def test_another_machine_cannot_be_looked_into(tmp_path):
    write(tmp_path, host="login2")
    assert "give this command on login2" in driver.refusal(tmp_path, tmp_path)
    with pytest.raises(takeover.Refused, match=r"another machine.*remove"):
        takeover.takeover(tmp_path, now=False, say=print)


def program(folder: Path, name: str, script: str, monkeypatch) -> None:
    """Put a shell script before all programs of that name."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    if str(folder) not in os.environ["PATH"].split(os.pathsep):
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


@pytest.mark.parametrize(("answer", "lives"), [("echo 7; echo 4711", True), ("echo 7", False), ("exit 1", None)])
def test_a_driver_that_is_itself_a_job_is_looked_up_in_the_queue(tmp_path, monkeypatch, answer, lives):
    program(tmp_path / "programs", "squeue", answer, monkeypatch)
    assert driver.lives(write(tmp_path, host="node3", job="4711")) is lives


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A queue with a job of the folder tmp_path, kept in a file that scancel empties."""
    file = tmp_path / "queue"
    file.write_text(f"RUNNING|4711|{tmp_path}|rule_train_grpo_wildcards_toy_sums\n")
    program(tmp_path / "programs", "squeue", f"cat {file}", monkeypatch)
    program(tmp_path / "programs", "scancel", f"echo $* >{tmp_path}/cancelled; : >{file}", monkeypatch)
    return file


def test_jobs_that_snakemake_forgets_on_ctrl_c_are_cancelled(tmp_path, queue):
    write(tmp_path, slurm=True)
    hooks.fail(tmp_path, slurm=True)
    assert (tmp_path / "cancelled").read_text() == "--quiet 4711\n"
    assert driver.read(tmp_path) is None


def test_jobs_are_cancelled_until_none_is_left(tmp_path, queue, monkeypatch):
    write(tmp_path, slurm=True)
    monkeypatch.setattr(hooks.time, "sleep", lambda seconds: None)
    # the first time, another job comes in meanwhile
    script = f"echo $* >>{tmp_path}/cancelled; [ -e {queue}.second ] && : >{queue}; touch {queue}.second"
    program(tmp_path / "programs", "scancel", f"{script}; true", monkeypatch)
    hooks.fail(tmp_path, slurm=True)
    assert (tmp_path / "cancelled").read_text() == "--quiet 4711\n" * 2


@pytest.fixture
def another(tmp_path):
    """A living process that works in the folder tmp_path and is written down as its driver; its lock is newer."""
    process = subprocess.Popen(["sleep", "600"], cwd=tmp_path)
    ticks = int(Path(f"/proc/{process.pid}/stat").read_text().split()[21])
    yield write(tmp_path, pid=process.pid, ticks=ticks, slurm=True)
    process.kill()
    process.wait()


def test_a_workflow_does_not_start_beside_one_that_makes_other_files(tmp_path, queue, another):
    os.utime(tmp_path / driver.RECORD, (1, 1))  # the lock of this process is newer
    [line] = hooks.left_over(tmp_path, tmp_path, slurm=True)
    assert line.startswith(f"this folder has a workflow that runs: process {another.pid} on")
    hooks.fail(tmp_path, slurm=True)
    assert not (tmp_path / "cancelled").exists()
    assert driver.recorded(tmp_path) == another


def test_a_queue_that_is_silent_for_a_while_is_asked_again(tmp_path, queue, monkeypatch):
    write(tmp_path, slurm=True)
    monkeypatch.setattr(hooks.time, "sleep", lambda seconds: None)
    script = f"[ -e {queue}.asked ] || {{ touch {queue}.asked; echo away >&2; exit 1; }}; cat {queue}"
    program(tmp_path / "programs", "squeue", script, monkeypatch)
    hooks.fail(tmp_path, slurm=True)
    assert (tmp_path / "cancelled").read_text() == "--quiet 4711\n"


@pytest.mark.parametrize("content", ["", '{"host": ', "{}", "null", "[1]"])
def test_a_record_that_a_crash_has_cut_is_none(tmp_path, content):
    hold(tmp_path)
    (tmp_path / driver.RECORD).write_text(content)
    assert driver.read(tmp_path) is None
    assert "`make takeover`" in driver.refusal(tmp_path, tmp_path)


def test_the_command_for_a_folder_with_a_space_can_be_pasted():
    assert driver.takeover_command(Path("/a/run b"), Path("/a")) == "`make takeover 'RUN=run b'`"


def test_a_workflow_on_slurm_starts_only_with_the_squeue_of_the_checkout(tmp_path, monkeypatch):
    program(tmp_path / "elsewhere", "squeue", "true", monkeypatch)
    [line] = hooks.misplaced(tmp_path, slurm=True)
    assert line.startswith(f"workflow/cluster/bin is not first on PATH: start Snakemake from {tmp_path}")
    assert hooks.misplaced(tmp_path, slurm=False) == []
    (tmp_path / hooks.PROGRAMS).parent.mkdir(parents=True)
    program(tmp_path / hooks.PROGRAMS, "squeue", "true", monkeypatch)
    assert hooks.misplaced(tmp_path, slurm=True) == []


def test_a_workflow_that_has_written_nothing_down_has_no_jobs_to_cancel(tmp_path, queue):
    hooks.fail(tmp_path, slurm=True)
    assert not (tmp_path / "cancelled").exists()


def test_a_workflow_does_not_start_beside_one_of_another_machine(tmp_path):
    write(tmp_path, host="login2")
    [line] = hooks.left_over(tmp_path, tmp_path, slurm=False)
    assert "give this command on login2" in line


@pytest.fixture
def running(tmp_path):
    """Start Python in the folder tmp_path with such words on its command line; return the process's id."""
    started = []

    def start(*words: str) -> int:
        started.append(subprocess.Popen([sys.executable, *words], cwd=tmp_path))
        return started[-1].pid

    (tmp_path / "snakemake").write_text(SLEEP)
    yield start
    for process in started:
        process.kill()
        process.wait()


SLEEP = "import time; time.sleep(600)"


def test_steps_that_a_rule_starts_are_left_over_and_what_is_run_by_hand_is_not(tmp_path, running):
    running("-c", SLEEP, "slmcollab.steps.verify_provenance")
    assert hooks.left_over(tmp_path, tmp_path, slurm=False) == []
    step = running("-c", SLEEP, "slmcollab.steps.score_answers")
    [line] = hooks.left_over(tmp_path, tmp_path, slurm=False)
    assert line.startswith(f"an earlier workflow left behind: process {step}. ")


def test_a_snakemake_that_wrote_nothing_down_is_not_taken_over(tmp_path, running):
    hold(tmp_path)
    number = running("snakemake")
    with pytest.raises(takeover.Refused, match=f"Snakemake runs in it, process {number}:"):
        takeover.takeover(tmp_path, now=False, say=print)
    assert driver.locked(tmp_path)


@pytest.mark.parametrize(
    ("state", "now", "options"),
    [("PENDING", False, "--quiet --state=PENDING 4711"), ("RUNNING", True, "--quiet 4711")],
)
def test_only_a_job_that_waits_still_is_cancelled_unless_now(tmp_path, queue, state, now, options):
    write(tmp_path, slurm=True, ticks=1)
    queue.write_text(queue.read_text().replace("RUNNING", state))
    said = []
    takeover.takeover(tmp_path, now=now, say=said.append, every_s=0)
    assert (tmp_path / "cancelled").read_text() == f"{options}\n"
    assert said == [f"cancelled 4711 (train_grpo toy_sums, {state})"]


def test_nothing_starts_beside_jobs_of_an_earlier_workflow(tmp_path, queue):
    [line] = hooks.left_over(tmp_path, tmp_path, slurm=True)
    assert line.startswith("an earlier workflow left behind: job 4711 (train_grpo toy_sums, RUNNING). `make takeover`")
    assert hooks.left_over(tmp_path, tmp_path, slurm=False) == []
    queue.write_text("")
    assert hooks.left_over(tmp_path, tmp_path, slurm=True) == []
    write(tmp_path)  # of this process
    assert hooks.left_over(tmp_path, tmp_path, slurm=True) == []


def test_a_queue_that_does_not_answer_is_not_an_empty_one(tmp_path, monkeypatch):
    write(tmp_path, slurm=True, ticks=1)
    program(tmp_path / "programs", "squeue", "echo Connection refused >&2; exit 1", monkeypatch)
    with pytest.raises(jobs.QueueError, match=r"squeue.*Connection refused"):
        takeover.takeover(tmp_path, now=False, say=print)
    assert driver.locked(tmp_path)


def test_a_record_older_than_the_lock_is_of_an_earlier_workflow(tmp_path):
    write(tmp_path)
    os.utime(tmp_path / driver.RECORD, (1, 1))
    assert "has not come to its first job, or was killed before it" in driver.refusal(tmp_path, tmp_path)


def test_the_queue_lists_the_jobs_of_this_folder_alone(tmp_path):
    (tmp_path / "same").symlink_to(tmp_path)
    lines = [
        f"RUNNING|11|{tmp_path}|rule_train_grpo_wildcards_toy_sums_0",
        f"PENDING|12|{tmp_path}/same|rule_make_table1",
        f"RUNNING|13|{tmp_path}|(null)",  # the user's own, started in the same folder
        f"RUNNING|14|{tmp_path}/runs/tiny|rule_make_table1",
    ]
    assert jobs.parse_queue("\n".join(lines), tmp_path) == [
        jobs.Job("11", "RUNNING", "train_grpo toy_sums_0"),
        jobs.Job("12", "PENDING", "make_table1"),
    ]


def test_a_folder_that_is_not_there_is_not_free(tmp_path):
    with pytest.raises(takeover.Refused, match="no such folder"):
        takeover.takeover(tmp_path / "runs/typo", now=False, say=print)
