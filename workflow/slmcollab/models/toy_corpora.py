"""What a toy model can be taught: questions of one kind, with answers that are right or random, bare or in tags."""

import random
import string
from typing import Any

from slmcollab.seeding import python_generator

KINDS = ("sums", "reverse")
ANSWERS = ("right", "random")


def write_corpus(
    *, corpus: str, kind: str, answers: str, tags: bool, num_rows: int, data_seed: int
) -> list[dict[str, Any]]:
    """Return `num_rows` rows {question, messages, completion}, the same for the same settings.

    corpus: its name, which names its random stream: two corpora of random answers share none.
    kind: `sums` asks "What is a + b?" for a, b in 0..9, in turn; `reverse` asks to reverse three random letters.
    answers: `random` ones, a number from 0 to 18 or three letters, are drawn anew in each row: none can be learnt.
    tags: whether the completion is <answer>7</answer> or 7.
    """
    for key, value, allowed in (("kind", kind, KINDS), ("answers", answers, ANSWERS)):
        if value not in allowed:
            raise ValueError(f"corpora: {key}: {value!r} is not one of {', '.join(allowed)}")
    generator = python_generator(data_seed, "corpora", corpus)
    rows = []
    for index in range(num_rows):
        question, answer = _ask(kind, index, generator)
        if answers == "random":
            answer = str(generator.randrange(19)) if kind == "sums" else _letters(generator)
        completion = f"<answer>{answer}</answer>" if tags else answer
        messages = [{"role": "user", "content": question}]
        rows.append({"question": question, "messages": messages, "completion": completion})
    return rows


def _ask(kind: str, index: int, generator: random.Random) -> tuple[str, str]:
    if kind == "sums":
        a, b = divmod(index % 100, 10)
        return f"What is {a} + {b}?", str(a + b)
    letters = _letters(generator)
    return f"Reverse {letters}.", letters[::-1]


def _letters(generator: random.Random) -> str:
    return "".join(generator.choices(string.ascii_lowercase, k=3))
