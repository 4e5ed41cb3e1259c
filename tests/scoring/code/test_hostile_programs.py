"""Programs that do harm: each is contained, fails, and leaves no process behind."""

import socket
import time
from pathlib import Path

import pytest
from multipl_e_rows import PROMPTS, TESTS

from slmcollab.scoring.code import containers, run
from slmcollab.scoring.code.languages import LANGUAGES
from slmcollab.scoring.code.sandbox import APART, Limits, processes_are_counted_apart

MARK = "slmhostile"  # the name that hostile processes give themselves; children inherit it
NAMED = f"    open('/proc/self/comm', 'w').write('{MARK}')\n    import os, signal, socket, sys, time\n"


def attack(body, sandbox, time_limit_s=60.0):
    """Run a Python completion and check that no process of it lives on; return the verdict and the seconds taken.

    Most programs end by themselves, so that the limit is only for those that do not.
    """
    program, tests = (text["py"].replace("NAME", "add_all") for text in (PROMPTS, TESTS))
    started = time.monotonic()
    verdict = run.judge(program + NAMED + body, tests, LANGUAGES["py"], sandbox, time_limit_s)
    taken = time.monotonic() - started
    deadline = time.monotonic() + 60
    while marked() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked() == []
    return verdict, taken


def marked():
    found = []
    for file in Path("/proc").glob("[0-9]*/comm"):
        try:
            if file.read_text().strip() == MARK:
                found.append(file.parent.name)
        except OSError:
            continue
    return found


def test_the_mark_is_seen_outside():
    """So that an empty list of marked processes means something."""
    own = Path("/proc/self/comm")
    before = own.read_text()
    try:
        own.write_text(MARK)
        assert len(marked()) == 1
    finally:
        own.write_text(before.strip())


def test_the_network_is_out_of_reach(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        verdict, _ = attack(f"    socket.create_connection(('127.0.0.1', {port}), 2)\n    return 6\n", sandbox)
    assert not verdict.passed
    assert "Connection refused" in verdict.output  # the loopback inside is another one


def test_files_of_the_host_are_neither_seen_nor_written(sandbox, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("seen")
    body = f"""    kept = [{str(secret)!r}, '/root', '/home', '/etc/passwd', '/sys', '/proc/1/root/root']
    assert not any(map(os.path.exists, kept)), kept
    for path in ['/usr/own', '/etc/own', '/box/own', '/own', '/dev/own', {str(tmp_path / "own")!r}]:
        try:
            open(path, 'w')
        except OSError:
            continue
        raise SystemError(path)
    open('/tmp/own', 'w').write('a place of its own')
    return 6
"""
    verdict, _ = attack(body, sandbox)
    assert verdict.passed, verdict.output
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert not Path("/tmp/own").exists()


def test_nothing_of_the_environment_is_passed_on(sandbox, monkeypatch):
    monkeypatch.setenv("SLMCOLLAB_SECRET", "token")
    body = "    assert 'SLMCOLLAB_SECRET' not in os.environ\n    assert os.environ['HOME'] == '/tmp'\n    return 6\n"
    verdict, _ = attack(body, sandbox)
    assert verdict.passed, verdict.output


def test_a_fork_bomb_is_bounded(sandbox):
    body = """    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)
"""
    verdict, taken = attack(body, sandbox, time_limit_s=1.0)
    assert verdict.error == "timed_out"
    assert taken < 120  # the bomb would never end


def test_the_number_of_processes_is_limited(sandbox):
    body = """    number = 0
    try:
        while number < 1000 and os.fork():
            number += 1
    except OSError:
        raise SystemError(f'{number} children')
    time.sleep(600)
"""
    if sandbox.kind not in APART or not processes_are_counted_apart():
        pytest.skip("apptainer, or a kernel before 5.14: processes of a sandbox are not counted apart")
    verdict, _ = attack(body, sandbox)
    number = int(verdict.output.rpartition("SystemError: ")[2].split()[0])
    assert 40 < number < 64  # what runs the program counts too


def test_memory_is_limited(sandbox):
    verdict, _ = attack("    return len(bytearray(6 * 2**30)) and 6\n", sandbox)
    assert not verdict.passed
    assert "MemoryError" in verdict.output


def test_the_memory_of_all_processes_together_is_limited(sandbox):
    body = """    kept = []
    for _ in range(8):
        if os.fork() == 0:
            kept.append(b'x' * (50 * 2**20))
            time.sleep(600)
    time.sleep(600)
"""
    program = PROMPTS["py"].replace("NAME", "add_all") + NAMED + body + "\nadd_all([])\n"
    with sandbox.box() as box:
        (box / "program.py").write_text(program)
        outcome = sandbox.run(["python3", "{box}/program.py"], box, Limits(300, 2**31, resident_bytes=200 * 2**20))
    assert outcome.exit_code == 137  # None where it had to wait for the time limit


def test_a_program_makes_no_namespace_to_mount_file_systems_in(sandbox):
    if sandbox.wrap in (containers.sized_bubblewrap, containers.old_bubblewrap):
        pytest.skip("bubblewrap before 0.8 cannot prevent it")
    body = """    import subprocess
    for options in ('-Ur', '-Urm'):
        assert subprocess.run(['unshare', options, 'true']).returncode == 1
    return 6
"""
    verdict, _ = attack(body, sandbox)
    assert verdict.passed, verdict.output


def test_endless_output_is_cut(sandbox):
    verdict, _ = attack("    while True: print('x' * 1000)\n", sandbox)
    assert (verdict.passed, verdict.error) == (False, None)
    assert "File too large" in verdict.output
    verdict, _ = attack("    while True:\n        print('x' * 1000, file=sys.stderr)\n", sandbox)
    assert not verdict.passed
    assert len(verdict.output) == run.KEPT_BYTES


def test_files_and_the_place_for_them_are_limited(sandbox):
    body = """    written = 0
    for number in range(10):
        try:
            with open(f'/tmp/{number}', 'wb', 0) as stream:
                for _ in range(20):
                    written += stream.write(bytes(2**20))
        except OSError:
            pass
    raise SystemError(f'{written >> 20} MiB')
"""
    verdict, _ = attack(body, sandbox)
    size = int(verdict.output.rpartition("SystemError: ")[2].split()[0])
    assert 48 <= size <= 64  # files of 16 MiB at most, 64 MiB in all


@pytest.mark.parametrize(
    "body",
    [
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    time.sleep(600)\n",
        "    os.fork()\n    time.sleep(600)\n",
        "    while True: pass\n",
    ],
    ids=["deaf to SIGTERM", "a sleeping child", "busy"],
)
def test_what_does_not_end_is_ended(body, sandbox):
    verdict, taken = attack(body, sandbox, time_limit_s=0.5)
    assert (verdict.passed, verdict.error) == (False, "timed_out")
    assert taken < 120


DAEMON = """    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 64)
            time.sleep(600)
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize("end", ["    return 0\n", "    os._exit(0)\n", "    return 6\n"])
def test_a_daemon_dies_with_its_program(end, sandbox):
    verdict, _ = attack(DAEMON + end, sandbox)
    assert verdict.passed == (end == "    return 6\n"), verdict.output
    assert verdict.error is None  # nobody waited for the daemon


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)", "raise SystemExit", "os.kill(os.getpid(), 9)"])
def test_an_end_before_the_tests_is_no_pass(end, sandbox):
    assert not attack(f"    {end}\n", sandbox)[0].passed


def test_a_token_cannot_be_guessed(sandbox):
    assert not attack("    print('0' * 32)\n    os._exit(0)\n", sandbox)[0].passed
