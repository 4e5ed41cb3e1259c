"""What holds for every baseline: what its prompts show, what they never do, and which attempts it learns from."""

from dataclasses import replace
from string import Template

import pytest
from graphs import MEMBERS, NAMES, SETTINGS, TEAM, prompt_of, question, said
from learners import GRAPH, make_arena, make_learner

from slmcollab import choice
from slmcollab.generation.requests import STOP, Response
from slmcollab.graph.runner import Start, run

WORKFLOW = [
    *({"operator": "solve"}, {"operator": "solve", "sees": [1]}),
    *({"operator": "ensemble", "sees": [1, 2]}, {"operator": "extract", "sees": [3]}),
]
WARM = {"first_temperature": 0.9, "temperature": 0.3}
OF_TEAMS = {
    "mad": {"rounds": 3, **WARM},
    "agentverse": {"iterations": 3, "accept": 8, **WARM},
    "aflow": {"workflow": {"nodes": WORKFLOW}, "temperature": 0.9},
    "gptswarm": {"temperature": 0.7},
    **{name: {"rounds": 2} for name in ("magrpo", "maporl", "at_grpo")},
}
OF_SEARCH = {"propose", "failure"}  # sections that a search fills in, no graph
every_team = pytest.mark.parametrize("name", sorted(choice.names(choice.TEAM)))
every_learner = pytest.mark.parametrize("name", [name for name, said in choice.teams().items() if "LEARNING" in said])


class Stubborn:
    """A backend that breaks the form until it hears of it, and then answers with a number below 3."""

    def __init__(self):
        self.read = []

    def generate(self, requests, decoding):
        self.read += ["\n".join(one["content"] for one in request.messages) for request in requests]
        return [Response(self.answer(request), 7, 2, STOP, (6, 7)) for request in requests]

    def answer(self, request):
        return said(request.seed % 3) if "was refused" in request.messages[-1]["content"] else "broken"


def evaluate(name):
    """Return what was asked of a team at evaluation, and the backend."""
    module, backend = choice.get(choice.TEAM, name), Stubborn()
    given = (module.build(OF_TEAMS[name]), TEAM, [Start(question("q"))], backend, prompt_of(module))
    (episode,) = run(*given, SETTINGS, NAMES, members=MEMBERS)
    return episode.asked, backend


def harvest(name):
    backend, graph = Stubborn(), replace(GRAPH, retries=1)
    with make_arena(backend, MEMBERS, "text", "exact", graph) as arena:
        return make_learner(name).harvest(arena, [question("q")]), backend


def assert_only_the_task_is_told(texts):
    assert all("What is q?" in text for text in texts)
    assert any("was refused" in text for text in texts)
    assert not any(secret in text for text in texts for secret in ("GOLD", "HIDDEN"))


@every_team
def test_gold_and_hidden_tests_reach_no_prompt(name):
    asked, backend = evaluate(name)
    assert {one.node.kind for one in asked} == choice.teams()[name]["KINDS"].keys() - OF_SEARCH
    assert_only_the_task_is_told(backend.read)


@every_learner
def test_gold_and_hidden_tests_reach_no_prompt_of_what_learns(name):
    found, backend = harvest(name)
    assert len(found.samples) > 0
    assert_only_the_task_is_told(backend.read)


@every_learner
def test_of_each_node_the_last_attempt_is_learned_with_the_complaint(name):
    """Four episodes of two rounds of three, or three turns of four candidates: each is asked for twice."""
    found, _ = harvest(name)
    nodes, attempts = zip(*(sample.asked.call.id.rsplit("/", 1) for sample in found.samples), strict=True)
    assert len(nodes) == len(set(nodes)) == (3 * 4 if name == "at_grpo" else 4 * 2 * 3)
    assert set(attempts) == {"1"}
    assert all("was refused" in sample.asked.messages[-1]["content"] for sample in found.samples)


@every_team
def test_its_prompt_uses_all_that_it_is_given(name):
    module = choice.get(choice.TEAM, name)
    given = {kind: {"question", *texts} for kind, texts in module.KINDS.items()}
    given |= {"seen": {"reasoning", "answer"}, "complaint": {"problem"}}
    for one in evaluate(name)[0]:
        given[one.node.kind] |= {"seen"} if one.node.sees else set()
        if one.node.own:
            given[one.node.kind] |= {"own"}
            given["own"] = {"reasoning", "answer"}
    if name == "aflow":
        given["propose"] -= {"question"}  # the optimiser reads those that failed
    sections = prompt_of(module).sections
    unused = {kind: names - set(Template(sections[kind]).get_identifiers()) for kind, names in given.items()}
    assert {kind: names for kind, names in unused.items() if names} == {}
