"""Trajectories and answers of graphs: what was said comes back from them, and they are what every system leaves."""

import pytest
from graphs import CUT, SIZES, TEAM, play, prompt_of, question, said

from slmcollab.artifacts import ArtifactError, write_jsonl
from slmcollab.graph.records import answer_rows, replay, trajectories
from slmcollab.protocol.answers import read_answers
from slmcollab.protocol.trajectory import Trajectory, read_trajectories, write_trajectories
from slmcollab.teams import agentverse, gptswarm, mad

DEBATE = mad.build({"rounds": 2, "first_temperature": 0.9, "temperature": 0.3})
SWARM = gptswarm.build({"temperature": 0.7})
RECRUITED = agentverse.build({"iterations": 2, "accept": 8, "first_temperature": 0.9, "temperature": 0.3})
ROLES = said("a1: one\na2: two")
CASES = {
    "mad": (mad, DEBATE, {"a1": [1, "no", 2], "a2": [1, 3], "a3": ["x", said(4) + CUT, 3]}),
    "gptswarm": (gptswarm, SWARM, {"a1": [1, 2], "a2": [1, "no", 1, 3], "a3": [3, 4]}),
    "agentverse": (agentverse, RECRUITED, {"a1": [1, 1], "a2": [2, 1], "a3": [ROLES, 3, 0, 3, 9]}),
    "one iteration": (agentverse, RECRUITED, {"a1": [1], "a2": [2], "a3": [ROLES, 3, 9]}),
    "nothing": (mad, DEBATE, {slot: ["no"] * 4 for slot in SIZES}),
}


@pytest.fixture(params=CASES)
def played(request):
    module, method, texts = CASES[request.param]
    (episode,), _ = play(method, {"q": texts}, prompt_of(module))
    return method, episode


def test_replay_gives_back_what_was_said(played, tmp_path):
    method, episode = played
    write_trajectories(tmp_path / "t", trajectories(method, TEAM, [episode]))
    (found,) = read_trajectories(tmp_path / "t")
    again = replay(method, TEAM, episode.question, found)
    assert again == episode.said
    assert list(again) == list(episode.said)


def test_rows_are_those_of_every_system(played, tmp_path):
    method, episode = played
    rows = answer_rows(method, TEAM, [episode.question], trajectories(method, TEAM, [episode]))
    write_jsonl(tmp_path / "answers", rows)
    assert read_answers(tmp_path / "answers") == rows


def test_a_row_by_hand():
    module, method, texts = CASES["mad"]
    (episode,), _ = play(method, {"q": texts}, prompt_of(module))
    (found,) = trajectories(method, TEAM, [episode])
    assert [(step.slot, step.answer, step.anomaly, step.complaint) for step in found.steps] == [
        ("a1", "1", None, None),
        ("a2", "1", None, None),
        ("a3", "", "truncated", "malformed"),
        ("a1", "2", None, "malformed"),
        ("a2", "3", None, None),
        ("a3", "3", None, None),
    ]
    assert {step.action for step in found.steps} == {None}
    assert answer_rows(method, TEAM, [question("q")], [found]) == [
        {
            "id": "q",
            "answer": "3",
            "slot": "a3",
            "end": "terminated",
            "num_steps": 2,
            "candidates": [{"step": 0, "slot": "a1", "answer": "1"}, {"step": 0, "slot": "a2", "answer": "1"}],
        }
    ]


def test_a_team_without_an_answer_ends_by_anomalies():
    module, method, texts = CASES["nothing"]
    (episode,), _ = play(method, {"q": texts}, prompt_of(module))
    (found,) = trajectories(method, TEAM, [episode])
    (row,) = answer_rows(method, TEAM, [question("q")], [found])
    assert (found.end, row["end"], row["answer"], row["slot"]) == ("anomalies", "anomalies", "", None)
    assert row["candidates"] == []


def test_trajectories_of_something_else_are_refused(played):
    method, episode = played
    (found,) = trajectories(method, TEAM, [episode])
    steps = found.steps
    for wrong in (steps[:-1], (*steps, steps[-1]), steps[::-1] if steps[0].slot != steps[-1].slot else steps[1:]):
        with pytest.raises(ArtifactError, match="q#0"):
            replay(method, TEAM, episode.question, Trajectory("q", 0, wrong, "terminated"))
    with pytest.raises(ArtifactError, match="not a trajectory on p#0"):
        answer_rows(method, TEAM, [question("p")], [found])
    with pytest.raises(ValueError, match="shorter"):
        answer_rows(method, TEAM, [episode.question, question("p")], [found])
