"""What a job says of itself: the CPU time and memory of its own process, and of a GPU only where there was one."""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from slmcollab import usage

WORKFLOW = Path(usage.__file__).parents[1]


def reported(capsys):
    usage.report_usage()
    (machine, used, after) = capsys.readouterr().out.split("\n")
    assert (machine[: len(usage.MACHINE)], used[: len(usage.MARK)], after) == (usage.MACHINE, usage.MARK, "")
    return json.loads(used.removeprefix(usage.MARK))


def alone(program):
    """Return what a process of its own reports after a program."""
    lines = (
        "import sys",
        "from slmcollab import usage",
        program,
        "usage.report_usage()",
        "assert 'torch' not in sys.modules",
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=WORKFLOW, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.partition(usage.MARK)[2])


def test_cpu_time_is_that_of_the_process_without_waiting(capsys):
    before = time.process_time()
    while time.process_time() < before + 0.2:
        pass
    time.sleep(0.2)
    found = reported(capsys)["cpu_s"]
    assert before + 0.2 <= found <= time.process_time()


def test_a_short_peak_of_memory_is_seen_and_torch_is_not_loaded_for_it():
    before = bytes(range(256)) * 2**20  # 256 MiB of this process, which the others do not have
    small, large = alone(""), alone("block = b'x' * (100 * 2**20)\ndel block")
    assert small.keys() == {"cpu_s", "max_rss_mb", "gpu_mb"}
    assert small["max_rss_mb"] < len(before) / 2**20
    assert large["max_rss_mb"] - small["max_rss_mb"] == pytest.approx(100, abs=10)
    assert (small["gpu_mb"], large["gpu_mb"]) == (None, None)


def test_child_processes_do_not_count(capsys):
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    subprocess.run([sys.executable, "-c", busy], check=True)
    assert reported(capsys)["cpu_s"] <= time.process_time()


@pytest.mark.parametrize(("initialised", "expected"), [(True, 3.0), (False, None)])
def test_gpu_memory_is_the_peak_of_the_fullest_one_that_was_used(capsys, monkeypatch, initialised, expected):
    cuda = SimpleNamespace(
        is_initialized=lambda: initialised,
        device_count=lambda: 2,
        max_memory_allocated=[2**20, 3 * 2**20].__getitem__,
        get_device_name=["H200", "A100"].__getitem__,
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert reported(capsys)["gpu_mb"] == expected
    assert usage.describe_machine()["gpus"] == (["H200", "A100"] if initialised else [])


def test_a_machine_is_described_as_its_system_describes_it(tmp_path, monkeypatch):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Fast (R) 9\nprocessor\t: 1\nmodel name\t: Fast\n")
    (tmp_path / "meminfo").write_text("MemTotal:        2048 kB\nMemFree:          1024 kB\n")
    monkeypatch.setattr(usage, "PROCESSORS", tmp_path / "cpuinfo")
    monkeypatch.setattr(usage, "MEMORY", tmp_path / "meminfo")
    found = usage.describe_machine()
    assert (found["cpu"], found["memory_mb"], found["cpus"]) == ("Fast (R) 9", 2, os.cpu_count())
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    monkeypatch.setattr(usage, "PROCESSORS", tmp_path / "none")
    monkeypatch.setattr(usage, "MEMORY", tmp_path / "none")
    assert (usage.describe_machine()["cpu"], usage.describe_machine()["memory_mb"]) == (platform.machine(), None)
