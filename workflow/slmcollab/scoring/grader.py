"""Scores batches of completions, whatever a completion makes its scorer do."""

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from multiprocessing import Pipe
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from slmcollab import choice
from slmcollab.artifacts import Problem
from slmcollab.scoring import worker
from slmcollab.scoring.answers import extract_answer
from slmcollab.scoring.score import RAISED, TIMED_OUT, Score

PACKAGE_PARENT = Path(__file__).parents[2]
GRACE_S = 1.0


class Grader:
    """Context manager around the scorer of a benchmark; `module` is that scorer.

    A scorer module with ISOLATED = True runs in `num_workers` child processes, where each item has `time_limit_s`
    seconds of wall-clock time: an alarm ends it, a child that GRACE_S later has not replied is killed, and a new one
    takes the next item. One with RUNS_PROGRAMS = True, which watches over processes of its own, runs in `num_workers`
    threads. Any other scorer is plain text handling and runs in this thread, without a limit. options: keyword
    arguments of the scorer's score(), and of its prepare(), if it has one, which is called where the scorer runs before
    the first item. The number of workers changes no result.
    """

    def __init__(
        self, scorer: str, time_limit_s: float | int, num_workers: int = 1, options: dict[str, Any] | None = None
    ) -> None:
        self.module = choice.get(choice.SCORER, scorer)
        self._isolated = getattr(self.module, "ISOLATED", False)
        self._num_workers = num_workers if self._isolated or getattr(self.module, "RUNS_PROGRAMS", False) else 1
        self._options = options or {}
        self._settings = (scorer, time_limit_s, self._options)
        self._children: list[_Child | None] = [None] * (self._num_workers if self._isolated else 0)
        self._free: SimpleQueue[int] = SimpleQueue()
        for place in range(len(self._children)):
            self._free.put(place)

    def __enter__(self) -> "Grader":
        if self._isolated:
            self._children[0] = _Child(*self._settings)
        else:
            getattr(self.module, "prepare", dict)(**self._options)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in range(len(self._children)):
            self._drop_child(place)

    def grade(self, completions: Sequence[str], problems: Sequence[Problem]) -> list[Score]:
        """Return one Score per completion and its problem; an item that fails scores 0 and names its error.

        Raises ValueError if the two lists differ in length, RuntimeError if the scorer's process does not start.
        """
        one = self._grade_isolated if self._isolated else self._grade_inline
        pairs = list(zip(completions, problems, strict=True))
        if self._num_workers == 1:
            return [one(*pair) for pair in pairs]
        with ThreadPoolExecutor(self._num_workers) as pool:
            return list(pool.map(one, completions, problems))

    def _grade_inline(self, completion: str, problem: Problem) -> Score:
        try:
            return self.module.score(completion, problem, **self._options)
        except Exception as error:
            return self._failed(completion, f"{RAISED}: {type(error).__name__}: {error}")

    def _grade_isolated(self, completion: str, problem: Problem) -> Score:
        place = self._free.get()
        try:
            return self._ask(place, completion, problem)
        finally:
            self._free.put(place)

    def _ask(self, place: int, completion: str, problem: Problem) -> Score:
        child = self._children[place] = self._children[place] or _Child(*self._settings)
        try:
            reply = child.ask({"completion": completion, "problem": asdict(problem)})
        except TimeoutError:
            self._drop_child(place)
            reply = {"late": True}
        except (EOFError, OSError):
            self._drop_child(place)
            reply = {"error": "the scorer's process ended"}
        if "score" in reply:
            return Score(**reply["score"])
        return self._failed(completion, TIMED_OUT if "late" in reply else f"{RAISED}: {reply['error']}")

    def _drop_child(self, place: int) -> None:
        child, self._children[place] = self._children[place], None
        if child is not None:
            child.kill()

    def _failed(self, completion: str, error: str) -> Score:
        return Score(0.0, False, getattr(self.module, "extract", extract_answer)(completion), error)


class _Child:
    """A process that runs one scorer, and the connection to it."""

    def __init__(self, scorer: str, time_limit_s: float | int, options: dict[str, Any]) -> None:
        self._patience_s = time_limit_s + GRACE_S
        self._connection, far_end = Pipe()
        arguments = [str(PACKAGE_PARENT), scorer, str(far_end.fileno()), str(time_limit_s), json.dumps(options)]
        with far_end:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", worker.START, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[far_end.fileno()],
            )
        try:
            self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            self.kill()
            raise RuntimeError(f"the process of scorer {scorer!r} ended before it was ready") from error

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply; raises TimeoutError when it is late, EOFError or OSError when the process has ended."""
        self._connection.send_bytes(json.dumps(request).encode())
        if not self._connection.poll(self._patience_s):
            raise TimeoutError
        return json.loads(self._connection.recv_bytes())

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()
