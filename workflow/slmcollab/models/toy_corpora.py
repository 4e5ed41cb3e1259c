"""What a toy model can be taught: questions of one kind; answers right, random or copied, bare or in tags."""

import random
import string
from collections.abc import Callable, Sequence
from typing import Any

from slmcollab.seeding import python_generator

KINDS = ("sums", "firsts", "reverse")
ANSWERS = ("right", "random", "copied")
MOST_COPIED = 4  # answers in a chat that one of them is copied from


def write_corpus(
    *,
    corpus: str,
    kind: str,
    answers: str,
    tags: bool,
    num_rows: int,
    data_seed: int,
    show: Callable[[Sequence[dict[str, str]], Sequence[str]], list[dict[str, str]]],
) -> list[dict[str, Any]]:
    """Return `num_rows` rows {question, messages, completion}, the same for the same settings.

    corpus: its name, which names its random stream: two corpora of random answers share none.
    kind: `sums` asks "What is a + b?" and `firsts` "Which comes first, a or b?" for a, b in 0..9, in turn; `reverse`
      asks to reverse three random letters.
    answers: `random` ones, a number from 0 to 18 or three letters, are drawn anew in each row: none can be learnt.
      `copied` ones are random too, but `show` puts them into the chat, among up to three other numbers or texts:
      reading can be learnt, and not whom to believe.
    tags: whether the completion is <answer>7</answer> or 7.
    """
    for key, value, allowed in (("kind", kind, KINDS), ("answers", answers, ANSWERS)):
        if value not in allowed:
            raise ValueError(f"corpora: {key}: {value!r} is not one of {', '.join(allowed)}")
    generator = python_generator(data_seed, "corpora", corpus)
    rows = []
    for index in range(num_rows):
        question, answer = _ask(kind, index, generator)
        messages = [{"role": "user", "content": question}]
        if answers == "random":
            answer = _draw(kind, generator)
        elif answers == "copied":
            answer = _draw(kind, generator)
            others = generator.choices((_number, _letters), k=generator.randrange(MOST_COPIED))
            shown = [answer, *(draw(generator) for draw in others)]
            generator.shuffle(shown)
            messages = show(messages, shown)
        completion = f"<answer>{answer}</answer>" if tags else answer
        rows.append({"question": question, "messages": messages, "completion": completion})
    return rows


def _ask(kind: str, index: int, generator: random.Random) -> tuple[str, str]:
    a, b = divmod(index % 100, 10)
    if kind == "sums":
        return f"What is {a} + {b}?", str(a + b)
    if kind == "firsts":
        return f"Which comes first, {a} or {b}?", str(a)
    letters = _letters(generator)
    return f"Reverse {letters}.", letters[::-1]


def _draw(kind: str, generator: random.Random) -> str:
    return _letters(generator) if kind == "reverse" else _number(generator)


def _number(generator: random.Random) -> str:
    return str(generator.randrange(19))


def _letters(generator: random.Random) -> str:
    return "".join(generator.choices(string.ascii_lowercase, k=3))
