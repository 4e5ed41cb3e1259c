"""A response's text and its fields: how one is written, what is read of it, and what is wrong with it."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from slmcollab.protocol.trajectory import CONTINUE, HANDOFF, TERMINATE

TRUNCATED, MALFORMED, NO_ACTION, TWO_ACTIONS = "truncated", "malformed", "no_action", "two_actions"
UNKNOWN_ACTION, UNKNOWN_TARGET = "unknown_action", "unknown_target"
SELF_HANDOFF, EMPTY_ANSWER = "self_handoff", "empty_answer"
# What can be wrong. Where several things are, the first of them in this order is what is recorded.
ANOMALIES = (
    *(TRUNCATED, MALFORMED, NO_ACTION, TWO_ACTIONS),
    *(UNKNOWN_ACTION, UNKNOWN_TARGET, SELF_HANDOFF, EMPTY_ANSWER),
)
SOLO_ANOMALIES = (TRUNCATED, MALFORMED, EMPTY_ANSWER)  # where no actions are asked for

_REST = r"(/?)(reasoning|answer|action)>"
_TAG = re.compile(f"<{_REST}")
_TO_ESCAPE = re.compile(f"(?:<|&(?:amp;)*lt;)(?={_REST})")
_ESCAPED = re.compile(f"&(?:amp;)*lt;(?={_REST})")
_FORM = re.compile("<reasoning></reasoning><answer></answer>((?:<action></action>)*)")
_HANDOFF = re.compile(rf"{HANDOFF}\(([^()<>]*)\)")
_NAMED = re.compile(rf"\b(?:{CONTINUE}|{TERMINATE}|{HANDOFF})\b")


@dataclass(frozen=True)
class Fields:
    """What a response says; target only with a handoff. action is None where no actions are asked for."""

    reasoning: str
    answer: str
    action: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Parsed(Fields):
    """What could be read of a response: "" and None where nothing could. anomaly: one of ANOMALIES, None if sound."""

    anomaly: str | None = None


def escape(text: str) -> str:
    """Return text without any tag of ours, `<answer>` as `&lt;answer>`; all else, other `<` and `&`, stays as it is.

    A tag that was escaped before gets one more `amp;`, so that `unescape` gives back every text.
    """
    return _TO_ESCAPE.sub(lambda found: "&lt;" if found[0] == "<" else "&amp;" + found[0][1:], text)


def unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: "<" if found[0] == "&lt;" else "&" + found[0].removeprefix("&amp;"), text)


def trim(text: str) -> str:
    """Return text without blank lines before it and white space after it; its first line keeps its indentation."""
    # ASSUME: a field is read without blank lines before it and white space after it; code keeps its indentation.
    text = text.rstrip()
    indent = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, indent) + 1 :]


def serialise(fields: Fields) -> str:
    """Return the text of a response; `parse` gives back the fields if they are trimmed, whatever is in them.

    Raises ValueError for an action that there is not, and for a target without a handoff or the reverse.
    """
    return _tagged("reasoning", fields.reasoning) + _tagged("answer", fields.answer) + _action_text(fields)


def serialise_parts(fields: Fields) -> str:
    """Return the text of what could be read of a broken response, its fields that are not empty: "" of nothing."""
    shown = [_tagged(name, getattr(fields, name)) for name in ("reasoning", "answer") if getattr(fields, name)]
    return "".join(shown) + _action_text(fields)


def parse(text: str, *, slot: str, slots: Collection[str], cut: bool, actions: bool = True) -> Parsed:
    """Return what `slot` said in `text`, its completion alone; never raises, and needs time linear in the text.

    A sound response is reasoning, answer and action (none where actions is False), each once, with nothing but white
    space around them. Of any other, a field is kept if its tags occur once, with no tag of ours between them and
    behind no field left open; and the action only if it is one that `slot`, of the team `slots`, may take. cut: the
    token budget ended the response, which is an anomaly even where all fields are there.
    """
    tags = list(_TAG.finditer(text))
    contents = _contents(text, tags)
    once = {tag for tag, count in Counter(tag[0] for tag in tags).items() if count == 1}
    kept = {name: found[0] for name, found in contents.items() if {f"<{name}>", f"</{name}>"} <= once}
    reasoning, answer = (unescape(trim(kept.get(name, ""))) for name in ("reasoning", "answer"))
    action, target, fault = _judge(contents.get("action", []), slot, slots)
    if not actions or "action" not in kept:
        action, target = None, None
    # ASSUME: words around the fields break a response, and so does an end at the budget, even with all fields there.
    if cut:
        anomaly = TRUNCATED
    elif not _keeps_form(text, tags, actions=actions):
        anomaly = MALFORMED
    elif actions and fault:
        anomaly = fault
    elif not answer and (action == TERMINATE or not actions):
        anomaly = EMPTY_ANSWER
    else:
        anomaly = None
    return Parsed(reasoning, answer, action, target, anomaly)


def _tagged(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"


def _action_text(fields: Fields) -> str:
    action, target = fields.action, fields.target
    if (action == HANDOFF) != (target is not None) or action not in (None, CONTINUE, TERMINATE, HANDOFF):
        raise ValueError(f"no action of the protocol: {action!r} with target {target!r}")
    if action is None:
        return ""
    return f"<action>{action if target is None else f'{action}({target})'}</action>"


def _contents(text: str, tags: Sequence[re.Match[str]]) -> dict[str, list[str]]:
    """Return what stands in the fields that the very next tag closes, up to the first field that it does not."""
    contents: dict[str, list[str]] = {}
    following = iter(tags)
    for tag in following:
        if tag[1]:
            continue
        closing = next(following, None)
        if closing is None or closing[0] != f"</{tag[2]}>":
            break
        contents.setdefault(tag[2], []).append(text[tag.end() : closing.start()])
    return contents


def _keeps_form(text: str, tags: Sequence[re.Match[str]], *, actions: bool) -> bool:
    """Tell whether reasoning and answer are there once, then actions (how many is judged apart), and nothing else."""
    form = _FORM.fullmatch("".join(tag[0] for tag in tags))
    if not form or (form[1] and not actions):
        return False
    ends = [0, *(tag.end() for tag in tags[1::2])]
    starts = [*(tag.start() for tag in tags[::2]), len(text)]
    return all(not text[end:start].strip() for end, start in zip(ends, starts, strict=True))


def _judge(contents: Sequence[str], slot: str, slots: Collection[str]) -> tuple[str | None, str | None, str | None]:
    """Return (action, target, what is wrong) of the contents of all action fields; an action only if it is allowed."""
    if not contents:
        return None, None, NO_ACTION
    text = contents[0].strip()
    handoff = _HANDOFF.fullmatch(text)
    if len(contents) > 1 or (not handoff and len(_NAMED.findall(text)) > 1):
        return None, None, TWO_ACTIONS
    if text in (CONTINUE, TERMINATE):
        return text, None, None
    if not handoff:
        return None, None, UNKNOWN_ACTION
    if handoff[1] not in slots:
        return None, None, UNKNOWN_TARGET
    return (None, None, SELF_HANDOFF) if handoff[1] == slot else (HANDOFF, handoff[1], None)
