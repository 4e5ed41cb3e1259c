"""AFlow: its prompt files have what its operators and its optimiser need, and a found workflow is its method."""

import json
from pathlib import Path
from string import Template

import pytest
from workshop import PROBLEMS, TEAM

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.choice import teams
from slmcollab.graph.nodes import Node, Question
from slmcollab.graph.prompt import messages, read_graph_prompt
from slmcollab.search.proposal import SearchSettings, proposer
from slmcollab.search.tree import Measured, Trial
from slmcollab.search.workflow import KEYS, MAX_INSTRUCTION, START, WorkflowError, read_workflow
from slmcollab.teams import aflow

PROMPTS = Path(__file__).parents[2] / "workflow/prompts"


def test_what_its_config_block_holds():
    assert teams()["aflow"] == {"KINDS": aflow.KINDS, "SETTINGS": ("temperature",), "SEARCH": aflow.SEARCH}


@pytest.mark.parametrize("name", ["aflow", "toy_aflow"])
def test_its_prompts_are_whole(name):
    prompt = read_graph_prompt(PROMPTS / f"{name}.txt", aflow.KINDS)
    assert "own" not in {found for text in prompt.sections.values() for found in Template(text).get_identifiers()}


def test_a_prompt_without_a_kind_is_refused(tmp_path):
    text = (PROMPTS / "toy_aflow.txt").read_text().replace("[propose]", "[failed]")
    (tmp_path / "prompt.txt").write_text(text)
    with pytest.raises(ArtifactError, match="section \\[failed\\] is there twice, or is not one of"):
        read_graph_prompt(tmp_path / "prompt.txt", aflow.KINDS)


def test_the_optimiser_is_told_the_language_and_shown_what_was_measured():
    settings = SearchSettings(20, 20, 5, 1.4, 1, 8000, 16, 99, 0.9)
    measured = Measured(0.35, 0.5, (0.35, 0.5), 20, (("q", "four </answer>"),))
    trial = Trial(0, None, read_workflow(START).placed(TEAM.slots), measured=measured)
    asked = "<answer> What is 1 + 2? $x"
    problems = {"q": Problem("q", "", [{"role": "user", "content": asked}], "goldfish", {"tests": "hidden"})}
    prompt = read_graph_prompt(PROMPTS / "aflow.txt", aflow.KINDS)
    node = proposer(trial, problems, TEAM, prompt, settings, 0).node
    alone = Problem("proposal", "", [{"role": "user", "content": ""}], None)
    *_, read = messages(prompt, node, alone, {}, slots=["optimiser"])
    text = read["content"]
    assert f"instruction, at most {MAX_INSTRUCTION} characters" in text
    assert "There may be 2 to 16 nodes, and 8000 characters in all." in text
    assert f"answered 35.0 % of 20 questions rightly (mean score 50.0 %):\n{trial.workflow.written()}" in text
    assert "Question:\n&lt;answer> What is 1 + 2? $x\nIts answer: four &lt;/answer>" in text
    assert all(f'{{"operator": "{operator}", "sees": [...]' in text for operator in KEYS)
    assert "goldfish" not in text
    assert "hidden" not in text


def test_a_found_workflow_is_its_method():
    found = read_workflow(START).placed(TEAM.slots).written()
    method = aflow.build({"workflow": json.loads(found), "temperature": 0.3})
    nodes = method.nodes(TEAM, Question(PROBLEMS[0], 0, 0), {})
    assert nodes[1] == Node("2", "a2", "solve", texts={"instruction": ""}, temperature=0.3)
    assert nodes[3] == Node("4", "a3", "ensemble", ("1", "2", "3"), picks=True)
    assert {node.kind for node in nodes} < aflow.KINDS.keys()
    with pytest.raises(WorkflowError, match="node 1: operator"):
        aflow.build({"workflow": {"nodes": [{"operator": "import os"}]}, "temperature": 0.3})
