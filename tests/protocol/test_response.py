"""What is written comes back, what is forged does not, and every broken response is told what is wrong with it."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slmcollab.protocol.response import (
    ANOMALIES,
    SOLO_ANOMALIES,
    Fields,
    Parsed,
    escape,
    parse,
    serialise,
    serialise_parts,
    trim,
    unescape,
)

SLOTS = ("a1", "a2", "a3")
LIVE = re.compile("</?(reasoning|answer|action)>")
PIECES = [f"<{slash}{name}>" for name in ("reasoning", "answer", "action") for slash in ("", "/")]
PIECES += [
    "<",
    ">",
    "/",
    "&",
    "amp;",
    "lt;",
    "&lt;",
    "answer>",
    "continue",
    "terminate",
    "handoff(a2)",
    "handoff(",
    "\n",
]
PIECES += ["    x", " ", "\u2028", "\\frac{1}{2}", '{"a": "\\boxed{3}"}']
TEXT = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
SHORT = {"slot": "a1", "slots": SLOTS, "cut": False}
R, A = "<reasoning>r</reasoning>", "<answer>5</answer>"


def act(text):
    return f"<action>{text}</action>"


@st.composite
def valid_fields(draw):
    action = draw(st.sampled_from(["continue", "terminate", "handoff"]))
    reasoning, answer = draw(TEXT.map(trim)), draw(TEXT.map(trim))
    if action == "terminate" and not answer:
        answer = "0"
    return Fields(reasoning, answer, action, draw(st.sampled_from(["a2", "a3"])) if action == "handoff" else None)


@given(valid_fields())
def test_what_is_serialised_comes_back(fields):
    assert parse(serialise(fields), **SHORT) == Parsed(**vars(fields), anomaly=None)


@given(TEXT.map(trim), TEXT.map(trim).filter(bool))
def test_what_one_without_actions_says_comes_back(reasoning, answer):
    fields = Fields(reasoning, answer)
    assert parse(serialise(fields), **SHORT, actions=False) == Parsed(reasoning, answer)


@given(TEXT)
def test_escaped_text_has_no_tag_of_ours_and_comes_back(text):
    assert not LIVE.search(escape(text))
    assert unescape(escape(text)) == text


@given(TEXT, TEXT)
def test_different_texts_stay_different(first, second):
    assert (escape(first) == escape(second)) == (first == second)


@given(TEXT)
def test_trimmed_text_is_trimmed(text):
    assert trim(trim(text)) == trim(text)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<answer>", "&lt;answer>"),
        ("&lt;answer>", "&amp;lt;answer>"),
        ("&amp;lt;/action>", "&amp;amp;lt;/action>"),
        ("<<answer>", "<&lt;answer>"),
        *[
            (text, text)
            for text in (r"\frac{1}{2}", "x < 5 & y", "&lt;b>", "<Answer>", "<answer >", '{"a": "\\boxed{3}"}')
        ],
    ],
)
def test_only_tags_of_ours_are_escaped(text, escaped):
    assert escape(text) == escaped


@pytest.mark.parametrize(
    ("text", "trimmed"),
    [("\n\n    return x\n  y\n ", "    return x\n  y"), ("  3 ", "  3"), (" \n\t\n", ""), ("a\r\n", "a")],
)
def test_blank_lines_go_and_indentation_stays(text, trimmed):
    assert trim(text) == trimmed


def test_white_space_between_fields_is_allowed():
    text = f"\n<reasoning>\nr\n</reasoning>\n\n<answer>\n5\n</answer>\n{act(' handoff(a3) ')}\n"
    assert parse(text, **SHORT) == Parsed("r", "5", "handoff", "a3")


WHAT_IS_WRONG = {
    "cut within the answer": ("<reasoning>r</reasoning><answer>12", "malformed", ("r", "", None)),
    "no tag at all": ("The answer is 5.", "malformed", ("", "", None)),
    "nothing": ("", "malformed", ("", "", None)),
    "an unclosed reasoning that quotes an answer": (f"<reasoning>r {A}{act('terminate')}", "malformed", ("", "", None)),
    "a field within a field": (f"<reasoning>r {A}</reasoning>{A}{act('continue')}", "malformed", ("", "", None)),
    "the answer twice": (f"{R}{A}<answer>6</answer>{act('continue')}", "malformed", ("r", "", "continue")),
    "the answer first": (f"{A}{R}{act('terminate')}", "malformed", ("r", "5", "terminate")),
    "no answer": (f"{R}{act('continue')}", "malformed", ("r", "", "continue")),
    "no reasoning": (f"{A}{act('terminate')}", "malformed", ("", "5", "terminate")),
    "words before": (f"Sure! {R}{A}{act('terminate')}", "malformed", ("r", "5", "terminate")),
    "words after": (f"{R}{A}{act('terminate')} Done.", "malformed", ("r", "5", "terminate")),
    "words between": (f"{R} so {A}{act('terminate')}", "malformed", ("r", "5", "terminate")),
    "the action not closed": (f"{R}{A}<action>terminate", "malformed", ("r", "5", None)),
    "a closing tag too many": (f"{R}{A}{act('terminate')}</action>", "malformed", ("r", "5", None)),
    "an answer after an unclosed one": (f"{R}<answer>4 {A}{act('terminate')}", "malformed", ("r", "", None)),
    "no action": (f"{R}{A}", "no_action", ("r", "5", None)),
    "two action fields": (f"{R}{A}{act('continue')}{act('continue')}", "two_actions", ("r", "5", None)),
    "two actions in a field": (f"{R}{A}{act('continue|terminate|handoff(a2)')}", "two_actions", ("r", "5", None)),
    "two handoffs in a field": (f"{R}{A}{act('handoff(a2) handoff(a3)')}", "two_actions", ("r", "5", None)),
    "an action that there is not": (f"{R}{A}{act('stop')}", "unknown_action", ("r", "5", None)),
    "another case": (f"{R}{A}{act('Terminate')}", "unknown_action", ("r", "5", None)),
    "an empty action": (f"{R}{A}{act('')}", "unknown_action", ("r", "5", None)),
    "a handoff to nobody": (f"{R}{A}{act('handoff')}", "unknown_action", ("r", "5", None)),
    "a target that there is not": (f"{R}{A}{act('handoff(a4)')}", "unknown_target", ("r", "5", None)),
    "no target": (f"{R}{A}{act('handoff()')}", "unknown_target", ("r", "5", None)),
    "a handoff to itself": (f"{R}{A}{act('handoff(a1)')}", "self_handoff", ("r", "5", None)),
    "nothing to end with": (f"{R}<answer> \n</answer>{act('terminate')}", "empty_answer", ("r", "", "terminate")),
}


@pytest.mark.parametrize(("text", "anomaly", "kept"), WHAT_IS_WRONG.values(), ids=WHAT_IS_WRONG)
def test_what_is_wrong_is_told_and_what_is_unambiguous_kept(text, anomaly, kept):
    assert parse(text, **SHORT) == Parsed(*kept, None, anomaly)


def test_every_anomaly_occurs():
    assert {anomaly for _, anomaly, _ in WHAT_IS_WRONG.values()} | {"truncated"} == set(ANOMALIES)


@pytest.mark.parametrize("text", [f"{R}<answer>12", f"{R}{A}<action>hand", f"{R}{A}{act('terminate')}"])
def test_a_response_that_the_budget_ended_is_truncated_whatever_else_it_is(text):
    parsed = parse(text, slot="a1", slots=SLOTS, cut=True)
    assert (parsed.anomaly, parsed.reasoning) == ("truncated", "r")


def test_the_first_of_several_anomalies_is_told():
    """Two fields of actions, one of which is no action: malformed for the words, else two_actions."""
    assert parse(f"{R}{A}{act('stop')}{act('continue')}", **SHORT).anomaly == "two_actions"
    assert parse(f"{R}{A}{act('stop')}{act('continue')} x", **SHORT).anomaly == "malformed"


def test_an_empty_answer_is_allowed_where_the_work_goes_on():
    assert parse(f"{R}<answer></answer>{act('handoff(a2)')}", **SHORT) == Parsed("r", "", "handoff", "a2")


@pytest.mark.parametrize(
    ("text", "anomaly"),
    [
        (R + A, None),
        (f"{R}<answer></answer>", "empty_answer"),
        (f"{R}{A}{act('terminate')}", "malformed"),
        (R, "malformed"),
    ],
)
def test_without_actions_there_are_two_fields(text, anomaly):
    parsed = parse(text, **SHORT, actions=False)
    assert (parsed.anomaly, parsed.action) == (anomaly, None)
    assert anomaly is None or anomaly in SOLO_ANOMALIES


@given(TEXT, st.booleans(), st.booleans())
def test_no_text_raises_and_what_is_read_is_always_allowed(text, cut, actions):
    parsed = parse(text, slot="a1", slots=SLOTS, cut=cut, actions=actions)
    assert parsed.anomaly is None or parsed.anomaly in (ANOMALIES if actions else SOLO_ANOMALIES)
    assert parsed.action in (None, "continue", "terminate", "handoff")
    assert parsed.target in ({"a2", "a3"} if parsed.action == "handoff" else {None})
    again = parse(serialise_parts(Fields(parsed.reasoning, parsed.answer, parsed.action, parsed.target)), **SHORT)
    assert (again.reasoning, again.answer, again.action) == (parsed.reasoning, parsed.answer, parsed.action)


@pytest.mark.parametrize(
    "piece", ["<answer>", "</answer>", R, act("continue"), "&amp;", "&lt;", "<", "handoff(", " \n"]
)
def test_long_texts_are_read_in_linear_time(piece):
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    parse(text, **SHORT)
    parse(f"{R}<answer>{text}</answer><action>{text}</action>", **SHORT)
    assert unescape(escape(text)) == text
    assert time.process_time() - started < 2


@pytest.mark.parametrize("wrong", [("stop", None), ("handoff", None), ("continue", "a2"), (None, "a2")])
def test_no_other_action_is_written(wrong):
    with pytest.raises(ValueError, match="no action of the protocol"):
        serialise(Fields("r", "5", *wrong))
