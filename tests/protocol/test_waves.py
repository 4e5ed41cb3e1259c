"""Whole waves are read and others run again: a run that was stopped ends with the records of one that was not."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from scripted import NAMES, PROMPT, Scripted, members, problem, said, settings

import slmcollab
from slmcollab.artifacts import digest
from slmcollab.protocol.runner import run
from slmcollab.protocol.waves import run_in_waves

PROBLEMS = [problem(f"n{number}!") for number in range(7)]


class Work:
    """Runs waves with scripted models, and counts them; stops at the wave of the problem `stop`."""

    def __init__(self, stop=None):
        self.stop, self.waves = stop, []

    def __call__(self, wave):
        self.waves.append([problem.id for problem in wave])
        if self.stop in self.waves[-1]:
            raise KeyboardInterrupt
        backend = Scripted({problem.id: [said(problem.id, "terminate")] for problem in wave})
        return run(wave, members("a1"), backend, PROMPT, settings(), seed=0, samples=1, run=NAMES)


def files(folder):
    return {path.name: digest(path) for path in Path(folder).iterdir()}


def test_waves_are_fixed_and_kept_in_order(tmp_path):
    work = Work()
    trajectories, calls = run_in_waves(PROBLEMS, 3, tmp_path / "run", work)
    assert work.waves == [["n0!", "n1!", "n2!"], ["n3!", "n4!", "n5!"], ["n6!"]]
    assert [trajectory.problem for trajectory in trajectories] == [problem.id for problem in PROBLEMS]
    assert [call.qid for call in calls] == [problem.id for problem in PROBLEMS]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["wave-0000", "wave-0001", "wave-0002"]
    assert (trajectories, calls) == Work()(PROBLEMS)


@pytest.mark.parametrize(("stop", "left"), [("n0!", 3), ("n4!", 2), ("n6!", 1)])
def test_a_run_that_was_stopped_goes_on_after_its_last_whole_wave(tmp_path, stop, left):
    straight = run_in_waves(PROBLEMS, 3, tmp_path / "straight", Work())
    with pytest.raises(KeyboardInterrupt):
        run_in_waves(PROBLEMS, 3, tmp_path / "stopped", Work(stop))
    second = Work()
    assert run_in_waves(PROBLEMS, 3, tmp_path / "stopped", second) == straight
    assert len(second.waves) == left
    assert files(tmp_path / "stopped") == files(tmp_path / "straight")


@pytest.mark.parametrize("name", ["trajectories.jsonl", "calls.parquet", "complete.json"])
@pytest.mark.parametrize("harm", ["cut", "removed"])
def test_a_wave_that_is_not_whole_is_run_again(tmp_path, name, harm):
    straight = run_in_waves(PROBLEMS, 3, tmp_path, Work())
    file = tmp_path / "wave-0001" / name
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:-2])
    else:
        file.unlink()
    second = Work()
    assert run_in_waves(PROBLEMS, 3, tmp_path, second) == straight
    assert second.waves == [["n3!", "n4!", "n5!"]]


@pytest.mark.parametrize(("others", "per_wave"), [(PROBLEMS[:6], 3), (PROBLEMS[::-1], 2)])
def test_waves_of_other_problems_do_not_count(tmp_path, others, per_wave):
    run_in_waves(PROBLEMS, 2, tmp_path, Work())
    second = Work()
    trajectories, _ = run_in_waves(others, per_wave, tmp_path, second)
    assert [name for wave in second.waves for name in wave] == [problem.id for problem in others]
    assert [trajectory.problem for trajectory in trajectories] == [problem.id for problem in others]


def test_a_wave_of_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match="at least 1"):
        run_in_waves(PROBLEMS, 0, tmp_path, Work())


KILLED = """
import sys
from pathlib import Path
from test_waves import PROBLEMS, Work
from slmcollab.protocol.waves import run_in_waves

class Slow(Work):
    def __call__(self, wave):
        records = super().__call__(wave)
        if len(self.waves) == 2:
            print("in the second wave", flush=True)
            sys.stdin.read()
        return records

run_in_waves(PROBLEMS, 3, Path(sys.argv[1]), Slow())
"""


def test_a_killed_process_loses_its_half_wave_and_nothing_else(tmp_path):
    path = f"{Path(slmcollab.__file__).parents[1]}:{Path(__file__).parent}"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "run")],
        env={"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "in the second wave\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    second = Work()
    assert run_in_waves(PROBLEMS, 3, tmp_path / "run", second) == run_in_waves(PROBLEMS, 3, tmp_path / "other", Work())
    assert second.waves == [["n3!", "n4!", "n5!"], ["n6!"]]
    assert files(tmp_path / "run") == files(tmp_path / "other")
