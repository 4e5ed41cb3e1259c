"""A step that a warm `python` runs sees, says and leaves what it would under the one of users."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from checkout import REPOSITORY
from warm_python import PREFIX

STEP = """
import json, os, signal, sys, time
told = {name: value for name, value in os.environ.items() if name not in ("PATH", "_")}
number = os.getpid() if sys.argv[1] == "wait" else None
print(json.dumps([__name__, sys.argv, os.getcwd(), sys.path, told, hash("text"), number]))
print("why", file=sys.stderr)
sys.stdout.flush()
if sys.argv[1] == "wait":
    time.sleep(600)
if sys.argv[1] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(int(sys.argv[1]))
"""
USERS = Path(sys.executable).parent


def test_what_is_imported_once_is_imported_as_the_rules_have_it():
    prefix = " ".join(f"{name}={value}" for name, value in PREFIX.items())
    assert f'ENVIRONMENT = "{prefix}"' in (REPOSITORY / "workflow/rules/common.smk").read_text()


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a line of shell with the `python` of a folder, for which STEP is a step."""
    (tmp_path / "slmcollab/steps").mkdir(parents=True)
    (tmp_path / "slmcollab/steps/try_it.py").write_text(STEP)

    def start(line: str, programs: Path) -> subprocess.Popen:
        environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(tmp_path)}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        options = {"cwd": tmp_path, "env": environment | {"PYTHONHASHSEED": "0"}, "text": True}
        return subprocess.Popen(["sh", "-c", line], **streams, **options)

    return start


@pytest.mark.parametrize(
    "line",
    [
        "python -m slmcollab.steps.try_it 0 'a word' --x=\"$(pwd)\"",
        "python -m slmcollab.steps.try_it 3; echo $?",
        "python -m slmcollab.steps.try_it die; echo $?",
        "python -m slmcollab.steps.try_it 0 | sed s/^/said:/",
        "python -m slmcollab.steps.none; echo $?",
        "python -c 'import sys; print(sys.argv, sys.flags)' 1 2",
    ],
)
def test_a_step_sees_says_and_leaves_the_same(warm, start, line):
    as_users, warmly = start(line, USERS), start(line, warm)
    said, noise = warmly.communicate()
    expected, of_users = as_users.communicate()
    assert (said, warmly.returncode) == (expected, as_users.returncode)
    assert said
    for text in ("why", "No module named slmcollab.steps.none"):
        assert (text in noise) == (text in of_users)


def test_a_job_ends_with_who_waits_for_it(warm, start):
    waiting = start("exec python -m slmcollab.steps.try_it wait", warm)
    job = psutil.Process(int(waiting.stdout.readline().rpartition(", ")[2].rstrip("]\n")))
    assert job.is_running()
    waiting.kill()
    waiting.wait()
    job.wait(timeout=300)
