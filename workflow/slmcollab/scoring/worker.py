"""The child process in which a scorer runs that may hang or die; it imports the scorer and nothing heavy."""

import json
import resource
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
    " serve(sys.argv[2], int(sys.argv[3]))"
)


def serve(scorer: str, handle: int) -> None:
    """Answer requests {completion, problem} on a connection with {score: ...} or {error: ...} until it closes."""
    module = choice.get(choice.SCORER, scorer)
    _limit_memory()
    with Connection(handle) as connection:
        connection.send_bytes(READY)
        while True:
            try:
                request = json.loads(connection.recv_bytes())
            except EOFError:
                return
            connection.send_bytes(json.dumps(_answer(module, request)).encode())


def _answer(module: ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"score": asdict(module.score(request["completion"], Problem(**request["problem"])))}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _limit_memory() -> None:
    """Let the process grow by MEMORY_BYTES from here on: an answer must not exhaust the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
