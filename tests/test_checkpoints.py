"""Which checkpoints count, and one writer at a time."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import slmcollab
from slmcollab import checkpoints
from slmcollab.artifacts import digest
from slmcollab.checkpoints import MARKER, REQUIRED


def write_checkpoint(folder, step, name="run"):
    path = folder / f"checkpoint-{step}"
    path.mkdir(parents=True)
    for file in [*REQUIRED, "extra.bin"]:
        (path / file).write_text(f"{file} of step {step}")
    files = {file.name: digest(file) for file in path.iterdir()}
    (path / MARKER).write_text(json.dumps({"fingerprint": name, "files": files}))
    return path


def test_the_last_whole_checkpoint_is_taken_by_number(tmp_path):
    assert checkpoints.latest(tmp_path, "run") is None
    assert checkpoints.latest(tmp_path / "absent", "run") is None
    write_checkpoint(tmp_path, 50)
    write_checkpoint(tmp_path, 100)
    write_checkpoint(tmp_path, 75)
    assert checkpoints.latest(tmp_path, "run") == tmp_path / "checkpoint-100"


@pytest.mark.parametrize("file", [*REQUIRED, "extra.bin", MARKER])
def test_one_that_lacks_a_file_is_passed_over(tmp_path, file):
    whole = write_checkpoint(tmp_path, 5)
    (write_checkpoint(tmp_path, 10) / file).unlink()
    assert checkpoints.latest(tmp_path, "run") == whole


@pytest.mark.parametrize("file", [*REQUIRED, MARKER])
def test_one_with_a_file_cut_short_is_passed_over(tmp_path, file):
    whole, broken = write_checkpoint(tmp_path, 5), write_checkpoint(tmp_path, 10) / file
    broken.write_text(broken.read_text()[:-3])
    assert checkpoints.latest(tmp_path, "run") == whole


@pytest.mark.parametrize("file", REQUIRED)
def test_a_marker_that_does_not_list_a_needed_file_is_not_enough(tmp_path, file):
    marker = write_checkpoint(tmp_path, 10) / MARKER
    content = json.loads(marker.read_text())
    del content["files"][file]
    marker.write_text(json.dumps(content))
    assert checkpoints.latest(tmp_path, "run") is None


def test_one_of_another_run_is_passed_over(tmp_path):
    mine = write_checkpoint(tmp_path, 5)
    write_checkpoint(tmp_path, 10, name="another cell, code, seed or input")
    assert checkpoints.latest(tmp_path, "run") == mine


def test_what_is_left_of_broken_ones_is_removed(tmp_path):
    for step in (5, 10, 15):
        write_checkpoint(tmp_path, step)
    checkpoints.remove_after(tmp_path / "checkpoint-10", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-10", "checkpoint-5"]
    checkpoints.remove_after(None, tmp_path)
    assert list(tmp_path.iterdir()) == []


HOLDER = """
import sys
from pathlib import Path
from slmcollab.checkpoints import one_writer
with one_writer(Path(sys.argv[1]), "4711"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_told_who_holds_the_lock_until_that_one_is_killed(tmp_path):
    folder = tmp_path / "run"
    package = str(Path(slmcollab.__file__).parents[1])
    holder = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(folder)],
        env={"PYTHONPATH": package},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RuntimeError, match=r"by job 4711 on .*: scancel 4711$"), checkpoints.one_writer(folder, ""):
            pytest.fail("two writers at once")
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with checkpoints.one_writer(folder, ""):
        assert (folder / "holder.json").is_file()
    assert not folder.exists()


def test_a_holder_outside_slurm_is_named_by_its_process(tmp_path):
    said = f"by process {os.getpid()} on .*: kill {os.getpid()}$"
    holder = checkpoints.one_writer(tmp_path, "local")
    with holder, pytest.raises(RuntimeError, match=said), checkpoints.one_writer(tmp_path, "local"):
        pytest.fail("two writers at once")


def test_a_failed_run_keeps_its_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), checkpoints.one_writer(tmp_path / "run", ""):
        raise ZeroDivisionError
    assert (tmp_path / "run").is_dir()
