"""Messages to prompt ids in a model's own chat template, whatever that template cannot do."""

import re
from collections.abc import Sequence
from functools import lru_cache

from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

Messages = Sequence[dict[str, str]]

# A template that prints a date prints this one, Llama 3.2's own default: with today's, prompts would change overnight.
_DATES = {"%d %b %Y": "26 Jul 2024", "%d %B %Y": "26 July 2024", "%B %d, %Y": "July 26, 2024", "%Y-%m-%d": "2024-07-26"}
_PINNED_DATE = (
    "{%- macro strftime_now(format) -%}"
    "{{ dates[format] or raise_exception('no date is pinned in the format ' ~ format) }}"
    "{%- endmacro -%}"
)
CHANNEL = "<|channel|>"
_MESSAGE = re.compile(r"<\|channel\|>(\w+).*?<\|message\|>(.*?)(?=<\|(?:end|return|start|call)\|>|\Z)", re.DOTALL)
_SETTINGS = {
    "dates": _DATES,
    "date_string": _DATES["%d %b %Y"],
    # ASSUME: models that can think aloud before they answer do not.
    "enable_thinking": False,
    # ASSUME: a model that always thinks aloud first (gpt-oss) is asked for as little of it as it knows.
    "reasoning_effort": "low",
}


def encode(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> list[int]:
    """Return the prompt's ids, up to where the answer starts, with at most one beginning-of-sequence token.

    A template without a system role gets the system text at the head of the first user turn. A tokenizer without a
    template (a base model) reads the messages' texts, each but the last followed by a blank line, then a newline. No
    text of a message becomes a special token, whatever it spells.
    """
    messages = _defused(tokenizer, messages)
    if tokenizer.chat_template is None:
        return tokenizer(_plain_text(messages)).input_ids
    return _ids(tokenizer, _render(tokenizer, messages, header=True))


def encode_parts(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> tuple[list[int], list[int]]:
    """Return (ids up to the end of the user turn, ids of the assistant header); joined, they are `encode`'s.

    The header is empty where the template has none. Raises ValueError where the template has no such place: its text
    or its ids with a header do not begin with those without.
    """
    prompt = encode(tokenizer, messages)
    if tokenizer.chat_template is None:
        return prompt, []
    messages = _defused(tokenizer, messages)
    turn = _ids(tokenizer, _render(tokenizer, messages, header=False))
    if prompt[: len(turn)] != turn:
        raise ValueError(
            f"the chat template of {tokenizer.name_or_path!r} has no place between user turn and assistant header: "
            f"use context_position: end"
        )
    return turn, prompt[len(turn) :]


def spoken(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """Return what a completion says, without special tokens.

    A model that speaks in channels (gpt-oss) says its last final message, or, where the budget ended before one, its
    last message of any channel; the channels' names are no part of it.
    """
    if CHANNEL not in tokenizer.get_vocab():
        return tokenizer.decode(ids, skip_special_tokens=True)
    messages = _MESSAGE.findall(tokenizer.decode(ids, skip_special_tokens=False))
    finals = [text for channel, text in messages if channel == "final"]
    return (finals or [text for _, text in messages] or [""])[-1]


def _ids(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    # The template has written its own special tokens; the tokenizer's would double the first one.
    return tokenizer(text, add_special_tokens=False).input_ids


def _defused(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> list[dict[str, str]]:
    """Return messages without special tokens: a question, or what another model said, could forge a turn with them."""
    # ASSUME: a special token that a text spells out is broken by a space behind its first character.
    spelt = _special(tokenizer)

    def defuse(text: str) -> str:
        return spelt.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)

    return [{**message, "content": defuse(message["content"])} for message in messages]


@lru_cache(maxsize=8)
def _special(tokenizer: PreTrainedTokenizerBase) -> re.Pattern[str]:
    """Return what matches a special token of two characters or more, and nothing where there is none."""
    tokens = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    longest = sorted((token for token in tokens if len(token) > 1), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest)) or "(?!)")


def _plain_text(messages: Messages) -> str:
    return "\n\n".join(message["content"] for message in messages) + "\n"


def _render(tokenizer: PreTrainedTokenizerBase, messages: Messages, *, header: bool) -> str:
    """Return the templated text; the system text is folded where the template refuses it, drops it or moves it."""

    template = tokenizer.get_chat_template()
    if "strftime_now" in template:
        template = _PINNED_DATE + template

    def render(messages: Messages) -> str:
        return tokenizer.apply_chat_template(
            list(messages), chat_template=template, tokenize=False, add_generation_prompt=header, **_SETTINGS
        )

    folded = _fold_system(messages)
    if folded == list(messages):
        return render(messages)
    try:
        text = render(messages)
    except TemplateError:
        return render(folded)
    system, user = (message["content"].strip() for message in messages[:2])
    start = text.find(system)
    return text if start >= 0 and user in text[start + len(system) :] else render(folded)


def _fold_system(messages: Messages) -> list[dict[str, str]]:
    """Return the messages with a leading system text moved to the head of the user turn that follows it."""
    if len(messages) < 2 or messages[0]["role"] != "system":
        return list(messages)
    system, user, *others = messages
    return [{**user, "content": f"{system['content']}\n\n{user['content']}"}, *others]
