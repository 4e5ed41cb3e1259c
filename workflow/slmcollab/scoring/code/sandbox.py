"""Runs a command in the first sandbox that works here, within limits on time, memory, processes, files and output."""

import contextlib
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slmcollab.scoring.code import containers
from slmcollab.scoring.code.containers import BOX, Places
from slmcollab.scoring.code.memory import resident

UNSAFE = "none"
KINDS: dict[str, tuple[containers.Wrap, ...]] = {  # in order of preference; variants of one kind stand together
    "bubblewrap": (containers.bubblewrap, containers.sized_bubblewrap, containers.old_bubblewrap),
    "apptainer": (containers.apptainer,),
    "unshare": (containers.unshare,),
}
APART = ("bubblewrap", "unshare")  # these make a user namespace, in which processes can be counted
OUTPUT_BYTES = 16 * 2**20  # of each of the two streams; a program that writes more is ended by the kernel
PROBE_S = 20
WATCH_S = 0.05


class SandboxError(RuntimeError):
    """Programs written by a model cannot be run safely here."""


@dataclass(frozen=True)
class Limits:
    """What a command may use: seconds of wall-clock time, bytes of address space of each process, bytes of each file
    that it writes; resident_bytes: of memory that its processes have in use together, looked at every 0.05 s.
    """

    wall_s: float | int
    memory_bytes: int
    file_bytes: int = OUTPUT_BYTES
    num_processes: int = 64
    num_files: int = 256
    resident_bytes: int = 2**31


@dataclass(frozen=True)
class Outcome:
    """exit_code is None for a command that ran into the time limit; output streams are whole, up to OUTPUT_BYTES."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes

    @property
    def timed_out(self) -> bool:
        return self.exit_code is None


@dataclass(frozen=True)
class Sandbox:
    """One way to run commands; kind is a key of KINDS, or "none" where that was asked for."""

    kind: str
    wrap: containers.Wrap | None
    places: Places

    @contextlib.contextmanager
    def box(self) -> Iterator[Path]:
        """Yield an empty folder that commands see as {box}; it is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="slmcollab-") as folder:
            yield Path(folder)

    def run(self, command: Sequence[str], box: Path, limits: Limits, *, writable: bool = False) -> Outcome:
        """Run `command`, in which {box} stands for the box, with nothing to read on its input.

        When this returns, all of the command's processes are dead or killed (without a sandbox: those in its process
        group are). A program that is not there gives exit code 127, one ended by signal n gives 128 + n.
        """
        inside = BOX if self.wrap else str(box)
        own = [part.replace("{box}", inside) for part in command]
        prefix = self.wrap(str(box), writable, self.places) if self.wrap else []
        if prefix is None:
            raise SandboxError(f"{self.kind} was here when the sandbox was chosen and is gone")
        user = _other_user()
        for path in [box, *box.rglob("*")] if user else []:
            os.chown(path, user["user"], user["group"])
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                [*prefix, *_limited(own, limits, apart=self.kind in APART)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=containers.environment(self.places),
                cwd="/" if self.wrap else box,
                start_new_session=True,
                **user,
            )
            exit_code = self._wait(process, limits)
            return Outcome(exit_code, _content(out), _content(err))

    def _wait(self, process: subprocess.Popen, limits: Limits) -> int | None:
        end = time.monotonic() + limits.wall_s
        try:
            while (code := _ended(process, min(WATCH_S, end - time.monotonic()))) is None:
                if time.monotonic() >= end:
                    return None
                if resident(process.pid) > limits.resident_bytes:
                    return 128 + signal.SIGKILL
        finally:
            if process.poll() is None or self.wrap is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # a sandbox dies with the process that made it
                process.wait()
        return 128 - code if code < 0 else code


def _ended(process: subprocess.Popen, within_s: float) -> int | None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(max(within_s, 0))
    return None


def _limited(command: Sequence[str], limits: Limits, *, apart: bool) -> list[str]:
    options = {
        "as": limits.memory_bytes,
        "cpu": 4 * (int(limits.wall_s) + 1),  # of each process; wall-clock time ends sooner unless it has many threads
        "fsize": limits.file_bytes,
        "nofile": limits.num_files,
        "core": 0,
    }
    if apart and processes_are_counted_apart():
        options["nproc"] = limits.num_processes
    return ["prlimit", *(f"--{name}={value}" for name, value in options.items()), "--", *command]


def processes_are_counted_apart() -> bool:
    """Return whether the kernel counts the processes of a user namespace by themselves, as Linux does from 5.14 on.

    An older one counts all that the user runs on the machine, so that a limit would stop programs that do no harm.
    """
    return tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (5, 14)


def _other_user() -> dict:
    if os.geteuid() != 0:
        return {}
    return {"user": containers.OTHER_USER, "group": containers.OTHER_USER, "extra_groups": []}


def _content(stream) -> bytes:
    stream.seek(0)
    return stream.read(OUTPUT_BYTES)


@cache
def choose(*, unsafe: bool = False, toolchains: str | None = None, image: str | None = None) -> Sandbox:
    """Return the first of bubblewrap, apptainer and unshare in which a shell starts here; the choice is made once.

    toolchains: a further folder of toolchains; image: what apptainer runs. With unsafe, programs run without a sandbox
    where none works. Raises SandboxError where none works otherwise.
    """
    places, failures = Places(toolchains, image), []
    if toolchains is not None and not Path(toolchains).is_dir():
        raise SandboxError(f"toolchains: {toolchains} is no folder")
    for kind, wraps in KINDS.items():
        for wrap in wraps:
            failure = _probe(Sandbox(kind, wrap, places))
            if failure is None:
                return Sandbox(kind, wrap, places)
        failures.append(f"{kind}: {failure}")
    if unsafe and shutil.which("prlimit"):
        return Sandbox(UNSAFE, None, places)
    raise SandboxError(
        "programs that a model wrote run in a sandbox only, and none works here ("
        + "; ".join(failures)
        + "). Install bubblewrap and let users make namespaces (sysctl user.max_user_namespaces), or name an apptainer"
        " image with the toolchains (`image`); `unsafe: true` runs the programs without a sandbox"
    )


def _probe(sandbox: Sandbox) -> str | None:
    """Return None if a shell starts in the sandbox and starts a process there, else what went wrong."""
    with sandbox.box() as box:
        if sandbox.wrap(str(box), False, sandbox.places) is None:
            return "not there" if sandbox.kind != "apptainer" else "not there, or no image given"
        try:
            outcome = sandbox.run(["/bin/sh", "-c", "/bin/true & wait $!"], box, Limits(PROBE_S, 2**30))
        except OSError as error:
            return str(error)
    if outcome.exit_code == 0:
        return None
    return "does not start" if outcome.timed_out else (outcome.stderr or outcome.stdout).decode(errors="replace")[:300]
