"""Which checkpoints count, one writer at a time, and that a run which was stopped ends like one that was not."""

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from transformers import TrainerCallback

import slmcollab
from slmcollab.artifacts import digest
from slmcollab.rl import checkpoints, grpo
from slmcollab.rl.checkpoints import MARKER, REQUIRED
from slmcollab.rl.history import history_rows


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
import sys, time
from pathlib import Path
from slmcollab.rl.checkpoints import one_writer
with one_writer(Path(sys.argv[1]), "4711"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_told_who_holds_the_lock_until_that_one_is_killed(tmp_path):
    folder = tmp_path / "run"
    package = str(Path(slmcollab.__file__).parents[1])
    holder = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(folder)],
        env={"PYTHONPATH": package},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RuntimeError, match=f"'4711'.*{holder.pid}"), checkpoints.one_writer(folder, ""):
            pytest.fail("two writers at once")
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with checkpoints.one_writer(folder, ""):
        assert (folder / "holder.json").is_file()
    assert not folder.exists()


def test_a_failed_run_keeps_its_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), checkpoints.one_writer(tmp_path / "run", ""):
        raise ZeroDivisionError
    assert (tmp_path / "run").is_dir()


class Stop(Exception):
    pass


class StopAt(TrainerCallback):
    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **_):
        if state.global_step == self.step:
            raise Stop


def outcome(trainer, trained_weights):
    weights = {name: weight.tolist() for name, weight in trained_weights(trainer).items()}
    return weights, history_rows(trainer.state.log_history)


@pytest.mark.parametrize(("stop", "steps_left"), [(1, 6), (3, 4), (5, 2), (6, 2)])
def test_a_stopped_run_ends_like_one_that_was_not(build, graders, trained_weights, tmp_path, stop, steps_left):
    """Checkpoints are saved after steps 2 and 4; a run stopped at the end of a step has not saved that step."""
    options = {"max_steps": 6, "save_every": 2, "without_context_every": 2}
    straight = build(folder=tmp_path / "straight", **options)
    grpo.train(straight)
    first = build(folder=tmp_path / "stopped", **options)
    first.add_callback(StopAt(stop))
    with pytest.raises(Stop):
        grpo.train(first)
    grader = graders["digits"]()
    second = build(folder=tmp_path / "stopped", grader=grader, **options)
    grpo.train(second)
    assert len(grader.seen) == steps_left + steps_left // 2  # every second step has a probe
    assert outcome(second, trained_weights) == outcome(straight, trained_weights)


def test_the_reference_after_a_resume_is_still_the_bare_policy(build, tmp_path):
    """A reference that had become the loaded adapter would start at a KL of 0."""
    options = {"max_steps": 4, "save_every": 2}
    straight = build(folder=tmp_path / "straight", **options)
    grpo.train(straight)
    first = build(folder=tmp_path / "stopped", **options)
    first.add_callback(StopAt(3))
    with pytest.raises(Stop):
        grpo.train(first)
    second = build(folder=tmp_path / "stopped", **options)
    grpo.train(second)
    kls = [[entry["kl"] for entry in t.state.log_history if "kl" in entry] for t in (straight, second)]
    assert kls[0] == kls[1]
    assert kls[1][2] > 1e-3


def test_only_the_last_two_checkpoints_are_kept_each_with_its_marker(build, tmp_path):
    grpo.train(build(folder=tmp_path / "run", max_steps=5, save_every=1))
    kept = sorted(path.name for path in (tmp_path / "run").glob("checkpoint-*"))
    assert kept == ["checkpoint-4", "checkpoint-5"]
    assert all((tmp_path / "run" / name / MARKER).is_file() for name in kept)
