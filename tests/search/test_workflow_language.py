"""The workflow language: what it refuses, who is asked what, and what the answer is."""

import json
from pathlib import Path

import pytest
from workshop import NAMES, PROBLEMS, PROMPT, SIZES, TEAM, Workshop

from slmcollab.generation.requests import STOP, Member, Response
from slmcollab.graph.nodes import Question, Team
from slmcollab.graph.records import answer_rows, replay, trajectories
from slmcollab.graph.runner import GraphSettings, Start, run
from slmcollab.protocol.response import Fields, serialise
from slmcollab.search.workflow import START, Compiled, WorkflowError, read_workflow

SOLVE, EXTRACT = {"operator": "solve"}, {"operator": "extract", "sees": [1]}
SLOTS = list(SIZES)


def both(**last):
    return {"nodes": [SOLVE, {**EXTRACT, **last}]}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], 'a workflow is {"nodes"'),
        ({"nodes": {}}, 'a workflow is {"nodes"'),
        ({"nodes": [SOLVE, EXTRACT], "found": 1}, 'a workflow is {"nodes"'),
        ({"nodes": [SOLVE]}, "1 nodes; allowed are 2 to 4"),
        ({"nodes": [SOLVE] * 5}, "5 nodes; allowed are 2 to 4"),
        ({"nodes": [SOLVE, 3]}, "node 2: operator is not one of solve, ensemble, extract"),
        (both(operator="code"), "node 2: operator is not one of"),
        (both(operator=["solve"]), "node 2: operator is not one of"),
        (both(python="x"), "node 2: key 'python'; extract has operator, sees"),
        (both(slot="a1"), "node 2: key 'slot'; extract has operator, sees"),
        (both(operator="solve", prompt="x"), "node 2: key 'prompt'; solve has instruction, operator, sees, slot"),
        (both(operator="solve", slot=None), "node 2: slot is no text"),
        (both(operator="solve", instruction=3), "node 2: instruction is no text"),
        (both(operator="solve", instruction="\ud800"), "node 2: instruction is no text"),
        (both(operator="solve", instruction="x" * 501), "node 2: instruction is longer than 500"),
        (both(sees="1"), "node 2: sees is no list of numbers"),
        (both(sees=[True]), "node 2: sees is no list of numbers"),
        (both(sees=[1.0]), "node 2: sees is no list of numbers"),
        (both(sees=[2]), r"node 2: sees \[2\]; allowed are earlier nodes"),
        (both(sees=[3]), r"node 2: sees \[3\]; allowed are earlier nodes"),
        (both(sees=[0]), r"node 2: sees \[0\]; allowed are earlier nodes"),
        (both(operator="solve", sees=[1, 1]), r"node 2: sees \[1, 1\]; allowed are earlier nodes, each once"),
        (both(sees=[]), "node 2: extract sees exactly 1 node, not 0"),
        (both(operator="ensemble"), "node 2: ensemble sees at least 2 nodes, not 1"),
        ({"nodes": [SOLVE, SOLVE, EXTRACT]}, "node 2: no later node sees it"),
    ],
)
def test_what_is_no_workflow(value, message):
    with pytest.raises(WorkflowError, match=message):
        read_workflow(value, min_nodes=2, max_nodes=4)


def test_a_slot_that_there_is_not():
    with pytest.raises(WorkflowError, match="node 2: slot 'a9' is not one of a1, a2, a3"):
        read_workflow(both(operator="solve", slot="a9")).placed(SLOTS)


def test_what_is_written_is_read_back_a_node_a_line():
    workflow = read_workflow(both(operator="solve", slot="a3", instruction='mind "é" <answer>')).placed(SLOTS)
    assert workflow.written().split("\n")[2] == (
        '  {"operator": "solve", "sees": [1], "slot": "a3", "instruction": "mind \\"é\\" <answer>"}'
    )
    assert read_workflow(json.loads(workflow.written())) == workflow
    assert read_workflow(workflow.described()) == workflow


def graph(value, team=TEAM):
    nodes = Compiled(read_workflow(value), 0.9).nodes(team, Question(PROBLEMS[0], 0, 0), {})
    return [(node.name, node.slot, node.kind, node.sees, node.picks, node.temperature) for node in nodes]


def test_the_start_asks_every_member_then_the_largest():
    assert graph(START) == [
        ("1", "a1", "solve", (), False, 0.9),
        ("2", "a2", "solve", (), False, 0.9),
        ("3", "a3", "solve", (), False, 0.9),
        ("4", "a3", "ensemble", ("1", "2", "3"), True, 0.0),
        ("5", "a3", "extract", ("4",), False, 0.0),
    ]
    assert [row[1] for row in graph(START, Team({"a1": 8.0, "a2": 4.0}, None))] == ["a1", "a2", "a1", "a1", "a1"]


def test_the_round_robin_counts_solve_nodes_that_name_their_member_too():
    nodes = [{**SOLVE, "slot": "a3"}, SOLVE, {"operator": "ensemble", "sees": [2, 1]}, {**SOLVE, "sees": [3]}]
    assert graph({"nodes": nodes}) == [
        ("1", "a3", "solve", (), False, 0.9),
        ("2", "a2", "solve", (), False, 0.9),
        ("3", "a3", "ensemble", ("2", "1"), True, 0.0),
        ("4", "a3", "revise", ("3",), False, 0.9),
    ]


class Says:
    """answers: by slot, call after call; None is a response that cannot be read."""

    def __init__(self, **answers):
        self.answers, self.read = {slot: iter(texts) for slot, texts in answers.items()}, []

    def generate(self, requests, decoding):
        self.read += [(request.slot, request.messages[-1]["content"], decoding.temperature) for request in requests]
        given = [next(self.answers[request.slot]) for request in requests]
        return [Response("?" if one is None else serialise(Fields("so", one)), 1, 1, STOP) for one in given]


def answered(value, team=TEAM, **answers):
    """Return the backend, and the row of answers.jsonl."""
    backend, method, question = Says(**answers), Compiled(read_workflow(value), 0.9), Question(PROBLEMS[0], 0, 0)
    members = [Member(slot, slot, Path(slot), size) for slot, size in team.sizes.items()]
    settings = GraphSettings(9, 1.0, 0)
    episodes = run(method, team, [Start(question)], backend, PROMPT, settings, NAMES, members=members)
    found = trajectories(method, team, episodes)
    assert replay(method, team, question, found[0]) == episodes[0].said
    return backend, answer_rows(method, team, [question], found)[0]


def test_operators_are_asked_in_their_order_and_the_last_one_answers():
    instructed = {"nodes": [{**SOLVE, "instruction": "count"}, *START["nodes"][1:]]}
    backend, row = answered(instructed, a1=["x"], a2=["y"], a3=["z", "2", "why?"])
    assert backend.read == [
        ("a1", "S a1 What is n0? | count", 0.9),
        ("a2", "S a2 What is n0? | ", 0.9),
        ("a3", "S a3 What is n0? | ", 0.9),
        ("a3", "E What is n0? | 1=x;\n\n2=y;\n\n3=z;", 0.0),
        ("a3", "X What is n0? | 1=y;", 0.0),
    ]
    assert (row["answer"], row["slot"], row["num_steps"], row["end"]) == ("why?", "a3", 3, "terminated")
    assert [(one["step"], one["slot"], one["answer"]) for one in row["candidates"]] == [
        (0, "a1", "x"),
        (0, "a2", "y"),
        (0, "a3", "z"),
        (1, "a3", "y"),
    ]


@pytest.mark.parametrize(
    ("picks", "answers", "expected"),
    [
        ("1", ("x", "y", "z"), "x"),
        ("Answer 2.", ("x", "y", "z"), "y"),
        ("4", ("x", "y", "y"), "y"),  # there is no fourth: the majority
        ("0", ("x", "x", "z"), "x"),
        ("none", ("X", "x ", "z"), "x"),  # equal as words; the larger of their two models wrote it so
        ("none", ("x", "y", "z"), "z"),  # a tie: the largest model's
        (None, ("x", "y", "z"), "z"),
        ("1", (None, "y", "z"), "z"),  # the one chosen cannot be read
        ("1", (None, None, None), ""),
    ],
)
def test_what_an_ensemble_picks_and_what_it_falls_back_on(picks, answers, expected):
    voted = {"nodes": START["nodes"][:4]}
    _, row = answered(voted, a1=[answers[0]], a2=[answers[1]], a3=[answers[2], picks])
    assert row["answer"] == expected
    assert row["end"] == ("terminated" if expected else "anomalies")


def test_on_open_texts_an_ensemble_falls_back_on_the_largest_model():
    voted = {"nodes": START["nodes"][:4]}
    _, row = answered(voted, Team(SIZES, None), a1=["x"], a2=["x"], a3=["z", "none"])
    assert row["answer"] == "z"


def test_a_last_node_that_cannot_be_read_is_no_answer():
    _, row = answered(both(), a1=["x"], a3=[None])
    assert (row["answer"], row["slot"], row["num_steps"]) == ("", None, 2)
    assert [candidate["answer"] for candidate in row["candidates"]] == ["x"]


def test_a_workflow_of_one_node_has_no_candidates():
    _, row = answered({"nodes": [SOLVE]}, a1=["x"])
    assert (row["answer"], row["num_steps"], row["candidates"]) == ("x", 1, [])


def test_the_workshop_knows_four_questions():
    assert [Workshop([]).answer("a1", f"S a1 What is n{i}? | ") for i in (3, 4)] == ["gold3 half", "nothing"]
