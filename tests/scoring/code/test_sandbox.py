"""Which sandbox is chosen, what is said where there is none, and the command lines that cannot be tried here."""

import contextlib
import os
import stat
import sys
import tempfile
import time
from pathlib import Path

import pytest

from slmcollab.scoring.code import containers
from slmcollab.scoring.code import sandbox as module
from slmcollab.scoring.code.containers import BOX, Places
from slmcollab.scoring.code.sandbox import KINDS, Limits, Sandbox, SandboxError, choose

LIMITS = Limits(60, 2**30)


@pytest.fixture
def open_folder():
    """A folder that any user may enter: pytest's own are closed to the user that root's programs run as."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def empty_path(open_folder, monkeypatch):
    """A search path without any sandbox, and the folder to put stand-ins in."""
    monkeypatch.setenv("PATH", str(open_folder))
    choose.cache_clear()
    yield open_folder
    choose.cache_clear()


def stand_in(folder, name, script):
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def test_without_a_sandbox_nothing_runs(empty_path):
    with pytest.raises(SandboxError) as raised:
        choose()
    said = str(raised.value)
    assert "(bubblewrap: not there; apptainer: not there, or no image given; unshare: not there)" in said
    assert "Install bubblewrap" in said
    assert "`unsafe: true`" in said


def test_unsafe_has_to_be_asked_for(empty_path):
    empty_path.joinpath("prlimit").symlink_to("/usr/bin/prlimit")
    assert choose(unsafe=True).kind == "none"


def test_unsafe_still_prefers_a_sandbox(sandbox):
    assert choose(unsafe=True).kind == sandbox.kind != "none"


def test_one_that_does_not_start_is_passed_over_and_named(empty_path):
    stand_in(empty_path, "bwrap", "echo No permissions to create a new namespace >&2; exit 1")
    with pytest.raises(SandboxError, match="bubblewrap: No permissions to create a new namespace"):
        choose()


def test_the_toolchains_folder_has_to_be_there(tmp_path):
    with pytest.raises(SandboxError, match=r"toolchains: .*nowhere is no folder"):
        choose(toolchains=str(tmp_path / "nowhere"))


def test_order_of_preference():
    assert list(KINDS) == ["bubblewrap", "apptainer", "unshare"]


WRAPS = {
    "bubblewrap": containers.bubblewrap,
    "sized bubblewrap": containers.sized_bubblewrap,
    "old bubblewrap": containers.old_bubblewrap,
    "unshare": containers.unshare,
    "none": None,
}


@pytest.mark.parametrize("kind", list(WRAPS))
def test_a_command_sees_its_box_and_its_exit_code_comes_back(kind, sandbox):
    used = Sandbox(kind, WRAPS[kind], Places())
    with used.box() as box:
        if used.wrap and module._probe(used):
            pytest.skip(f"{kind} does not work here")
        (box / "file").write_text("inside")
        outcome = used.run(["/bin/sh", "-c", "cat {box}/file; echo oops >&2; kill -9 $$"], box, LIMITS)
        assert (outcome.exit_code, outcome.stdout) == (137, b"inside")
        assert outcome.stderr.startswith(b"oops")
        assert used.run(["no-such-program"], box, LIMITS).exit_code == 127
        assert used.run(["/bin/sh", "-c", "echo new > {box}/made"], box, LIMITS, writable=True).exit_code == 0
        assert (box / "made").read_text() == "new\n"
        if used.wrap:
            assert used.run(["/bin/sh", "-c", "echo new > {box}/more"], box, LIMITS).exit_code != 0
            assert used.run(["/bin/sh", "-c", "! ls /home /root /etc/passwd"], box, LIMITS).exit_code == 0
            powerless = "grep -q CapEff:.0000000000000000 /proc/self/status"
            assert used.run(["/bin/sh", "-c", powerless], box, LIMITS).exit_code == 0
    assert not box.exists()


def test_what_outlives_its_time_without_a_sandbox_is_ended_with_its_group():
    used, seconds = Sandbox("none", None, Places()), f"4711.{os.getpid()}"  # of this test alone
    command = f"sleep\0{seconds}"
    with used.box() as box:
        outcome = used.run(["/bin/sh", "-c", f"sleep {seconds} & sleep {seconds}"], box, Limits(0.3, 2**30))
    assert outcome.timed_out
    deadline = time.monotonic() + 60  # a killed process takes a moment to go
    while command in running() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert command not in running()


def running():
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(file.read_text(errors="replace"))
    return "\n".join(lines)


@pytest.mark.parametrize("kind", ["bubblewrap", "unshare"])
def test_a_folder_of_toolchains_is_read_only_and_on_the_path(kind, sandbox, open_folder):
    (open_folder / "bin").mkdir()
    stand_in(open_folder / "bin", "own-tool", "echo own")
    used = Sandbox(kind, WRAPS[kind], Places(toolchains=str(open_folder)))
    with used.box() as box:
        assert used.run(["own-tool"], box, LIMITS).stdout == b"own\n"
        assert used.run(["/bin/sh", "-c", f"echo > {open_folder}/bin/new"], box, LIMITS).exit_code != 0


def test_apptainer_command_line(empty_path):
    assert containers.apptainer("/b", False, Places(image="code.sif")) is None
    stand_in(empty_path, "apptainer", "exit 0")
    assert containers.apptainer("/b", False, Places()) is None
    command = containers.apptainer("/b", False, Places(image="code.sif"))
    assert command[:9] == [
        *(str(empty_path / "apptainer"), "--silent", "exec", "--containall", "--no-home", "--cleanenv"),
        *("--net", "--network", "none"),
    ]
    assert command[command.index("--bind") :][:5] == ["--bind", f"/b:{BOX}:ro", "--pwd", "/tmp", "code.sif"]
    assert f"/b:{BOX}" in containers.apptainer("/b", True, Places(image="code.sif"))
    assert "MONO_TRACE_LISTENER=Console.Error" in command
    assert choose(image="code.sif").kind == "apptainer"


def test_a_conda_environment_is_seen_inside(tmp_path, monkeypatch):
    (tmp_path / "conda-meta").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    places = Places()
    assert places.folders == [str(tmp_path)]
    assert places.path.split(":")[1] == f"{tmp_path}/bin"


def test_processes_are_limited_only_where_they_are_counted_apart(monkeypatch):
    monkeypatch.setattr(module.platform, "release", lambda: "4.18.0-553.el8.x86_64")
    assert not any("nproc" in part for part in module._limited(["x"], LIMITS, apart=True))
    monkeypatch.setattr(module.platform, "release", lambda: "5.14.0-503.el9.x86_64")
    assert "--nproc=64" in module._limited(["x"], LIMITS, apart=True)
    assert not any("nproc" in part for part in module._limited(["x"], LIMITS, apart=False))
