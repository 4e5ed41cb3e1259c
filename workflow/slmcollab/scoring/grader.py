"""Scores batches of completions, whatever a completion makes its scorer do."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from multiprocessing import Pipe
from pathlib import Path
from types import TracebackType
from typing import Any

from slmcollab import choice
from slmcollab.artifacts import Problem
from slmcollab.scoring import worker
from slmcollab.scoring.answers import extract_answer
from slmcollab.scoring.score import Score

PACKAGE_PARENT = Path(__file__).parents[2]
TIMED_OUT = "timed_out"


class Grader:
    """Context manager around the scorer of a benchmark.

    A scorer module with ISOLATED = True runs in one child process, where each item has `time_limit_s` seconds of
    wall-clock time: a child that is late is killed, and a new one takes the next item. Any other scorer is plain text
    handling and runs in this process, without a limit.
    """

    def __init__(self, scorer: str, time_limit_s: float | int) -> None:
        self._module = choice.get(choice.SCORER, scorer)
        self._isolated = getattr(self._module, "ISOLATED", False)
        self._scorer = scorer
        self._time_limit_s = time_limit_s
        self._child: _Child | None = None

    def __enter__(self) -> "Grader":
        if self._isolated:
            self._child = _Child(self._scorer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop_child()

    def grade(self, completions: Sequence[str], problems: Sequence[Problem]) -> list[Score]:
        """Return one Score per completion and its problem; an item that fails scores 0 and names its error.

        Raises ValueError if the two lists differ in length, RuntimeError if the scorer's process does not start.
        """
        one = self._grade_isolated if self._isolated else self._grade_inline
        return [one(completion, problem) for completion, problem in zip(completions, problems, strict=True)]

    def _grade_inline(self, completion: str, problem: Problem) -> Score:
        try:
            return self._module.score(completion, problem)
        except Exception as error:
            return _failed(completion, f"raised: {type(error).__name__}: {error}")

    def _grade_isolated(self, completion: str, problem: Problem) -> Score:
        if self._child is None:
            self._child = _Child(self._scorer)
        try:
            reply = self._child.ask({"completion": completion, "problem": asdict(problem)}, self._time_limit_s)
        except TimeoutError:
            self._drop_child()
            return _failed(completion, TIMED_OUT)
        except (EOFError, OSError):
            self._drop_child()
            return _failed(completion, "raised: the scorer's process ended")
        return Score(**reply["score"]) if "score" in reply else _failed(completion, f"raised: {reply['error']}")

    def _drop_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None


class _Child:
    """A process that runs one scorer, and the connection to it."""

    def __init__(self, scorer: str) -> None:
        self._connection, far_end = Pipe()
        command = [sys.executable, "-P", "-c", worker.START, str(PACKAGE_PARENT), scorer, str(far_end.fileno())]
        with far_end:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[far_end.fileno()]
            )
        try:
            self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            self.kill()
            raise RuntimeError(f"the process of scorer {scorer!r} ended before it was ready") from error

    def ask(self, request: dict[str, Any], time_limit_s: float | int) -> dict[str, Any]:
        """Return the reply; raises TimeoutError when it is late, EOFError or OSError when the process has ended."""
        self._connection.send_bytes(json.dumps(request).encode())
        if not self._connection.poll(time_limit_s):
            raise TimeoutError
        return json.loads(self._connection.recv_bytes())

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()


def _failed(completion: str, error: str) -> Score:
    return Score(0.0, False, extract_answer(completion), error)
