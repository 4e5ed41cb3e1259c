"""Symbolic equivalence of LaTeX answers, with partial credit for near numbers, for MATH."""

import logging
import re
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.scoring.latex import plain, tidy
from slmcollab.scoring.overlap import bag_f1, bare_answer, closeness
from slmcollab.scoring.score import Score

ISOLATED = True  # a tower of powers takes for ever, and the library's own clock does not work in threads
METRICS = ("accuracy", "f1", "f1_char", "f1_token")
extract = bare_answer
BASED = re.compile(r"\d+_\{?\d+\}?")
NAMED_POINTS = re.compile(r"[A-Z]{2,}")
TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:\.\d+)?|\S")
RELATIVE = 1e-6


def prepare() -> None:
    """Load math-verify and sympy, and what they load at their first answer."""
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    _equivalent(r"\frac{1}{2}", "0.5")


def score(completion: str, problem: Problem) -> Score:
    """Return f1 of an answer; correct where it equals the gold as text or as mathematics, by math-verify.

    `completion` is the answer alone: its last box where it has one. detail: accuracy, f1 (1 if correct, else how near
    two real numbers are, else 0), and f1_char and f1_token, the overlap of the two answers' characters and LaTeX
    tokens; all 1 where the answer is correct. Raises ValueError if the problem has no gold answer.
    """
    if problem.answer is None:
        raise ValueError(f"{problem.id}: no gold answer")
    ours, theirs = plain(completion), plain(problem.answer)
    answer, gold = tidy(completion), tidy(problem.answer)
    if ours == theirs or (not _only_text(gold, answer) and _equivalent(gold, answer)):
        return Score(1.0, True, extract(completion), detail=dict.fromkeys(METRICS, 1.0))
    f1 = _closeness(gold, answer) if ours else 0.0
    overlaps = {"f1_char": bag_f1(ours, theirs), "f1_token": bag_f1(TOKEN.findall(ours), TOKEN.findall(theirs))}
    return Score(f1, False, extract(completion), detail={"accuracy": 0.0, "f1": f1, **overlaps})


def _only_text(gold: str, answer: str) -> bool:
    """Return whether only their text can make the two equal, though math-verify sees products: ABCD is not DCBA."""
    # ASSUME: numbers with a base (2516_8) and names of several points (ABCD) equal only the same text.
    return any(kind.fullmatch(gold) and kind.fullmatch(answer) for kind in (BASED, NAMED_POINTS))


def _equivalent(gold: str, answer: str) -> bool:
    """Return whether math-verify takes the two for equal, and numbers among them agree to a millionth."""
    from math_verify import verify

    left, right = _parse(gold), _parse(answer)
    if not verify(left, right, allow_set_relation_comp=True, timeout_seconds=None):
        return False
    numbers = _number(left), _number(right)
    if None in numbers or "%" in gold + answer:
        return True
    # ASSUME: two numbers are one where they differ by at most a millionth; math-verify rounds to six decimals.
    return bool(abs(numbers[0] - numbers[1]) <= RELATIVE * abs(numbers[0]))


def _parse(answer: str) -> list[Any]:
    from math_verify import parse

    return parse(f"${answer.replace(chr(92) + '$', '')}$", parsing_timeout=None)


def _number(parsed: list[Any]) -> Any:
    """Return the real number, to 30 digits, that a parsed answer is, alone or after x =; None where it is none."""
    from sympy import Eq, Expr, Symbol

    value = next((part for part in parsed if not isinstance(part, str)), None)
    if isinstance(value, Eq) and isinstance(value.lhs, Symbol):
        value = value.rhs
    if not isinstance(value, Expr) or not value.is_number:
        return None
    value = value.evalf(30)
    return value if value.is_Float or value.is_Integer else None


def _closeness(gold: str, answer: str) -> float:
    ours, theirs = _number(_parse(answer)), _number(_parse(gold))
    return 0.0 if ours is None or theirs is None else closeness(ours, theirs)
