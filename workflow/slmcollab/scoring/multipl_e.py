"""MultiPL-E: a program passes its hidden tests or it does not; pass@1 over items, cells and languages."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.scoring.code import languages
from slmcollab.scoring.code.completion import extract_completion
from slmcollab.scoring.code.run import describe, judge
from slmcollab.scoring.code.sandbox import choose
from slmcollab.scoring.score import NOT_RUN, Score

METRICS = ("weighted",)  # of one program; `summarise` adds the averages over cells
RUNS_PROGRAMS = True


def prepare(
    *, time_limit_s: float | int = 15, unsafe: bool = False, toolchains: str | None = None, image: str | None = None
) -> None:
    """Find the sandbox; raises SandboxError if programs cannot be run safely here, before the first is."""
    choose(unsafe=unsafe, toolchains=toolchains, image=image)


def score(
    completion: str,
    problem: Problem,
    *,
    time_limit_s: float | int = 15,
    unsafe: bool = False,
    toolchains: str | None = None,
    image: str | None = None,
) -> Score:
    """Return the verdict on one answer: the program is prompt + completion + line feed + tests.

    time_limit_s: of wall-clock time for a run (60 s to compile). unsafe, toolchains, image: sandbox.choose. error is
    "timed_out", or "not_run: <why>" where the language's toolchain is not there or not whole. detail: {"weighted": 0 or
    1, "program": {sandbox, stage, exit_code, output}}. Raises SandboxError, and ValueError for an unknown language.
    """
    about = problem.metadata
    language = languages.get(about["language"])
    sandbox = choose(unsafe=unsafe, toolchains=toolchains, image=image)
    own = extract_completion(completion, about["prompt"], language, about["stop_tokens"])
    # ASSUME: C# is judged by MultiPL-E's own tests, which fail every answer that is a list or dictionary (issue 71).
    verdict = judge(about["prompt"] + own, about["tests"], language, sandbox, time_limit_s)
    said = {"sandbox": sandbox.kind, "stage": verdict.stage, "exit_code": verdict.exit_code, "output": verdict.output}
    passed = float(verdict.passed)
    return Score(passed, verdict.passed, own, verdict.error, {"weighted": passed, "program": said})


def summarise(problems: Sequence[Problem], scores: Sequence[Score]) -> dict[str, float | None]:
    """Return pass@1 in percent points: weighted, macro and macro_language; each None if no program was run.

    weighted is the mean over problems, macro over the means of the cells (source, language), macro_language over the
    means of the languages. Problems that were not run are in none of them: a cell without any run is left out, and
    `not_run` says so.
    """
    cells, by_language = defaultdict(list), defaultdict(list)
    for problem, item in _run(problems, scores):
        cells[problem.metadata["source"], problem.metadata["language"]].append(item.score)
        by_language[problem.metadata["language"]].append(item.score)
    if not cells:
        return dict.fromkeys(("weighted", "macro", "macro_language"))
    return {
        "weighted": 100 * fmean(value for values in cells.values() for value in values),
        # ASSUME: the paper's macro average is over the 16 cells (source, language): so all of its 12 rows come out.
        "macro": 100 * fmean(map(fmean, cells.values())),
        "macro_language": 100 * fmean(map(fmean, by_language.values())),
    }


def not_run(problems: Sequence[Problem], scores: Sequence[Score]) -> dict[str, str]:
    """Return {cell, as in "humaneval-cpp": why} for the cells of which some problem was not run."""
    pairs = zip(problems, scores, strict=True)
    return {
        "{source}-{language}".format(**problem.metadata): item.error
        for problem, item in pairs
        if (item.error or "").startswith(NOT_RUN)
    }


def environment(
    problems: Sequence[Problem], *, unsafe: bool = False, toolchains: str | None = None, image: str | None = None
) -> dict[str, Any]:
    """Return {"sandbox": kind, "toolchains": {language: {tool: version or None}}} for a results file."""
    sandbox = choose(unsafe=unsafe, toolchains=toolchains, image=image)
    return describe([problem.metadata["language"] for problem in problems], sandbox)


def _run(problems: Sequence[Problem], scores: Sequence[Score]) -> list[tuple[Problem, Score]]:
    pairs = zip(problems, scores, strict=True)
    return [(problem, item) for problem, item in pairs if not (item.error or "").startswith(NOT_RUN)]
