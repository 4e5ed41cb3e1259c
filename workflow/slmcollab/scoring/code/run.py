"""Compiles and runs one program with its tests, and tells whether it passed them."""

import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from slmcollab.scoring.code import languages
from slmcollab.scoring.code.languages import JAR, Language
from slmcollab.scoring.code.sandbox import Limits, Outcome, Sandbox
from slmcollab.scoring.code.smoke import PROGRAMS
from slmcollab.scoring.score import NOT_RUN, TIMED_OUT

COMPILE_S = 60
COMPILED_BYTES = 64 * 2**20
KEPT_BYTES = 2048
NOT_FOUND = 127
SYSTEM_JAR = "/usr/share/java/javatuples.jar"
CHECKING = Lock()


@dataclass(frozen=True)
class Verdict:
    """What became of a program. error: None, "timed_out" or "not_run: <why>". stage: "compile", "run" or, where nothing
    was run, "". output: the first 2,048 bytes that it printed, errors first, without the token.
    """

    passed: bool
    error: str | None = None
    stage: str = ""
    exit_code: int | None = None
    output: str = ""


def judge(program: str, tests: str, language: Language, sandbox: Sandbox, time_limit_s: float | int) -> Verdict:
    """Return whether `program`, followed by a line feed and `tests`, ends with exit code 0 after the tests have run.

    That they have is shown by a random token of this run, which a statement behind the tests joins from two halves and
    prints: a program that ends before them, or prints its own text, does not pass. What remains possible: a program
    that looks for the halves in its own text (interpreted languages have it in a file; a binary can be read too) and
    joins them itself; and one that replaces what the tests call (JavaScript's assert module, C++'s macro, Bash's `set`)
    or compare with (an object equal to all). Both have to be written for it.
    time_limit_s: of wall-clock time for the run; to compile it has 60 s. A missing toolchain, or one in which a trivial
    program does not pass, is "not_run".
    """
    fault = check(language, sandbox)
    return _judge(program, tests, language, sandbox, time_limit_s) if fault is None else Verdict(False, fault)


def _judge(program: str, tests: str, language: Language, sandbox: Sandbox, time_limit_s: float | int) -> Verdict:
    token = secrets.token_hex(16)
    with sandbox.box() as box:
        source = box / language.file
        source.write_text(f"{program}\n{language.with_token(tests, token)}", encoding="utf-8", errors="replace")
        if language.compile:
            limits = Limits(COMPILE_S, language.memory_bytes, file_bytes=COMPILED_BYTES)
            outcome = sandbox.run(_filled(language.compile, sandbox), box, limits, writable=True)
            if outcome.exit_code != 0:
                return _verdict(outcome, "compile", token)
            source.unlink()
        limits = Limits(time_limit_s, language.memory_bytes)
        outcome = sandbox.run(_filled(language.run, sandbox), box, limits)
    reached = token.encode() in outcome.stdout and not any(text in outcome.stderr for text in language.failures)
    return _verdict(outcome, "run", token, passed=outcome.exit_code == 0 and reached)


def _verdict(outcome: Outcome, stage: str, token: str, *, passed: bool = False) -> Verdict:
    printed = outcome.stderr + outcome.stdout
    for text in (token, *languages.halves(token)):  # it differs from run to run, what is kept must not
        printed = printed.replace(text.encode(), b"")
    printed = printed.strip()
    output = printed[:KEPT_BYTES].decode("utf-8", errors="replace")
    return Verdict(passed, TIMED_OUT if outcome.timed_out else None, stage, outcome.exit_code, output)


def _filled(command: tuple[str, ...], sandbox: Sandbox) -> list[str]:
    return [part.replace(JAR, _jar(sandbox)) for part in command]


def _jar(sandbox: Sandbox) -> str:
    """Return the path of javatuples: in the folder of further toolchains, or where Debian has it."""
    own = Path(sandbox.places.toolchains or "") / "javatuples.jar"
    return str(own.resolve()) if sandbox.places.toolchains and own.is_file() else SYSTEM_JAR


@cache
def versions(language: Language, sandbox: Sandbox) -> dict[str, str | None]:
    """Return the first line that each tool of the language says of its version; None for a tool that is not there."""
    found = {}
    with sandbox.box() as box:
        for tool in language.tools:
            outcome = sandbox.run([tool, "--version"], box, Limits(COMPILE_S, language.memory_bytes))
            lines = (outcome.stdout + outcome.stderr).decode("utf-8", errors="replace").splitlines()
            found[tool] = None if outcome.exit_code == NOT_FOUND else next(iter(lines), "")
    return found


def check(language: Language, sandbox: Sandbox) -> str | None:
    """Return None if the language's toolchain is there and a trivial program passes, else "not_run: <why>".

    Tried once in a process, however many threads ask.
    """
    with CHECKING:
        return _check(language, sandbox)


@cache
def _check(language: Language, sandbox: Sandbox) -> str | None:
    missing = [tool for tool, version in versions(language, sandbox).items() if version is None]
    if missing:
        return f"{NOT_RUN}: {missing[0]} is not there"
    verdict = _judge(*PROGRAMS[language.name], language, sandbox, COMPILE_S)
    if verdict.passed:
        return None
    said = verdict.output.splitlines()[0] if verdict.output else f"exit code {verdict.exit_code}"
    return f"{NOT_RUN}: a trivial {language.title} program does not {verdict.stage} here ({said})"


def describe(names: list[str], sandbox: Sandbox) -> dict[str, Any]:
    """Return what programs are judged with: {"sandbox": kind, "toolchains": {language: {tool: version or None}}}."""
    return {
        "sandbox": sandbox.kind,
        "toolchains": {name: versions(languages.get(name), sandbox) for name in sorted(set(names))},
    }
