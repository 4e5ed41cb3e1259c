"""The fixed graph of seven nodes."""

import re

import pytest
from graphs import CUT, SIZES, TEAM, play, prompt_of, question, read, said

from slmcollab.graph.nodes import Team
from slmcollab.teams import gptswarm

SWARM = gptswarm.build({"temperature": 0.7})
PROMPT = prompt_of(gptswarm)
SEVEN = {"a1": [1, 6], "a2": [2, 3, 5], "a3": [4, 7]}  # io-0, io-1; cot-0, cot-1, cot-2; debate-0, aggregate-0


def test_seven_nodes_in_four_waves():
    (episode,), backend = play(SWARM, {"q": SEVEN}, PROMPT)
    assert backend.asked == [["a1", "a2", "a2"], ["a3"], ["a2", "a1"], ["a3"]]
    assert [(name, found.answer, found.level) for name, found in episode.said.items()] == [
        ("io-0", "1", 0),
        ("cot-0", "2", 0),
        ("cot-1", "3", 0),
        ("debate-0", "4", 1),
        ("cot-2", "5", 2),
        ("io-1", "6", 2),
        ("aggregate-0", "7", 3),
    ]
    assert {decoding.temperature for decoding in backend.decodings} == {0.7}


def test_who_sees_what():
    (episode,), _ = play(SWARM, {"q": SEVEN}, PROMPT)
    answers = {name: re.findall(r"<answer>(\d)</answer>", text) for name, text in read(episode).items()}
    assert answers == {
        "io-0": [],
        "cot-0": [],
        "cot-1": [],
        "debate-0": ["1", "2", "3"],
        "cot-2": ["4"],
        "io-1": ["4"],
        "aggregate-0": ["4", "5", "6"],
    }


def test_the_two_first_chains_of_thought_draw_apart():
    _, backend = play(SWARM, {"q": SEVEN}, PROMPT)
    assert len({request.seed for requests in backend.rounds for request in requests}) == 7


def test_the_aggregator_writes_the_answer_whatever_the_others_say():
    texts = {"a1": [1, 1], "a2": [1, 1, 1], "a3": [1, 9]}
    (episode,), _ = play(SWARM, {"q": texts}, PROMPT)
    final = SWARM.final(TEAM, episode.said)
    assert (final.answer, final.slot, final.num_steps) == ("9", "a3", 4)
    assert [found.node.name for found in final.candidates] == list(gptswarm.GRAPH)[:-1]
    assert max(found.level for found in final.candidates) < final.num_steps - 1


def test_an_aggregator_that_cannot_be_read_leaves_no_answer():
    texts = SEVEN | {"a3": [4, said(9) + CUT, "9"]}
    (episode,), backend = play(SWARM, {"q": texts}, PROMPT)
    assert SWARM.final(TEAM, episode.said).answer == ""
    assert SWARM.final(TEAM, episode.said).slot is None
    assert len(episode.asked) == 8
    assert "be shorter" in backend.rounds[-1][0].messages[-1]["content"]


def test_models_have_their_nodes_by_size_not_by_place():
    team = Team({"a1": 8.0, "a2": 1.7, "a3": 4.0}, "number")
    slots = {node.name: node.slot for node in SWARM.nodes(team, question("q"), {})}
    assert slots == {
        **{"io-0": "a2", "io-1": "a2", "cot-0": "a3", "cot-1": "a3", "cot-2": "a3"},
        **{"debate-0": "a1", "aggregate-0": "a1"},
    }


@pytest.mark.parametrize("sizes", [{"a1": 1.0}, SIZES | {"a4": 1.0}])
def test_a_team_of_another_number_is_refused(sizes):
    with pytest.raises(ValueError, match=r"systems\.\*\.models: \d of them"):
        SWARM.nodes(Team(sizes, "number"), question("q"), {})


def test_questions_are_asked_together_and_go_as_they_would_alone():
    texts = dict.fromkeys(("p", "q"), SEVEN)
    together, backend = play(SWARM, texts, PROMPT)
    assert [len(requests) for requests in backend.rounds] == [6, 2, 4, 2]
    assert together == [play(SWARM, {name: SEVEN}, PROMPT)[0][0] for name in texts]
