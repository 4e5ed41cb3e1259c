"""Numbers within a tolerance, with partial credit for near ones, for GSM-Hard."""

import math
import re

from slmcollab.artifacts import Problem
from slmcollab.scoring.overlap import bag_f1, bare_answer, closeness
from slmcollab.scoring.score import Score

METRICS = ("accuracy", "f1", "f1_char", "f1_token")
extract = bare_answer
ABSOLUTE, RELATIVE = 1e-3, 1e-6
DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+"
# 1,234.5 or 1.2e6 or 3/4 or 1 3/4, signed; a minus that follows a word, a number or a bracket is no sign.
NUMBER = re.compile(
    rf"(?<![\w.,/])(?P<sign>(?<![)\w])[-+])?(?:(?P<whole>\d+)\s+(?=\d+\s*/))?(?P<top>{DIGITS})"
    rf"(?:[eE](?P<power>[-+]?\d{{1,4}}))?(?:\s*/\s*(?P<bottom>{DIGITS}))?(?!\w|[.,/]\d)",
    re.ASCII,
)
FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
POWER = re.compile(r"(?<=\d)\s*(?:x|×|\*|·|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*[{(]?\s*([-+]?\d{1,4})\s*[})]?(?!\d)")


def score(completion: str, problem: Problem) -> Score:
    """Return f1, how near the answer's number comes to the gold; correct within 1e-3, or within a millionth of it.

    `completion` is the answer alone. detail: accuracy, f1, and f1_char and f1_token, the overlap of the two numbers'
    characters and words; all 1 where the answer is correct, all 0 where it holds no number or several. Raises
    ValueError if the gold is no number.
    """
    # ASSUME: an answer to GSM-Hard is right within 1e-3, the data set's own rule, or a millionth of the gold.
    gold, number = parse_number(problem.answer or ""), parse_number(completion)
    if gold is None:
        raise ValueError(f"{problem.id}: the gold answer {problem.answer!r} is no number")
    if number is None:
        return Score(0.0, False, extract(completion), detail=dict.fromkeys(METRICS, 0.0))
    correct = math.isclose(number, gold, rel_tol=0.0, abs_tol=ABSOLUTE) or abs(number - gold) <= RELATIVE * abs(gold)
    if correct:
        return Score(1.0, True, extract(completion), detail=dict.fromkeys(METRICS, 1.0))
    ours, theirs = _written(number), _written(gold)
    f1 = closeness(number, gold)
    parts = {"f1": f1, "f1_char": bag_f1(ours, theirs), "f1_token": bag_f1(ours.split(), theirs.split())}
    return Score(f1, False, extract(completion), detail={"accuracy": 0.0, **parts})


def parse_number(answer: str) -> float | None:
    """Return the one finite number of a short answer, or None if it holds none or several.

    Only what follows the first "####", and there what follows the last "=", counts. Currency, thousands commas, U+2212,
    1.2e6, 1.2 x 10^6, fractions and mixed numbers are understood.
    """
    # ASSUME: words, units and a percent sign beside the one number of an answer are ignored; two numbers are none.
    before, mark, after = answer.replace("\u2212", "-").replace("{,}", ",").partition("####")
    text = (after.strip() or " ").splitlines()[0] if mark else before
    text = text.rpartition("=")[2].replace("\\%", "%")
    text = re.sub(r"-\s*\\?[$€£]\s*", " -", text)
    text = re.sub(r"\\?[$€£]|\\[!,;]", " ", FRACTION.sub(r" \1/\2 ", text))
    found = list(NUMBER.finditer(POWER.sub(r"e\1", re.sub(r"^\s*-\s+", "-", text))))
    return _value(found[0]) if len(found) == 1 else None


def _value(found: re.Match[str]) -> float | None:
    parts = {name: part.replace(",", "") for name, part in found.groupdict(default="").items()}
    value = float(f"{parts['top']}e{parts['power'] or 0}")
    if parts["bottom"]:
        bottom = float(parts["bottom"])
        value = value / bottom if bottom else math.inf
    value += float(parts["whole"] or 0)
    return (-value if parts["sign"] == "-" else value) if math.isfinite(value) else None


def _written(number: float) -> str:
    """Return the number as people write it, with at most 15 digits: 18 for 18.0."""
    return f"{number:.15g}"
