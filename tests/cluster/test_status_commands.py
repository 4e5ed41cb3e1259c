"""What workflow/cluster/bin makes of the answers of squeue and sacct, with commands that answer what a test says."""

import os
import subprocess
from pathlib import Path

import pytest
from snakemake_executor_plugin_slurm.job_status_query import query_job_status_sacct, query_job_status_squeue

BIN = Path(__file__).parents[2] / "workflow/cluster/bin"
ASK = {"squeue": query_job_status_squeue("run-id"), "sacct": query_job_status_sacct("run-id")}


@pytest.fixture
def answering(tmp_path):
    """Return a function that sets what squeue and sacct answer, and one that asks a command as the plugin does."""
    stubs = tmp_path / "stubs"
    stubs.mkdir()

    def answers(name: str, *lines: str, status: int = 0) -> None:
        (stubs / name).write_text(f"#!/bin/sh\ncat <<END\n{os.linesep.join(lines)}\nEND\nexit {status}\n")
        (stubs / name).chmod(0o755)

    def ask(name: str, command: str | None = None) -> subprocess.CompletedProcess:
        path = os.pathsep.join(map(str, [BIN, stubs, "/usr/bin", "/bin"]))
        # Through another shell, as the message for people goes to the asking process.
        return subprocess.run(
            ["sh", "-c", f"{command or ASK[name]}; exit $?"], env={"PATH": path}, capture_output=True, text=True
        )

    return answers, ask


def test_of_squeue_only_jobs_that_ended_for_good_change(answering):
    answers, ask = answering
    answers("squeue", "1|RUNNING", "2|PREEMPTED", "3|NODE_FAIL", "4|COMPLETED", "5|PENDING", "6|TIMEOUT")
    assert ask("squeue").stdout.split() == [
        "1|RUNNING",
        "2|CANCELLED",
        "3|CANCELLED",
        "4|COMPLETED",
        "5|PENDING",
        "6|TIMEOUT",
    ]


def test_of_sacct_a_cancelled_job_is_cancelled_whoever_did_it(answering):
    answers, ask = answering
    answers("squeue")
    answers("sacct", "1|CANCELLED by 0", "2|CANCELLED", "3|COMPLETED")
    assert ask("sacct").stdout.split() == ["1|CANCELLED", "2|CANCELLED", "3|COMPLETED"]


def test_of_sacct_a_job_that_is_queued_again_is_left_to_slurm(answering):
    answers, ask = answering
    answers("squeue", "1|PENDING", "2|RUNNING", "3|PREEMPTED")
    answers("sacct", "1|PREEMPTED", "2|NODE_FAIL", "3|PREEMPTED", "4|PREEMPTED")
    assert ask("sacct").stdout.split() == ["1|PREEMPTED", "2|NODE_FAIL", "3|CANCELLED", "4|CANCELLED"]


@pytest.mark.parametrize("silent", ["squeue", "sacct"])
def test_no_answer_means_that_nothing_is_known_yet(answering, silent):
    """The plugin would forget its jobs after a query that failed; the reason goes to where people look."""
    answers, ask = answering
    answers("squeue", "1|RUNNING")
    answers("sacct", "1|CANCELLED by 0")
    answers(silent, "unable to contact slurm controller", status=1)
    asked = ask(silent)
    assert (asked.returncode, asked.stdout) == (0, "")
    assert asked.stderr == f"{silent} does not answer, asking again later: unable to contact slurm controller\n"


def test_nothing_ends_on_the_word_of_sacct_alone(answering):
    answers, ask = answering
    answers("squeue", "unable to contact slurm controller", status=1)
    answers("sacct", "1|PREEMPTED")
    assert (ask("sacct").returncode, ask("sacct").stdout) == (0, "")


@pytest.mark.parametrize("command", ["squeue --me", "sacct -nu somebody -o Account%256"])
def test_other_questions_go_through_as_they_are(answering, command):
    answers, ask = answering
    name = command.split()[0]
    answers(name, "5|PREEMPTED", "CANCELLED by 5", status=3)
    asked = ask(name, command)
    assert (asked.returncode, asked.stdout.split("\n")[:2]) == (3, ["5|PREEMPTED", "CANCELLED by 5"])
