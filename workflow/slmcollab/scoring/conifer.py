"""Explicit constraints and covered requirements of an instruction, by rules, for Conifer."""

import re
from statistics import fmean

from slmcollab.artifacts import Problem
from slmcollab.scoring.conifer_rules import parse_rules
from slmcollab.scoring.overlap import bare_answer
from slmcollab.scoring.score import Score

METRICS = ("coverage", "explicit", "all_explicit", "explicit_parsed")
extract = bare_answer
EXPLICIT_WEIGHT = 0.75
NUMBER = re.compile(r"(?:^|(?<=\s))\(?\d{1,2}[.)]\s+")
MAX_CHARACTERS, MIN_WORDS, MAX_WORDS = 120, 2, 12
STOP_WORDS = """
a an and any are as at be by can do each every for from has have how i if in into is it its make must my no not of on
one or our should so such than that the their them then there these they this to use using was we what when where which
who why will with within would you your
"""


def score(completion: str, problem: Problem) -> Score:
    """Return .75 explicit + .25 coverage of an answer to problem.question; correct if all explicit checks pass.

    `completion` is the answer alone. detail: coverage, the mean over numbered requirements of the share of their words
    that the answer holds (1 where there are none); explicit, the share of passed checks, of which "there is an answer"
    is always one, so that it says little where there are few others; all_explicit; explicit_parsed, the share without
    that check (of an instruction without others: whether there is an answer). An empty answer scores 0 throughout.
    """
    # ASSUME: Conifer's Coverage and Explicit are lexical rules; only requirements with a number of their own count.
    answer = extract(completion)
    if answer is None:
        return Score(0.0, False, None, detail=dict.fromkeys(METRICS, 0.0))
    parsed = [rule.holds(answer) for rule in parse_rules(problem.question)]
    explicit = fmean([True, *parsed])
    known = set(words(answer))
    coverage = fmean([len(part & known) / len(part) for part in requirements(problem.question)] or [1.0])
    detail = {
        "coverage": coverage,
        "explicit": explicit,
        "all_explicit": float(all(parsed)),
        "explicit_parsed": fmean(parsed or [True]),
    }
    value = EXPLICIT_WEIGHT * explicit + (1 - EXPLICIT_WEIGHT) * coverage
    return Score(value, all(parsed), answer, detail=detail)


def requirements(instruction: str) -> list[set[str]]:
    """Return the words, without stop words, of each numbered requirement of 2 to 12 words and at most 120 characters.

    A requirement stands after "1." or "2)", in a line or at its start, and ends with the sentence or the line.
    """
    found = []
    for start in NUMBER.finditer(instruction):
        text = re.split(r"\n|(?<=[.!?;])\s|\(?\b\d{1,2}[.)]\s", instruction[start.end() :], maxsplit=1)[0].strip()
        if len(text) <= MAX_CHARACTERS and MIN_WORDS <= len(text.split()) <= MAX_WORDS:
            found.append(set(words(text)) - set(STOP_WORDS.split()))
    return [part for part in found if part]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())
