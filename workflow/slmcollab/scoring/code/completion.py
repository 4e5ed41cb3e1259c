"""From a chat model's answer to the completion of a prompt: what stands between the prompt and the tests."""

import re

from slmcollab.scoring.code.languages import Language
from slmcollab.scoring.code.python_answers import declared_text, definitions, indentation, indented

FENCE = re.compile(r"^([ \t]*+)```[^\n`]*\n(.*?)(?:\n[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)
BACKTICKED = re.compile(r"`([^`\n]+)`")
PHP_END = re.compile(  # the alternatives before the last: where the characters of a closing tag are none
    r"""'(?:[^'\\]|\\.)*+(?:'|\Z)|"(?:[^"\\]|\\.)*+(?:"|\Z)|/\*.*?(?:\*/|\Z)"""
    r"""|<<<[ \t]*(['"]?)(\w+)\1\n.*?(?:\n[ \t]*\2\b|\Z)|(?://|\#)(?:(?!\?>)[^\n])*+|(?P<end>\?>)""",
    re.DOTALL,
)
NAMES = {"py": r"^def\s+(\w+)\s*\(", "sh": r"^(\w+)\s*\(\)", "": r"(\w+)\s*\("}
DECLARED = {  # {} is the function's name; the line that declares it, up to the name
    "sh": r"^([ \t]*+)(?:function[ \t]+)?{}[ \t]*(?:\(\))?[ \t\n]*\{{",
    "php": r"^([ \t]*+)function[ \t]+&?{}[ \t]*\(",
    "script": r"^([ \t]*+)(?:export[ \t]+)?(?:default[ \t]+)?(?:(?:async[ \t]+)?function[ \t]+{0}\b"
    r"|(?:const|let|var)[ \t]+{0}\b[^\n]*(?:=>[ \t]*\{{|function\b))",
    "typed": r"^([ \t]*+)(?!(?:return|else|if|while|for|switch|assert)\b)[\w:<>,\[\]&*?.() \t]+[\s&*>]{}[ \t]*\("
    r"[^;{{}}]*+\{{",
}
KINDS = {"js": "script", "ts": "script", "cpp": "typed", "java": "typed", "cs": "typed"}
KEPT = re.compile(  # how a top-level piece beside the function starts that may be needed by it
    r"(?:async[ \t]+)?function\b|(?:abstract[ \t]+)?class\b|interface\b|type\b|enum\b|use\b"
    r"|(?:const|let|var)[ \t]+(?!assert\b)|\$\w+[ \t]*=|\w+[ \t]*\(\)|declare\b|\w+="
)


def extract_completion(answer: str, prompt: str, language: Language, stop_tokens: list[str] | None = None) -> str:
    """Return what belongs behind `prompt`, from an answer that is code or holds fenced blocks of it (the last counts).

    An answer that declares the prompt's function again gives its body, and in languages where that is possible the
    helpers beside it; the prompt's own head stays. In Python its definitions stand whole behind the prompt's, which
    they override. Any other is read as a continuation and ends at the first stop token. The closing brace of the
    function is added or left out as the language's tests need it.
    """
    name = function_name(prompt, language)
    code = _code(answer, name, language)
    declared = _python(code, prompt, name) if language.name == "py" else _braced(code, name, language)
    if declared is not None:
        return declared
    code = _cut(code.strip("\n"), stop_tokens or language.stop_tokens)
    return indented(prompt, code) if language.name == "py" else _closed(code, language)


def _code(answer: str, name: str, language: Language) -> str:
    """Return an answer's code: all of it where that is Python, else its last block; PHP ends at its closing tag."""
    answer = answer.replace("\r\n", "\n")
    if language.name == "py" and definitions(answer, name) is not None:
        return answer
    if inline := BACKTICKED.fullmatch(answer.strip()):
        return inline[1]
    blocks = FENCE.findall(answer)
    code = re.sub(f"^{blocks[-1][0]}", "", blocks[-1][1], flags=re.MULTILINE) if blocks else answer
    code = code.rstrip().removesuffix("```").rstrip()
    return _php(code) if language.name == "php" else code


def _php(code: str) -> str:
    """Return PHP from its opening tag to its first closing tag, behind which all is text to print, the tests too."""
    before, tag, behind = code.partition("<?php")
    code = behind.lstrip(" ") if tag else before
    ends = (match.start() for match in PHP_END.finditer(code) if match["end"])
    return code[: next(ends, len(code))].rstrip()


def function_name(prompt: str, language: Language) -> str:
    """Return the name of the function that a prompt asks for, its last; "" if it declares none."""
    if language.name in NAMES:
        found = re.findall(NAMES[language.name], prompt, re.MULTILINE)
        return found[-1] if found else ""
    lines = [line for line in prompt.splitlines() if "(" in line and line.rstrip().endswith("{")]
    match = re.search(NAMES[""], lines[-1]) if lines else None
    return match[1] if match else ""


def _cut(code: str, stop_tokens: list[str] | tuple[str, ...]) -> str:
    ends = [at for token in stop_tokens if (at := f"{code}\n".find(token)) >= 0]
    return code[: min(ends)] if ends else code


def _python(code: str, prompt: str, name: str) -> str | None:
    """Return what overrides the prompt's function with the answer's own, else the body; None if it has neither."""
    text = declared_text(code, name)
    own = definitions(code, name) or (definitions(text[0], name) if text else None)
    if own is None:
        return text[1] if text else None
    return f"{'' if prompt.endswith(chr(10)) else chr(10)}{indentation(prompt)}pass\n\n{own}"


def _braced(code: str, name: str, language: Language) -> str | None:
    pattern = DECLARED[KINDS.get(language.name, language.name)].format(re.escape(name))
    matches = list(re.finditer(pattern, code, re.MULTILINE)) if name else []
    if not matches or (start := _opening(code, matches[-1], language)) is None:
        return None
    end, after = _closing(code, start, matches[-1][1])
    body = code[start + 1 : end].rstrip()
    if not language.helpers:
        return body
    helpers = "\n".join(_helpers(f"{code[: matches[-1].start()]}\n{code[after:]}", name))
    if language.braces == "completion":
        return f"{body}\n}}\n{helpers}"
    return f"{helpers}\n{body}" if helpers else body  # Bash: the function defines its helpers itself


def _opening(code: str, match: re.Match, language: Language) -> int | None:
    """Return the place of the brace that opens the body: behind the parameters, whose types may have braces too."""
    if match[0].endswith("{"):
        return match.end() - 1
    depth, at = 0, match.start() + match[0].find("(") if "(" in match[0] else match.end()
    while at < len(code):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if code[at] == "{" and depth == 0:
            return at
        at += 1
    return None


def _closing(code: str, start: int, indent: str) -> tuple[int, int]:
    """Return where the body ends and what follows it starts: a brace below the declaration, or on its own line."""
    line_end = code.find("\n", start)
    first = code[start : line_end if line_end >= 0 else len(code)]
    if first.count("{") == first.count("}"):
        return start + first.rfind("}"), start + len(first)
    match = re.compile(rf"^{re.escape(indent)}\}}[^\n]*", re.MULTILINE).search(code, start)
    return (match.start(), match.end()) if match else (len(code), len(code))


def _helpers(text: str, name: str) -> list[str]:
    """Return the pieces of top-level code, each with the lines below it that belong to it, that define something."""
    pieces = re.split(r"\n(?=[^\s})\]])", re.sub(r"<\?php", "", text))
    declares = re.compile(rf"(?:function|const|let|var)?[ \t]*{re.escape(name)}\b")
    pieces = [re.sub(r"^(?:export[ \t]+)(?:default[ \t]+)?", "", piece.strip("\n")) for piece in pieces]
    return [piece for piece in pieces if KEPT.match(piece) and not declares.match(piece)]


def _closed(code: str, language: Language) -> str:
    """Return a continuation with the closing brace that its language's tests do not bring, or without one they do."""
    missing = code.count("{") - code.count("}")
    if language.braces == "completion" and missing == 0:
        return f"{code}\n}}"
    if language.braces == "tests" and missing == -1 and code.endswith("}"):
        return code[:-1].rstrip()
    return code
