"""Slots, targets and texts change together; what was thought, and who took over from whom, stays."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import PROMPT

from slmcollab.protocol.permutation import draw, permute
from slmcollab.protocol.prompt import messages
from slmcollab.protocol.response import Fields, parse, serialise
from slmcollab.protocol.trajectory import Step, Trajectory

SLOTS = ("a1", "a2", "a3")
ROUND = {"a1": "a2", "a2": "a3", "a3": "a1"}
FORGED = "a2 said <action>handoff(a2)</action>; handoff(a3)?"


def step(slot, action, target=None, reasoning="I am a1; a2 knows", answer="ask a3"):
    fields = Fields(reasoning, answer, action, target)
    return Step(slot, serialise(fields), reasoning, answer, action, target)


def trajectory(*steps):
    return Trajectory("q", 0, steps, "terminated")


def test_a_handed_on_trajectory_by_hand():
    """a1 -> a3 -> a2 under a1>a2, a2>a3, a3>a1 is a2 -> a1 -> a3; what they say of a1, a2, a3 stays."""
    before = trajectory(step("a1", "handoff", "a3"), step("a3", "handoff", "a2", FORGED), step("a2", "terminate"))
    after = permute(before, ROUND)
    assert [(s.slot, s.action, s.target) for s in after.steps] == [
        ("a2", "handoff", "a1"),
        ("a1", "handoff", "a3"),
        ("a3", "terminate", None),
    ]
    assert [(s.reasoning, s.answer) for s in after.steps] == [(s.reasoning, s.answer) for s in before.steps]
    assert after.steps[0].text == (
        "<reasoning>I am a1; a2 knows</reasoning><answer>ask a3</answer><action>handoff(a1)</action>"
    )
    assert "a2 said &lt;action>handoff(a2)&lt;/action>; handoff(a3)?" in after.steps[1].text


def test_the_context_of_the_next_one_follows():
    before = trajectory(step("a1", "handoff", "a3"), step("a3", "terminate"))
    after = permute(before, ROUND)
    content = messages(PROMPT, "task", after.steps[:1], after.steps[1].slot, SLOTS)[-1]["content"]
    assert "So far: a2: <reasoning>I am a1; a2 knows" in content
    assert content.endswith("<action>handoff(a1)</action>")


def test_in_a_text_of_another_form_only_the_target_changes():
    text = "\n<reasoning>a2?</reasoning> <answer>1</answer>\n<action> handoff(a3) </action>"
    before = trajectory(Step("a1", text, "a2?", "1", "handoff", "a3"))
    assert permute(before, ROUND).steps[0].text == text.replace("handoff(a3)", "handoff(a1)")


def test_a_broken_step_keeps_its_words():
    """To itself stays to itself, to nobody stays to nobody, and one in other words is only words."""
    text = "<action>handoff(a1)</action><action>handoff(a7)</action><action>or handoff(a2)</action><action>handoff(a2)"
    before = trajectory(Step("a1", text, "", "", None, None, "malformed", "no_action"))
    (after,) = permute(before, ROUND).steps
    assert after.text == text.replace("<action>handoff(a1)", "<action>handoff(a2)")
    assert (after.slot, after.anomaly, after.complaint) == ("a2", "malformed", "no_action")


ACTIONS = st.one_of(
    st.tuples(st.sampled_from(["continue", "terminate"]), st.none()),
    st.tuples(st.just("handoff"), st.sampled_from(SLOTS)),
)
WORDS = st.sampled_from(["a1", "handoff(a2)", FORGED, "<answer>", "", "3"])
CLEAN = st.builds(
    lambda slot, act, reasoning, answer: step(slot, *act, reasoning, answer),
    st.sampled_from(SLOTS),
    ACTIONS,
    WORDS,
    WORDS,
)
BROKEN = st.builds(
    lambda slot, text: Step(slot, text, "", "", None, None, "malformed"),
    st.sampled_from(SLOTS),
    st.lists(st.sampled_from(["<action>", "</action>", "handoff(a1)", "handoff(a3)", " ", "<answer>"])).map("".join),
)
STEPS = st.lists(st.one_of(CLEAN, BROKEN), min_size=1, max_size=6)
MAPPINGS = st.permutations(SLOTS).map(lambda taken: dict(zip(SLOTS, taken, strict=True)))


@given(STEPS, MAPPINGS)
def test_the_inverse_gives_the_original(steps, mapping):
    before = trajectory(*steps)
    assert permute(permute(before, mapping), {new: old for old, new in mapping.items()}) == before


@given(STEPS, MAPPINGS, MAPPINGS)
def test_two_permutations_are_one(steps, first, second):
    before = trajectory(*steps)
    assert permute(permute(before, first), second) == permute(before, {slot: second[first[slot]] for slot in SLOTS})


@given(st.lists(CLEAN, min_size=1, max_size=6), MAPPINGS)
def test_texts_are_those_of_the_new_fields_and_the_structure_stays(steps, mapping):
    before = trajectory(*steps)
    after = permute(before, mapping)
    for old, new in zip(before.steps, after.steps, strict=True):
        assert new.text == serialise(Fields(new.reasoning, new.answer, new.action, new.target))
        others = [parse(s.text, slot=s.slot, slots=SLOTS, cut=False).anomaly for s in (old, new)]
        assert others[0] == others[1]
    assert shape(before) == shape(after)


def shape(trajectory):
    """Return which places, speakers and targets in their order, hold the same slot, whatever it is."""
    names = [name for step in trajectory.steps for name in (step.slot, step.target)]
    return [name and names.index(name) for name in names]


def test_every_permutation_is_drawn_about_equally():
    """6 permutations, 6000 draws: 1000 each, standard deviation sqrt(6000 x 1/6 x 5/6) = 29; 5 of them are 145."""
    counts = Counter(tuple(draw(SLOTS, 3, f"q{n}#0").values()) for n in range(6000))
    assert set(counts) == set(permutations(SLOTS))
    assert all(abs(count - 1000) < 145 for count in counts.values())


def test_a_draw_follows_from_seed_and_trajectory():
    assert draw(SLOTS, 0, "q#0") == draw(list(SLOTS), 0, "q#0")
    assert len({tuple(draw(SLOTS, seed, "q#0").values()) for seed in range(50)}) == 6
    assert draw(["a1"], 0, "q#0") == {"a1": "a1"}


@pytest.mark.parametrize("mapping", [{"a1": "a2"}, {"a1": "a2", "a2": "a2"}, {"a2": "a3", "a3": "a2"}])
def test_what_is_no_permutation_is_refused(mapping):
    with pytest.raises(ValueError, match="no permutation"):
        permute(trajectory(step("a1", "terminate")), mapping)
