"""Servers of models for the time of a job: started, waited for, and stopped with all their processes."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import httpx2
import psutil

from slmcollab.artifacts import read_json
from slmcollab.generation.requests import Member
from slmcollab.generation.server import Endpoint

HOST = "127.0.0.1"
_POLL_S = 0.2  # between two looks whether a server is up
_GRACE_S = 10.0  # for a server to end by itself
_LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # those that vLLM knows


@contextlib.contextmanager
def serving_team(
    members: Sequence[Member], command: Callable[[Sequence[Member]], list[str]], *, ready_s: float
) -> Iterator[dict[str, Endpoint]]:
    """Yield the endpoint of each slot; one server runs for each folder of weights, started with `command(members)`.

    A slot with an adapter is a model of its own there, named like the slot; one without is named like the folder.
    """
    with contextlib.ExitStack() as servers:
        endpoints = {}
        for folder in dict.fromkeys(member.folder for member in members):
            sharing = [member for member in members if member.folder == folder]
            url = servers.enter_context(serving(command(sharing), folder, ready_s=ready_s))
            endpoints |= {each.slot: Endpoint(url, each.slot if each.adapter else str(folder)) for each in sharing}
        yield endpoints


@contextlib.contextmanager
def serving(command: Sequence[str], model: Path, *, ready_s: float) -> Iterator[str]:
    """Yield the URL of a server that `command` starts, {port} and {model} in it filled in, once it answers.

    At the end, or when this process is told to end (SIGTERM), the server and all processes that it started are
    stopped. Raises RuntimeError with the server's last lines where it ends, or has not answered within `ready_s`
    seconds. It hears requests of this machine only if the command says so.
    """
    with tempfile.TemporaryFile() as log, _ended_by_sigterm(), _held_port() as port:
        filled = [part.replace("{port}", str(port)).replace("{model}", str(model)) for part in command]
        process = subprocess.Popen(
            filled, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            _wait(process, f"http://{HOST}:{port}", filled, log, ready_s)
            yield f"http://{HOST}:{port}"
        finally:
            _stop(process)


def vllm_command(members: Sequence[Member], *, dtype: str, memory_share: float = 0.9) -> list[str]:
    """Return the command of a vLLM server for members that share their weights, their adapters named by slot.

    memory_share: of the GPU's memory; servers on one GPU divide it among them. Nobody has run this command yet: it was
    written from vLLM's manual, while the client and the starting and stopping are tested with `transformers serve`.
    """
    adapters = {member.slot: member.adapter for member in members if member.adapter is not None}
    # --generation-config vllm: otherwise a model's own top_k and penalties are in force wherever a request is silent.
    command = ["vllm", "serve", "{model}", "--host", HOST, "--port", "{port}", "--dtype", dtype]
    command += ["--generation-config", "vllm", "--gpu-memory-utilization", str(memory_share)]
    if adapters:
        rank = max(read_json(adapter / "adapter_config.json")["r"] for adapter in adapters.values())
        command += ["--enable-lora", "--max-loras", str(len(adapters))]
        command += ["--max-lora-rank", str(min(known for known in _LORA_RANKS if known >= rank))]
        command += ["--lora-modules", *(f"{slot}={adapter}" for slot, adapter in adapters.items())]
    return command


@contextlib.contextmanager
def _held_port() -> Iterator[int]:
    """Yield a port that no other job on this machine is given for as long; servers that reuse addresses may bind it.

    Free only until it is bound, it might be that of another job's server by then, which answers just as well.
    """
    with socket.socket() as holder:
        holder.bind((HOST, 0))  # without the options below, with which the kernel may give one port twice
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):  # uvicorn sets the first, vLLM both
            holder.setsockopt(socket.SOL_SOCKET, option, 1)
        yield holder.getsockname()[1]


def _wait(process: subprocess.Popen, url: str, command: list[str], log: IO[bytes], ready_s: float) -> None:
    end = time.monotonic() + ready_s
    while not _answers(url):
        if process.poll() is not None or time.monotonic() > end:
            what = f"ended with status {process.poll()}" if process.poll() is not None else f"silent after {ready_s} s"
            raise RuntimeError(f"{' '.join(command)}: {what}; its last lines:\n{_last_lines(log)}")
        time.sleep(_POLL_S)


def _answers(url: str) -> bool:
    with contextlib.suppress(httpx2.TransportError), httpx2.Client(timeout=5.0, trust_env=False) as client:
        return any(client.get(f"{url}{path}").status_code == httpx2.codes.OK for path in ("/health", "/v1/models"))
    return False


def _last_lines(log: IO[bytes], count: int = 20) -> str:
    size = os.fstat(log.fileno()).st_size
    tail = os.pread(log.fileno(), 20_000, max(0, size - 20_000))  # the server writes at the file's own position
    return "\n".join(tail.decode("utf-8", "replace").splitlines()[-count:])


def _stop(process: subprocess.Popen) -> None:
    """End a process and its descendants, by force what does not go within `_GRACE_S` seconds."""
    family = []
    with contextlib.suppress(psutil.NoSuchProcess):
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                end(member)
        limit = time.monotonic() + _GRACE_S
        while (family := [member for member in family if _runs(member)]) and time.monotonic() < limit:
            time.sleep(_POLL_S / 4)
    with contextlib.suppress(ProcessLookupError):  # those whose parents had ended before, and which nobody can list
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _runs(process: psutil.Process) -> bool:
    """Say whether it is more than a zombie, which an orphan stays where nobody asks for its status."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end this process by an exception, so that what runs in `finally` runs."""
    if threading.current_thread() is not threading.main_thread():  # which alone may say what a signal does
        yield
        return

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
