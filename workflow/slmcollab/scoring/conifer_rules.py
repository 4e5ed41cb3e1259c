"""The checks that rules can read off an instruction: formats, limits on words, sentences and items, quoted terms."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Check = Callable[[str], bool]
NUMBERS = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20},
}
N = rf"(\d{{1,6}}|{'|'.join(NUMBERS)})"
RANGE = rf"{N} ?(?:to|and|or|-|–) ?{N}"
NOUNS = {
    "words": r"words?",
    "sentences": r"sentences?",
    "items": r"(?:bullet |key |main |numbered |list |concise |specific |different |distinct |unique )*"
    r"(?:items?|points?|bullets?|steps?|examples?|reasons?|tips?|ideas?|ways?|entries|suggestions?|facts?|benefits?)",
}
AT_LEAST = r"(?:at least|no (?:fewer|less) than|not (?:fewer|less) than|(?:a )?minimum of|more than|over)"
AT_MOST = (
    r"(?:no more than|not more than|at most|up to|(?:a )?maximum of|(?:not|don['’]t|without) exceed(?:ing)?|within|"
    r"limited to)"
)
BELOW = r"(?:fewer than|less than|under|below)"
EXACT = r"(?:exactly|only|precisely|list|give|provide|name|suggest|offer|share|in|with|using|of)"
BULLET, NUMBERED = re.compile(r"^\s*[-*•+]\s+\S", re.MULTILINE), re.compile(r"^\s*\d{1,3}[.)]\s+\S", re.MULTILINE)
TABLE_LINE = re.compile(r"^\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)*\|?\s*$", re.MULTILINE)
NOT = re.compile(
    r"(?:\b(?:not|no|never|without|avoid(?:ing)?|refrain from|instead of|rather than)|n['’]t)\b[^.;:!?\n]{0,40}$", re.I
)
FORMATS: dict[str, tuple[str, Check]] = {
    "bullets": (r"\bbullet(?:ed)?[- ]?(?:points?|lists?)\b|\bbullets\b", lambda text: bool(BULLET.search(text))),
    "ordered list": (
        r"\b(?:numbered|ordered|enumerated) (?:list|steps|items|points)\b",
        lambda text: bool(NUMBERED.search(text)),
    ),
    "list": (
        r"\b(?:as|in|into|make|create|provide|give|write|compile) (?:the form of )?a (?:short |concise |brief )?list\b"
        r"|\blist format\b",
        lambda text: count_items(text) > 0,
    ),
    "table": (
        r"\b(?:as|in|into|make|create|provide|give|using|use|with) (?:the form of )?a (?:\w+ )?table\b"
        r"|\btabular\b|\btable format\b",
        lambda text: "|" in text and bool(TABLE_LINE.search(text)),
    ),
    "code": (r"\bcode (?:block|snippet|example)s?\b", lambda text: text.count("```") >= 2),
    "paragraph": (
        r"\b(?:in|as|into|write|using|of) (?:a|one|a single|one single) (?:\w+ )?paragraph\b",
        lambda text: bool(text.strip()) and count_items(text) == 0 and len(re.split(r"\n\s*\n", text.strip())) == 1,
    ),
}
QUOTED = re.compile(
    r"\b(?:include|including|use|using|contain|containing|mention|mentioning|incorporate|incorporating|with)\b"
    r"(?P<between>[^.;!?\n\"“”]{0,60})(?P<terms>(?:[\"“][^\"“”\n]{1,60}[\"”](?:,? (?:and|or) |, )?)+)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Rule:
    """A constraint's name and the function that says whether an answer keeps it."""

    name: str
    holds: Check


def parse_rules(instruction: str) -> list[Rule]:
    """Return the rules that an instruction sets, each once, formats first; [] where none is recognised.

    What is negated ("without bullet points") is no rule. A number may be a word up to twenty.
    """
    found = [*_formats(instruction), *_limits(instruction), *_terms(instruction)]
    return list({rule.name: rule for rule in found}.values())


def count_words(text: str) -> int:
    return len(re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text))


def count_sentences(text: str) -> int:
    """Return how many stretches end in a full stop, a question or exclamation mark before a space, or at the end."""
    return len([part for part in re.split(r"(?<=[.!?])[\"”')\]]*\s+", text.strip()) if re.search(r"\w", part)])


def count_items(text: str) -> int:
    """Return how many lines are bulleted or numbered."""
    return len(BULLET.findall(text)) + len(NUMBERED.findall(text))


def _formats(instruction: str) -> Iterator[Rule]:
    for name, (pattern, holds) in FORMATS.items():
        if next(_asked(pattern, instruction), None):
            yield Rule(name, holds)


def _asked(pattern: str, instruction: str) -> Iterator[re.Match[str]]:
    """Yield the places where a pattern stands without a negation before it in its clause."""
    for match in re.finditer(pattern, instruction, re.IGNORECASE):
        if not NOT.search(instruction[: match.start()]):
            yield match


def _limits(instruction: str) -> Iterator[Rule]:
    for unit, count in (("words", count_words), ("sentences", count_sentences), ("items", count_items)):
        taken: list[tuple[int, int]] = []
        for kind, pattern in _patterns(NOUNS[unit]):
            for match in re.finditer(pattern, instruction, re.IGNORECASE):
                if all(match.end() <= start or end <= match.start() for start, end in taken):
                    taken.append(match.span())
                    numbers = [NUMBERS.get(word.lower()) or int(word) for word in match.groups()]
                    yield from _bounds(kind, unit, numbers, count)


def _patterns(noun: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, pattern) of the ways to write a limit; what an earlier one took a later one does not read."""
    yield "at most", rf"\b{AT_MOST} {N} {noun}\b"
    yield "at least", rf"\b{AT_LEAST} {N} {noun}\b"
    yield "range", rf"\b(?:(?:between|from|in|within|of|with) )?{RANGE} {noun}\b"
    yield "below", rf"\b{BELOW} {N} {noun}\b"
    yield "at most", rf"\b{N} {noun} or (?:fewer|less)\b"
    yield "at most", rf"\b{N}[- ]{noun} (?:limit|maximum|max)\b"
    yield "exactly", rf"\b{EXACT} (?:exactly |me |us |the |your )?{N} {noun}\b"
    yield "exactly", rf"\b{N}-{noun}\b"


def _bounds(kind: str, unit: str, numbers: list[int], count: Callable[[str], int]) -> Iterator[Rule]:
    """Yield the rules of one limit; words have an upper one only, sentences an upper or an exact one."""
    low, high = numbers[0], numbers[-1]
    if kind in ("at most", "range"):
        yield Rule(f"at most {high} {unit}", lambda text: count(text) <= high)
    if kind in ("at least", "range") and unit == "items":
        yield Rule(f"at least {low} {unit}", lambda text: count(text) >= low)
    if kind == "below":
        yield Rule(f"at most {high - 1} {unit}", lambda text: count(text) < high)
    if kind == "exactly" and unit != "words":
        yield Rule(f"exactly {low} {unit}", lambda text: count(text) == low)


def _terms(instruction: str) -> Iterator[Rule]:
    for match in QUOTED.finditer(instruction):
        if NOT.search(instruction[: match.start()]) or NOT.search(match["between"]):
            continue
        for term in re.findall(r"[\"“]([^\"“”\n]+)[\"”]", match["terms"]):
            wanted = term.strip(" .,;:!?").lower()
            if wanted:
                yield Rule(f'term "{wanted}"', lambda text, wanted=wanted: wanted in text.lower())
