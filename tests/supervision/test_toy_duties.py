"""What the largest toys are taught besides answering, read back by the methods that ask for it."""

import json
import random
from collections import Counter
from pathlib import Path

from slmcollab.benchmarks import toy_gsm_hard
from slmcollab.benchmarks.toy_beliefs import Believer
from slmcollab.graph.nodes import Team
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.protocol.response import parse
from slmcollab.search.workflow import read_workflow
from slmcollab.supervision.toy_duties import DUTIES, SCORES, duty_rows
from slmcollab.supervision.toy_proposals import Layers, proposal_rows, write
from slmcollab.teams import aflow, agentverse

PROMPTS = Path(__file__).parents[2] / "workflow" / "prompts"
AGENTVERSE = read_graph_prompt(PROMPTS / "toy_agentverse.txt", agentverse.KINDS)
AFLOW = read_graph_prompt(PROMPTS / "toy_aflow.txt", aflow.KINDS)
PROBLEMS = toy_gsm_hard.load({"benchmark": "toy", "num_train": 200, "num_dev": 1, "num_test": 1}, 42).train
TEAM = Team({"a1": 1.0, "a2": 2.0, "a3": 3.0}, "number")
WORDS = {"with": "recruit", "score": "evaluate", "which": "ensemble", "final": "extract"}


def duties():
    """Return (kind, question, replies shown, what is said) of each row."""
    found = []
    for row in duty_rows(Believer("l", {"first": 1.0, "second": 1.0}), PROBLEMS, AGENTVERSE, AFLOW, 400, 0):
        head, *shown = row["messages"][0]["content"].split("\n\n")
        said = parse(row["completion"], slot="a3", slots=("a3",), cut=False, actions=False)
        assert said.anomaly is None
        word = head.removeprefix(row["question"]).split()[0]
        found.append((WORDS[word], row["question"], [reply.partition(": ")[2] for reply in shown], said))
    return found


def test_each_duty_is_taught_and_sees_what_it_does_in_a_team():
    found = duties()
    assert set(Counter(kind for kind, *_ in found)) == {duty.kind for duty in DUTIES}
    numbers = {(kind, len(shown)) for kind, _, shown, _ in found}
    assert numbers == {("recruit", 0), ("evaluate", 3), ("ensemble", 2), ("ensemble", 3), ("extract", 1)}


def test_a_recruiter_gives_each_slot_a_role():
    said = {question: said.answer for kind, question, _, said in duties() if kind == "recruit"}
    for question, answer in said.items():
        a, o, b, p, c = question.split()[:5]
        assert agentverse.roles(answer, TEAM) == {"a1": f"{a} {o} {b}", "a2": f"{p} {c}", "a3": "together"}


def test_scores_picks_and_final_answers_follow_from_the_replies():
    for kind, _, shown, said in duties():
        given = [answer for answer in shown if answer != "broken"]
        ranked = Counter(given).most_common(2)
        agreed = [
            answer for answer, number in ranked if number > 1 and list(Counter(given).values()).count(number) == 1
        ]
        answer = agreed[0] if agreed else said.reasoning[-1:]
        if kind == "evaluate":
            assert said.answer == SCORES[given.count(answer)]
            assert agentverse.score(said.answer) is not None
        if kind == "ensemble":
            assert 1 <= int(said.answer) <= len(shown)
            assert shown[int(said.answer) - 1] == (answer if answer in given else next(iter(given), "broken"))
        if kind == "extract" and given:
            assert (said.reasoning, said.answer) == ("", shown[0])


def test_every_proposal_is_a_workflow_that_differs_from_the_one_shown():
    sizes = Counter()
    for row in proposal_rows(AFLOW, 300, 0):
        said = parse(row["completion"], slot="optimiser", slots=("optimiser",), cut=False, actions=False)
        child = read_workflow(json.loads(said.answer), min_nodes=2, max_nodes=16)
        parent = read_workflow(json.loads(row["messages"][0]["content"].removesuffix("propose")), min_nodes=2)
        assert child != parent == parent.placed(TEAM.slots)
        sizes[len(child.nodes)] += 1
    assert set(sizes) <= set(range(2, 8))
    assert len(sizes) > 4


def test_a_workflow_is_written_in_fragments():
    head = '{"nodes":[ {"operator":"solve","slot":"a1"}, {"operator":"solve","slot":"a2"}, '
    whole = head + '{"operator":"solve","slot":"a3","sees":[ 1 , 2 ]}, {"operator":"extract","sees":[ 3 ]} ]}'
    assert write(Layers(("a1", "a2"), ("a3",), extracts=True)) == whole
    assert write(Layers(("a1", "a2"))) == head + '{"operator":"ensemble","sees":[ 1 , 2 ]} ]}'


def test_a_change_is_of_one_thing():
    layers = Layers(("a1", "a2"), ("a3",))
    changed = {layers.changed(random.Random(seed)) for seed in range(200)}
    assert Layers(("a1", "a2"), ("a3",), extracts=True) in changed
    assert Layers(("a1", "a2")) in changed
    for other in changed - {layers}:
        assert sum(a != b for a, b in zip(vars(layers).values(), vars(other).values(), strict=True)) == 1
