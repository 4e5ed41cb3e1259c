"""The child process in which a scorer runs that may hang or die; it imports the scorer and nothing heavy."""

import json
import resource
import signal
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from slmcollab import choice
from slmcollab.artifacts import Problem

READY = b"ready"
MEMORY_BYTES = 2 * 2**30
# Started by its own line, not by multiprocessing: that would import the parent's main module, with all it needs.
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from slmcollab.scoring.worker import serve;"
    " serve(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])"
)


class Late(BaseException):
    """The time of an item is over; no Exception, so that a scorer's own handlers let it through."""


def serve(scorer: str, handle: int, time_limit_s: float, options: str) -> None:
    """Answer requests {completion, problem} on a connection with {score}, {late} or {error} until it closes.

    options: JSON of the keyword arguments of the scorer's score() and prepare(). The latter, if there is one, is called
    first, so that what it imports is in nobody's time.
    """
    module, settings = choice.get(choice.SCORER, scorer), json.loads(options)
    getattr(module, "prepare", dict)(**settings)
    _limit_memory()
    with Connection(handle) as connection:
        connection.send_bytes(READY)
        while True:
            try:
                request = json.loads(connection.recv_bytes())
            except EOFError:
                return
            connection.send_bytes(json.dumps(_answer(module, settings, request, time_limit_s)).encode())


def _answer(
    module: ModuleType, settings: dict[str, Any], request: dict[str, Any], time_limit_s: float
) -> dict[str, Any]:
    problem = Problem(**request["problem"])
    try:
        return _in_time(
            time_limit_s, lambda: {"score": asdict(module.score(request["completion"], problem, **settings))}
        )
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _in_time(seconds: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what `work` does, or {late: True} where an alarm had to end it, even if somebody caught the alarm."""
    rung = []

    def ring(*_: Any) -> None:
        rung.append(True)
        raise Late

    try:
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            done = work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Late:
        return {"late": True}
    except Exception:
        if rung:
            return {"late": True}
        raise
    return {"late": True} if rung else done


def _limit_memory() -> None:
    """Let the process grow by MEMORY_BYTES from here on: an answer must not exhaust the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
