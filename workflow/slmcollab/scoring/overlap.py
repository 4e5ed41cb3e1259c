"""What scorers of short answers share: the answer as it stands, and the overlap of two texts as counted parts."""

import re
import string
from collections import Counter
from collections.abc import Iterable
from typing import Any

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def bare_answer(completion: str) -> str | None:
    """Return the completion without the spaces around it, None where nothing is left: the answer of a graded step."""
    return completion.strip() or None


def normalise(text: str) -> str:
    """Return SQuAD's and MuSiQue's normal form: lower case, no ASCII punctuation, no articles, single spaces."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def bag_f1(answer: Iterable[str], gold: Iterable[str]) -> float:
    """Return 2PR/(P+R) of two bags of tokens or characters, each part counted as often as both hold it.

    Where one is empty: 1 if both are, else 0.
    """
    left, right = Counter(answer), Counter(gold)
    if not left or not right:
        return float(left == right)
    return 2 * (left & right).total() / (left.total() + right.total())


def closeness(answer: Any, gold: Any) -> float:
    """Return min(|answer|, |gold|) / max(|answer|, |gold|) of numbers with one sign, 1 if they are equal, else 0."""
    if answer == gold:
        return 1.0
    return float(min(abs(answer), abs(gold)) / max(abs(answer), abs(gold))) if answer * gold > 0 else 0.0
