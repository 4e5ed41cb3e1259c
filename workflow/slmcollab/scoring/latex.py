"""LaTeX answers as text: the last box of a solution, and one spelling for what is written in several ways."""

import re

BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
TEXT = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}")
UNITS = re.compile(r"(?<=[\d}])\s*\\(?:text|mbox)\s*\{\s*[a-z ]+\}(?:\^\{?\d\}?)?$")
SPACES = re.compile(r"(?<!\\)\\[,;:! ]|\\q?quad(?![A-Za-z])|~")
SHORT_FRACTION = re.compile(r"\\frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))")
DOLLARS = re.compile(r"(?<!\\)\$([^$]+)(?<!\\)\$")
LEAD = re.compile(r"^.*\banswer(?: is:?|:)\s*", re.IGNORECASE | re.DOTALL)
SCIENTIFIC = re.compile(r"(?<![A-Za-z\d.])(\d+(?:\.\d+)?)[eE]([-+]?\d{1,4})(?![\w.])")


def last_boxed(text: str) -> str | None:
    """Return what stands in the last \\boxed or \\fbox whose brackets close, None where there is none.

    A box without brackets holds one character or number, as TeX users write \\boxed 5.
    """
    for box in reversed(list(BOX.finditer(text))):
        start = box.end()
        if not text.startswith("{", start):
            bare = re.match(r"-?[\d.]+|[A-Za-z]", text[start:])
            if bare:
                return bare[0]
            continue
        end = _closing(text, start)
        if end is not None:
            return text[start + 1 : end].strip()
    return None


def _closing(text: str, start: int) -> int | None:
    """Return where the bracket that opens at `start` closes; escaped brackets do not count."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in "{}" and text[place - 1] != "\\":
            depth += 1 if text[place] == "{" else -1
            if depth == 0:
                return place
    return None


def tidy(answer: str) -> str:
    """Return the answer without box, dollars and full stop, spelt so that math-verify reads what a person does.

    It is the last box, else what follows the last "answer is" or "answer:", else the whole text; of a text with one
    formula in dollars the formula.
    U+2212 is a minus, 1e10 a power of ten, \\mathrm{e} is e, and \\sqrt(2) is a root.
    """
    boxed = last_boxed(answer)
    text = (LEAD.sub("", answer) if boxed is None else boxed).replace("\u2212", "-").strip()
    text = text if text.endswith("..") else text.rstrip(".").strip()
    text = text[2:-2].strip() if re.fullmatch(r"\*\*[^*]+\*\*", text) else text
    for opening, closing in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening + closing):
            inner = text[len(opening) : -len(closing)]
            text = inner.strip() if opening not in inner else text
    formulas = DOLLARS.findall(text)
    text = formulas[0].strip() if len(formulas) == 1 else text
    text = re.sub(r"\\mathrm\s*\{\s*([eid])\s*\}", r"\1", text)
    text = re.sub(r"\\sqrt\s*\(([^()]*)\)", r"\\sqrt{\1}", text)
    return SCIENTIFIC.sub(r"\1 \\times 10^{\2}", text)


def plain(answer: str) -> str:
    """Return a spelling in which answers that differ in typesetting alone are equal, after MATH's own strip_string."""
    text = SPACES.sub("", UNITS.sub("", tidy(answer)))
    text = re.sub(r"\\(?:left|right|displaystyle)(?![A-Za-z])", "", text)
    text = re.sub(r"\\[dtc]frac(?![A-Za-z])", r"\\frac", text)
    text = re.sub(r"\\sqrt\s*(\w)", r"\\sqrt{\1}", TEXT.sub(r"\1", text))
    text = SHORT_FRACTION.sub(lambda m: f"\\frac{{{m[1] or m[2]}}}{{{m[3] or m[4]}}}", text)
    text = re.sub(r"^(-?\d+)/(\d+)$", r"\\frac{\1}{\2}", re.sub(r"^\s*[A-Za-z]\s*=", "", text).strip())
    text = re.sub(r"\^\{?\\circ\}?|\\?%|\\?\$", "", text)
    text = re.sub(r"(?<![\d.])\.(?=\d)", "0.", text.replace("{,}", ","))
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text) if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text) else text
    text = re.sub(r"([_^])\{(\w)\}", r"\1\2", "".join(text.split()))
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text)
