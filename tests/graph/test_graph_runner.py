"""Waves of any graph: who can be asked when, what is recorded, and what a broken response costs."""

from dataclasses import dataclass, replace

import pytest
from graphs import CUT, MEMBERS, NAMES, SETTINGS, TEAM, Script, play, question, read, reply, said

from slmcollab.graph.nodes import Final, Node
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.graph.runner import GraphSettings, Start, picked, run

PROMPT = GraphPrompt({"ask": "$question\n$seen", "pick": "$question pick\n$seen", "seen": "$answer", "complaint": "?"})


@dataclass
class Graph:
    """A method whose graph is a list of nodes."""

    all: list[Node]

    def nodes(self, team, question, said):
        return self.all

    def final(self, team, said):
        return Final("", None, (), 1)


def node(name, slot="a1", sees=(), kind="ask", **more):
    return Node(name, slot, kind, tuple(sees), **more)


DIAMOND = Graph([node("d", "a3", ["b", "c"]), node("a"), node("b", "a2", ["a"]), node("c", "a1", own="a")])


def test_nodes_wait_for_what_they_are_shown():
    (episode,), backend = play(DIAMOND, {"q": {"a1": [1, 3], "a2": [2], "a3": [4]}}, PROMPT)
    assert backend.asked == [["a1"], ["a2", "a1"], ["a3"]]
    assert [(name, found.level, found.answer) for name, found in episode.said.items()] == [
        ("a", 0, "1"),
        ("b", 1, "2"),
        ("c", 1, "3"),
        ("d", 2, "4"),
    ]
    assert read(episode)["d"] == "What is q?\n2\n\n3"


def test_calls_tell_where_they_stand():
    (episode,), _ = play(DIAMOND, {"q": {"a1": [1, 3], "a2": ["broken", 2], "a3": [4]}}, PROMPT, seed=5)
    calls = [asked.call for asked in episode.asked]
    assert [(call.id, call.retry_of, call.step, call.round, call.agent) for call in calls] == [
        ("q#0/0/0", None, 0, 0, "a1"),
        ("q#0/1/0", None, 1, 1, "a2"),
        ("q#0/2/0", None, 2, 1, "a1"),
        ("q#0/1/1", "q#0/1/0", 1, 1, "a2"),
        ("q#0/3/0", None, 3, 2, "a3"),
    ]
    assert len({call.seed for call in calls}) == 5
    assert [(call.parse_ok, call.anomaly) for call in calls[1:4]] == [(False, "malformed"), (True, None), (True, None)]
    assert {(call.model, call.model_b, call.phase) for call in calls if call.agent == "a2"} == {
        ("model-a2", 4.0, "eval")
    }
    assert list(episode.said) == ["a", "b", "c", "d"]  # a retry does not change the order


def test_a_question_that_retries_holds_up_no_other():
    texts = {"p": {"a1": ["no", 1, 3], "a2": [2], "a3": [4]}, "q": {"a1": [1, 3], "a2": [2], "a3": [4]}}
    _, backend = play(DIAMOND, texts, PROMPT)
    assert [[request.messages[-1]["content"][8] for request in requests] for requests in backend.rounds] == [
        ["p", "q"],
        ["p", "q", "q"],
        ["p", "p", "q"],
        ["p"],
    ]


def test_a_reply_that_stays_broken_is_empty_and_the_graph_goes_on():
    broken = "<reasoning>so</reasoning><answer>9</answer> and more"
    (episode,), _ = play(DIAMOND, {"q": {"a1": [broken, broken, 3], "a2": [2], "a3": [said(4) + CUT] * 2}}, PROMPT)
    first, last = episode.said["a"], episode.said["d"]
    assert (first.reasoning, first.answer, first.anomaly, first.text) == ("", "", "malformed", broken)
    assert (last.answer, last.anomaly) == ("", "truncated")
    assert [asked.call.answer for asked in episode.asked if asked.node.name == "a"] == ["9", "9"]  # as it was parsed


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_attempts(retries):
    (episode,), _ = play(
        Graph([node("a")]), {"q": {"a1": ["no"] * 9}}, PROMPT, settings=replace(SETTINGS, retries=retries)
    )
    assert len(episode.asked) == retries + 1


def test_decodings_are_asked_apart_and_may_be_set_for_all():
    graph = Graph([node("a", temperature=0.5), node("b", "a2"), node("c", "a3", temperature=0.5)])
    texts = {"q": {"a1": [1], "a2": [2], "a3": [1]}}
    _, backend = play(graph, texts, PROMPT, settings=GraphSettings(9, 0.95, 1))
    found = [(each.max_new_tokens, each.temperature, each.top_p) for each in backend.decodings]
    assert found == [(9, 0.5, 0.95), (9, 0.0, 0.95)]
    assert backend.asked == [["a1", "a3"], ["a2"]]
    _, backend = play(graph, texts, PROMPT, settings=GraphSettings(9, 1.0, 1, temperature=0.7))
    assert [each.temperature for each in backend.decodings] == [0.7]


def test_what_was_said_before_is_not_asked_again():
    given = {"a": reply("a1", "1"), "b": reply("a2", "7", 1)}
    backend = Script({"q": {"a1": [3], "a3": [4]}})
    starts = [Start(question("q"), given)]
    (episode,) = run(DIAMOND, TEAM, starts, backend, PROMPT, SETTINGS, NAMES, "train", members=MEMBERS)
    assert backend.asked == [["a1"], ["a3"]]
    assert [(asked.node.name, asked.call.step, asked.call.round) for asked in episode.asked] == [
        ("c", 2, 2),
        ("d", 3, 3),
    ]
    assert {asked.call.phase for asked in episode.asked} == {"train"}
    assert read(episode)["d"] == "What is q?\n7\n\n3"
    assert list(given) == ["a", "b"]


def test_two_of_one_question_and_sample_are_refused():
    starts = [Start(question("q")), Start(question("q"), {"a": reply("a1", "1")})]
    with pytest.raises(ValueError, match="same problem and sample"):
        run(DIAMOND, TEAM, starts, Script({}), PROMPT, SETTINGS, NAMES, members=MEMBERS)


def test_nothing_to_ask():
    assert run(DIAMOND, TEAM, [], Script({}), PROMPT, SETTINGS, NAMES, members=MEMBERS) == []
    (episode,) = run(Graph([]), TEAM, [Start(question("q"))], Script({}), PROMPT, SETTINGS, NAMES, members=MEMBERS)
    assert (episode.said, episode.asked) == ({}, ())


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        *(("1", "5"), ("3", "7"), ("Reply 3.", "7"), ("#3", "7"), ("3)", "7")),
        # No number of a reply, or of one that could not be read: the majority, 5.
        *(("0", "5"), ("4", "5"), ("-3", "5"), ("", "5"), ("1 or 3", "5"), ("3.5", "5"), ("C", "5"), ("9" * 5000, "5")),
    ],
)
def test_a_pick_is_the_number_of_a_reply(answer, chosen):
    assert picked(answer, [reply("a1", "5"), reply("a2", "5"), reply("a3", "7")], TEAM) == chosen


def test_a_pick_stands_for_the_answer_that_it_names():
    graph = Graph([node("a"), node("b", "a2"), node("c", "a3", ["b", "a"], kind="pick", picks=True)])
    for answer, chosen in (
        (1, "6"),
        (2, "5"),
        (3, "6"),
    ):  # the third is there for no reply: a tie, so the larger of both
        (episode,), _ = play(graph, {"q": {"a1": [5], "a2": [6], "a3": [answer]}}, PROMPT)
        assert episode.said["c"].answer == chosen
        assert episode.asked[-1].call.answer == str(answer)
    (episode,), _ = play(graph, {"q": {"a1": [5], "a2": ["no", "no"], "a3": ["1", "1"]}}, PROMPT)
    assert (episode.said["c"].answer, episode.said["c"].anomaly) == ("5", "malformed")
