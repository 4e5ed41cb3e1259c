"""When two answers are one: votes count by it, and so does what revises an answer."""

from slmcollab.scoring import latex
from slmcollab.scoring.gsm_hard import parse_number
from slmcollab.scoring.overlap import normalise


def plain(answer: str) -> str:
    """Return an answer as it is compared where nothing better is known: lower case, one space between words."""
    return " ".join(answer.lower().split())


def rounded_number(answer: str) -> str:
    """Return the number of an answer rounded to nine digits behind the point, the plain answer if it has none."""
    found = parse_number(answer)
    return plain(answer) if found is None else f"{round(found, 9) + 0.0:.9f}"  # + 0.0: -0 is 0


def code(answer: str) -> str:
    """Return a program as it is compared: lines without white space behind them, and none that are empty."""
    return "\n".join(line.rstrip() for line in answer.splitlines() if line.strip())


# By the name that a config gives.
EQUALITIES = {"text": plain, "code": code, "words": normalise, "number": rounded_number, "latex": latex.plain}
