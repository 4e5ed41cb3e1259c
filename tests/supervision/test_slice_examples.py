"""Who learns what from a trajectory: contexts, complaints, sampled ids and rewards."""

from dataclasses import replace

import pytest

from slmcollab.generation.requests import Response
from slmcollab.protocol.prompt import messages, task_text
from slmcollab.protocol.runner import ProtocolSettings, RunNames, run
from slmcollab.supervision.examples import examples

SLOTS = ("a1", "a2", "a3")


def test_each_slot_gets_the_steps_in_which_it_was_active(trajectories, problems, prompt):
    found = examples(trajectories, problems, prompt, SLOTS)
    assert list(found) == list(SLOTS)
    assert [(e.trajectory, e.step) for e in found["a1"]] == [("p/0#0", 0), ("p/1#0", 1), ("p/2#0", 0), ("p/3#0", 1)]
    assert [(e.trajectory, e.step) for e in found["a2"]] == [("p/0#0", 1), ("p/1#0", 0), ("p/2#0", 1), ("p/3#0", 0)]
    assert found["a3"] == []
    first, second = found["a1"][:2]
    assert first.messages == [{"role": "user", "content": "What is 0 + 1?"}]
    assert first.completion == "<reasoning>0 up</reasoning><answer></answer><action>handoff(a2)</action>"
    assert first.completion_ids is None
    assert first.reward == 1.0
    earlier = "a2: <reasoning>1 up</reasoning><answer></answer><action>handoff(a1)</action>"
    assert second.messages == [{"role": "user", "content": f"What is 1 + 1?\n\n{earlier}"}]


def test_anomalous_steps_are_refined_but_not_demonstrated(trajectories, problems, prompt):
    steps = trajectories[0].steps
    broken = replace(trajectories[0], steps=(replace(steps[0], anomaly="no_action"), steps[1]))
    assert examples([broken], problems, prompt, SLOTS)["a1"] == []
    refined = examples([broken], problems, prompt, SLOTS, {"p/0#0": [-0.5, 0.25]})
    assert [(e.completion, e.reward) for e in refined["a1"]] == [(steps[0].text, -0.5)]
    assert [e.reward for e in refined["a2"]] == [0.25]


def test_trajectories_without_rewards_are_left_out_and_wrong_numbers_refused(trajectories, problems, prompt):
    found = examples(trajectories, problems, prompt, SLOTS, {"p/1#0": [0.1, 0.2]})
    assert {e.trajectory for es in found.values() for e in es} == {"p/1#0"}
    with pytest.raises(ValueError, match="p/1#0: 1 rewards for 2 steps"):
        examples(trajectories, problems, prompt, SLOTS, {"p/1#0": [0.1]})


class Scripted:
    """Says what it is told, in the order of the requests, and keeps what it was asked."""

    def __init__(self, texts):
        self.texts, self.asked = list(texts), []

    def generate(self, requests, decoding):
        self.asked += requests
        said = [self.texts.pop(0) for _ in requests]
        return [Response(text, 1, 2, "stop", (len(text), 7)) for text in said]


def test_contexts_and_ids_are_those_of_the_calls_retries_included(problems, prompt, members):
    """The context that is trained is, letter for letter, the one that was sent."""
    handoff = "<reasoning>x</reasoning><answer></answer><action>handoff(a2)</action>"
    end = "<reasoning>y</reasoning><answer>1</answer><action>terminate</action>"
    backend = Scripted(["<reasoning>x</reasoning><answer></answer>", handoff, end])
    prompt = replace(prompt, sections={**prompt.sections, "complaint": "again"})
    settings = ProtocolSettings("first", 5, 1, 2, 20, 0.9)
    names = RunNames("r", "cl", "toy", "train", 1)
    done, calls = run(problems[:1], members, backend, prompt, settings, seed=0, samples=1, run=names)
    rewards = {"p/0#0": [0.5, 1.0]}
    found = examples(done, problems, prompt, SLOTS, rewards, calls)
    assert found["a1"][0].messages == backend.asked[1].messages != backend.asked[0].messages
    assert found["a2"][0].messages == backend.asked[2].messages
    assert [e.completion_ids for e in (*found["a1"], *found["a2"])] == [(len(handoff), 7), (len(end), 7)]
    with pytest.raises(ValueError, match="step 1 is not what its call"):
        examples(done, problems, prompt, SLOTS, rewards, [replace(call, text="other") for call in calls[-1:]])


def test_the_task_is_the_one_of_the_problem(trajectories, problems, prompt):
    (example, *_) = examples(trajectories, problems, prompt, SLOTS)["a1"]
    assert example.messages == messages(prompt, task_text(problems[0]), [], "a1", SLOTS)
