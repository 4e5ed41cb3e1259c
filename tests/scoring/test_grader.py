"""A batch is scored to its end, whatever its completions do to the scorer."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import psutil
import pytest

from slmcollab.artifacts import Problem
from slmcollab.scoring import grader as module
from slmcollab.scoring import worker
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score

WORKFLOW = Path(module.__file__).parents[2]
GCD = Problem("a/0", "", [], "12", {"source_dataset": "gcd"})
COUNTDOWN = Problem("a/1", "", [], "9*9", {"source_dataset": "countdown", "numbers": [9, 9], "target": 81})
LOGIC = Problem(
    "a/2", "", [], None, {"source_dataset": "propositional_logic", "premises": ["(P ∧ Q)"], "variables": ["P", "Q"]}
)
MANY_ATOMS = " ∨ ".join(f"x{index}" for index in range(40))  # the scorer writes down 2**40 truth assignments
# starts a grader, says which process its scorer is, and waits
HOLDER = """
import sys
from slmcollab.scoring.grader import Grader
with Grader("reasoning_gym", 5.0) as grader:
    print(grader._children[0]._process.pid, flush=True)
    sys.stdin.read()
"""


def tagged(answer):
    return f"<answer>{answer}</answer>"


@pytest.fixture(scope="module")
def grader():
    with Grader("reasoning_gym", 2.0) as grader:
        yield grader


def test_scores_come_back_in_order_and_as_the_scorer_gives_them(grader):
    scores = grader.grade([tagged("12"), "12", tagged("12 or 6"), tagged("(P ∨ Q)")], [GCD, GCD, GCD, LOGIC])
    # gold within a longer answer: its share of the characters, 2 of 7
    assert scores == [
        Score(1.0, True, "12"),
        Score(0.0, False, None),
        Score(2 / 7, False, "12 or 6"),
        Score(1.0, True, "(P ∨ Q)"),
    ]


@pytest.mark.parametrize(("answer", "problem"), [("9**9**9**9", COUNTDOWN), (MANY_ATOMS, LOGIC)])
def test_a_hang_ends_on_time_and_the_rest_is_scored(grader, answer, problem):
    start = time.monotonic()
    scores = grader.grade([tagged("12"), tagged(answer), tagged("12"), tagged("9*9")], [GCD, problem, GCD, COUNTDOWN])
    assert scores[1] == Score(0.0, False, answer, "timed_out")
    assert [score.correct for score in scores] == [True, False, True, True]
    assert time.monotonic() - start < 120  # of which a new process may take most


def test_an_exception_is_reported_and_the_rest_is_scored(grader):
    torn = Problem("a/3", "", [], "a, b", {"source_dataset": "word_sorting"})
    factors = Problem("a/5", "", [], "2 × 3", {"source_dataset": "prime_factorization"})
    unknown = Problem("a/4", "", [], "1", {"source_dataset": "no_such_task"})
    answers = ["a, b", "1", "two × three", "12"]
    scores = grader.grade([tagged(answer) for answer in answers], [torn, unknown, factors, GCD])
    assert scores == [
        Score(0.0, False, "a, b", "raised: KeyError: 'sorted_words'"),
        Score(0.0, False, "1", "raised: ValueError: Dataset 'no_such_task' not registered"),
        Score(0.0, False, "two × three", "raised: ValueError: invalid literal for int() with base 10: 'two'"),
        Score(1.0, True, "12"),
    ]


def test_a_scorer_process_that_dies_costs_one_item(grader):
    grader.grade([tagged("12")], [GCD])
    os.kill(grader._children[0]._process.pid, signal.SIGKILL)
    scores = grader.grade([tagged("12"), tagged("12")], [GCD, GCD])
    assert scores == [Score(0.0, False, "12", "raised: the scorer's process ended"), Score(1.0, True, "12")]


def test_the_process_is_one_for_all_items_and_holds_no_torch(grader):
    import torch  # the parent has it, as a training has

    assert torch is not None
    grader.grade([tagged("12")], [GCD])
    pid = grader._children[0]._process.pid
    grader.grade([tagged("12")] * 20, [GCD] * 20)
    assert grader._children[0]._process.pid == pid
    assert "torch" not in Path(f"/proc/{pid}/maps").read_text()


def test_no_process_is_left_when_the_work_is_done():
    with Grader("reasoning_gym", 2.0) as grader:
        process = grader._children[0]._process
        assert process.poll() is None
    assert process.poll() is not None


def runs(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_no_process_is_left_when_the_parent_is_killed(tmp_path):
    with (tmp_path / "stderr").open("w") as stderr:
        command = [sys.executable, "-c", HOLDER]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": stderr}
        parent = subprocess.Popen(command, cwd=WORKFLOW, **pipes, text=True)
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    deadline = time.monotonic() + 120
    while runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "Traceback" not in (tmp_path / "stderr").read_text()


def test_the_process_may_not_take_all_memory():
    code = "from slmcollab.scoring import worker; worker._limit_memory(); bytearray(worker.MEMORY_BYTES + 2**28)"
    result = subprocess.run([sys.executable, "-c", code], cwd=WORKFLOW, capture_output=True, text=True)
    assert result.stderr.strip().endswith("MemoryError")


@pytest.mark.parametrize("scorer", ["exact", "number"])
def test_plain_scorers_need_no_process(scorer):
    with Grader(scorer, 1.0) as grader:
        assert grader._children == []
        scores = grader.grade([tagged("12"), tagged("13")], [GCD, GCD])
    assert [score.correct for score in scores] == [True, False]


def test_an_exception_of_a_plain_scorer_is_reported_too():
    bad = Problem("a/5", "", [], "twelve", {})
    with Grader("number", 1.0) as grader:
        scores = grader.grade([tagged("12"), tagged("12")], [bad, GCD])
    assert scores[0] == Score(0.0, False, "12", "raised: ValueError: a/5: the gold answer 'twelve' is no number")
    assert scores[1].correct


def test_lists_of_different_length_are_refused():
    with Grader("exact", 1.0) as grader, pytest.raises(ValueError, match="shorter"):
        grader.grade(["", ""], [GCD])


def test_more_workers_change_no_result():
    answers = ["12", "9**9**9**9", "6", "9*9", "12 or 6", "12"]
    problems = [GCD, COUNTDOWN, GCD, COUNTDOWN, GCD, GCD]
    found = []
    for num_workers in (1, 3):
        with Grader("reasoning_gym", 1.0, num_workers) as grader:
            found.append(grader.grade([tagged(answer) for answer in answers], problems))
            processes = [child._process for child in grader._children if child]
        assert len(processes) <= num_workers
        assert all(process.poll() is not None for process in processes)
    assert found[0] == found[1]
    assert [score.error for score in found[0]] == [None, "timed_out", None, None, None, None]


def test_a_scorer_of_programs_runs_in_threads_with_its_options(monkeypatch):
    together = threading.Barrier(2)  # passed only by two at once

    def score(completion, problem, *, limit):
        together.wait(timeout=120)
        return Score(limit, completion == problem.answer, completion)

    prepared = []
    scorer = SimpleNamespace(score=score, RUNS_PROGRAMS=True, prepare=lambda *, limit: prepared.append(limit))
    monkeypatch.setattr(module.choice, "get", lambda kind, name: scorer)
    with Grader("programs", 1.0, num_workers=2, options={"limit": 0.25}) as grader:
        scores = grader.grade(["12", "13", "12", "14"], [GCD] * 4)
    assert scores == [Score(0.25, answer == "12", answer) for answer in ("12", "13", "12", "14")]
    assert prepared == [0.25]


def test_what_a_failed_item_shows_is_what_its_scorer_reads(monkeypatch):
    def score(completion, problem):
        raise RuntimeError("broken")

    scorer = SimpleNamespace(score=score, extract=str.strip)
    monkeypatch.setattr(module.choice, "get", lambda kind, name: scorer)
    with Grader("plain", 1.0) as grader:
        assert grader.grade([" 12 "], [GCD]) == [Score(0.0, False, "12", "raised: RuntimeError: broken")]


def spin():
    while True:
        pass


def swallow():
    try:
        spin()
    except BaseException:
        return {"score": 1}


def rename():
    try:
        spin()
    except BaseException as error:
        raise ValueError("something else") from error


@pytest.mark.parametrize("work", [spin, swallow, rename])
def test_an_alarm_is_never_taken_for_a_score(work):
    assert worker._in_time(0.05, work) == {"late": True}


def test_in_time_nothing_rings():
    assert worker._in_time(600.0, lambda: {"score": 1}) == {"score": 1}
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with pytest.raises(ValueError, match="own"):
        worker._in_time(600.0, lambda: (_ for _ in ()).throw(ValueError("own")))
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_options_reach_the_scorer_of_a_child():
    scorer = ModuleType("scorer")
    scorer.score = lambda completion, problem, *, factor: Score(factor, True, completion)
    request = {"completion": "12", "problem": {"id": "a", "question": "", "messages": [], "answer": None}}
    reply = worker._answer(scorer, {"factor": 0.5}, request, 600.0)
    assert reply["score"]["score"] == 0.5
