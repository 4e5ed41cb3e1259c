"""What a member reads: its place, the task, the steps so far and a complaint, none of which can pass for a field."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import PROMPT

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.protocol.prompt import messages, read_prompt, task_text
from slmcollab.protocol.response import ANOMALIES, SOLO_ANOMALIES
from slmcollab.protocol.trajectory import Step

PROMPTS = Path(__file__).parents[2] / "workflow" / "prompts"
SLOTS = ("a1", "a2", "a3")
LIVE = re.compile("</?(?:reasoning|answer|action)>")
TAGS = [f"<{slash}{name}>" for name in ("reasoning", "answer", "action") for slash in ("", "/")]
TEXT = st.one_of(st.text(), st.lists(st.sampled_from([*TAGS, "&lt;", "$slot", "<", "x"])).map("".join))
FIRST = Step("a1", "as it was said", "because", "4", "handoff", "a2")


def test_a_context_by_hand():
    assert messages(PROMPT, "2 + 2?", [FIRST], "a2", SLOTS, "self_handoff") == [
        {"role": "system", "content": "You are a2, with a1, a3. You may hand off."},
        {
            "role": "user",
            "content": "Task: 2 + 2?\n\nSo far: a1: <reasoning>because</reasoning><answer>4</answer>"
            "<action>handoff(a2)</action>\n\nWrong: to yourself",
        },
    ]


def test_one_without_teammates_hears_nothing_of_handing_off():
    system, user = messages(PROMPT, "2 + 2?", [], "a1", ["a1"])
    assert system["content"] == "You are a1, with ."
    assert user["content"] == "Task: 2 + 2?"


def test_of_a_broken_step_what_could_be_read_is_shown():
    broken = Step("a1", "<reasoning>it said</reasoning> oops", "it said", "", None, None, "malformed")
    assert messages(PROMPT, "t", [broken, FIRST], "a2", SLOTS)[-1]["content"].startswith(
        "Task: t\n\nSo far: a1: <reasoning>it said</reasoning>\na1: <reasoning>because"
    )


@given(TEXT, TEXT, TEXT)
def test_no_text_adds_a_tag_or_fills_in_a_placeholder(task, reasoning, answer):
    """The tags that are live are the six of the earlier step, whatever the texts are."""
    steps = [Step("a1", "text", reasoning, answer, "terminate")]
    (_, user) = messages(PROMPT, task, steps, "a2", SLOTS)
    assert LIVE.findall(user["content"]) == TAGS
    assert ("$slot" in user["content"]) == ("$slot" in task + reasoning + answer)


def test_a_system_message_of_the_problem_heads_its_task():
    chat = [{"role": "system", "content": "Facts."}, {"role": "user", "content": "Ask?"}]
    assert task_text(Problem("p", "Ask?", chat, None)) == "Facts.\n\nAsk?"
    assert task_text(Problem("p", "Ask?", chat[1:], None)) == "Ask?"


@pytest.mark.parametrize("slots", [SLOTS, ("a1",)])
@pytest.mark.parametrize("complaint", [None, *ANOMALIES])
def test_the_real_prompt_is_read_and_filled_in(slots, complaint):
    prompt = read_prompt(PROMPTS / "collaborate.txt")
    system, user = messages(prompt, "2 + 2?", [FIRST], "a1", slots, complaint)
    text = system["content"] + user["content"]
    assert "$" not in text
    assert ("handoff(NAME)" in text) == (len(slots) > 1)
    assert ("refused" in text) == (complaint is not None)
    assert len(text.split()) < 300


@pytest.mark.parametrize("complaint", [None, *SOLO_ANOMALIES])
def test_the_real_prompt_of_one_alone_says_nothing_of_actions(complaint):
    prompt = read_prompt(PROMPTS / "solo.txt", actions=False)
    system, user = messages(prompt, "2 + 2?", [], "a1", ["a1"], complaint)
    assert "action" not in system["content"] + user["content"]


GOOD = "[user]\n$question\n[history]\n$steps\n[step]\n$speaker $response\n[complaint]\nno: $slot pays 5 $$\n"


def write(tmp_path, text):
    path = tmp_path / "prompt.txt"
    path.write_text(text)
    return path


def test_a_short_prompt_has_no_system_message(tmp_path):
    prompt = read_prompt(write(tmp_path, GOOD))
    assert messages(prompt, "q", [], "a1", SLOTS, "malformed") == [{"role": "user", "content": "q\n\nno: a1 pays 5 $"}]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD.replace("$steps", "$step"), r"\[history\] holds \$step; allowed are .*\$steps"),
        (GOOD.replace("$$", "$"), "starts no placeholder"),
        (GOOD.replace("[step]\n$speaker $response\n", ""), r"no section \[step\]"),
        (GOOD.replace("$slot", "$problem"), r"no section \[truncated\]"),
        (GOOD + "[user]\nagain", r"\[user\] is there twice"),
        (GOOD + "[usr]\nagain", r"\[usr\] is there twice, or is not one of system, user"),
        ("Hello\n" + GOOD, "text before the first section"),
    ],
)
def test_a_prompt_file_that_does_not_fit_is_refused(tmp_path, text, fault):
    with pytest.raises(ArtifactError, match=rf"prompt.txt.*{fault}"):
        read_prompt(write(tmp_path, text))


def test_a_prompt_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ArtifactError, match=r"absent\.txt: no such file"):
        read_prompt(tmp_path / "absent.txt")
