"""Numeric equality, for GSM8K."""

import re
from decimal import Decimal

from slmcollab.artifacts import Problem
from slmcollab.scoring.answers import extract_answer
from slmcollab.scoring.score import Score

# One number as people write it, 1,234 or 3.50 or -.5; not part of a word or a longer string (H2O, 1.2.3, 1,5, 1e5).
# A minus counts as a sign unless it follows a word, a number or a bracket: 10-3 holds 10 and 3.
NUMBER = re.compile(
    r"(?<![\w.,])(?:(?<!\))-)?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?![.,]?[0-9]|[eE][+-]?[0-9])"
)
CURRENCY = "$€£"


def score(completion: str, problem: Problem) -> Score:
    """Return 1 where the number in the extracted answer equals the problem's, else 0.

    detail["last_number_correct"] says whether the fallback of other evaluations (the last number of the whole
    completion) would have been right; it never enters the score. Raises ValueError if the problem has no number.
    """
    gold = parse_number(problem.answer or "")
    if gold is None:
        raise ValueError(f"{problem.id}: the gold answer {problem.answer!r} is no number")
    extracted = extract_answer(completion)
    correct = extracted is not None and parse_number(extracted) == gold
    return Score(float(correct), correct, extracted, detail={"last_number_correct": last_number(completion) == gold})


def parse_number(answer: str) -> Decimal | None:
    """Return the one number of a short answer, or None if it holds none or several.

    Only what follows the last "=" counts. Currency, thousands commas and U+2212 are understood.
    """
    # ASSUME: words, units and a percent sign beside the number are ignored: "5%" and "5 eggs" equal 5.
    part = re.sub(r"^-\s+", "-", _plain(answer).rpartition("=")[2].strip())
    numbers = NUMBER.findall(part)
    return _decimal(numbers[0]) if len(numbers) == 1 else None


def last_number(completion: str) -> Decimal | None:
    """Return the first number after the first "####" if there is such a mark, else the last number, else None."""
    before, mark, after = _plain(completion).partition("####")
    numbers = NUMBER.findall(after) if mark else NUMBER.findall(before)[::-1]
    return _decimal(numbers[0]) if numbers else None


def _plain(text: str) -> str:
    """Return the text with U+2212 as a minus and currency signs as spaces, the minus of -$5 moved to its number."""
    text = re.sub(rf"-[{CURRENCY}]", " -", text.replace("\u2212", "-"))
    return re.sub(rf"[{CURRENCY}]", " ", text)


def _decimal(number: str) -> Decimal:
    return Decimal(number.replace(",", ""))
