"""Where a completion's answer stands: in the last <answer> tags, outside <think> tags."""

import re

TAG = re.compile(r"</?(?:think|answer)>")
PLACEHOLDER = "answer here"


def extract_answer(text: str) -> str | None:
    """Return the stripped content of the last <answer>...</answer> outside <think>...</think>, or None.

    Tags are matched as the prompt writes them, in lower case. None where the last answer is empty, never closed, or
    the prompt's own placeholder; <think> that is never closed runs to the end; of nested answers the inner counts.
    `text` is the completion alone, without its prompt.
    """
    # ASSUME: `<Answer>` is no answer tag, and a draft answer inside `<think>`, closed or not, is no answer.
    depth, start, answer = 0, None, None
    for tag in TAG.finditer(text):
        if tag[0] == "<think>":
            depth += 1
        elif tag[0] == "</think>":
            depth = max(depth - 1, 0)
        elif depth == 0 and tag[0] == "<answer>":
            start, answer = tag.end(), None
        elif depth == 0 and start is not None:
            answer, start = text[start : tag.start()].strip(), None
    return None if answer in (None, "", PLACEHOLDER) else answer
