"""A `python` for long grids: jobs are forked from a process that has imported what takes each of them four seconds.

The micro grids start every rule as users do; a rebuild of the one of slices shows that the bytes are the same.
"""

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

STEPS = "slmcollab.steps."
# What most jobs import. Nothing here starts a thread, which a fork would not have; pyarrow and what imports it does.
IMPORTED = ("torch", "peft", "transformers.trainer_callback", "transformers.models.qwen2.modeling_qwen2")
# As the rules' shell.prefix has it, but for PYTHONPATH, which each job brings along; and no threads of torch.
PREFIX = {"PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
ENVIRONMENT = PREFIX | {"PYTHONPATH": "", "OMP_NUM_THREADS": "1"}
PROGRAM = """#!{python} -SE
import json, os, socket, sys
words = sys.argv[1:]
if len(words) < 2 or words[0] != "-m" or not words[1].startswith("{steps}"):
    os.execv("{python}", ["{python}", *words])
server = socket.socket(socket.AF_UNIX)
server.connect("{address}")
socket.send_fds(server, [b"!"], [0, 1, 2])
job = {{"folder": os.getcwd(), "environment": dict(os.environ), "words": words[1:]}}
server.sendall(json.dumps(job).encode() + b"\\n")
sys.exit(int(server.recv(4) or b"1"))
"""


@contextlib.contextmanager
def warm_python(folder: Path) -> Iterator[Path]:
    """Yield the folder with a program `python` that runs `-m slmcollab.steps.NAME` in a fork, and all else as it is."""
    program, address = folder / "python", folder / "socket"
    program.write_text(PROGRAM.format(python=sys.executable, steps=STEPS, address=address))
    program.chmod(0o755)
    command = [sys.executable, __file__, str(address)]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=os.environ | ENVIRONMENT, **streams) as server:  # it ends with its input
        assert server.stdout.readline() == b"ready\n"
        yield folder


def serve(address: str) -> None:
    """Let a process of its own run every job that comes in, until standard input ends."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                watch(connection)
            connection.close()


def watch(connection: socket.socket) -> None:
    """Run a job and tell its exit status; the job is killed where nobody waits for that any more."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    job = json.loads(connection.makefile("rb").readline())
    process = os.fork()
    if process == 0:
        run(streams, **job)
    ended = os.pidfd_open(process)
    if ended not in select.select([connection, ended], [], [])[0]:
        os.kill(process, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(str(status if status >= 0 else 128 - status).encode())
    os._exit(0)


def run(streams: list[int], folder: str, environment: dict[str, str], words: list[str]) -> None:
    """Become what `python -m` of these words would be."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:1] = [folder, *environment["PYTHONPATH"].split(os.pathsep)]
    sys.argv[1:] = words[1:]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:
        sys.exit(f"importing {', '.join(IMPORTED)} has started a thread")
    gc.freeze()
    serve(sys.argv[1])
