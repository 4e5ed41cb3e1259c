"""A search in miniature: members whose skill an instruction sets, and an optimiser that reads from a script."""

import json
import re
from pathlib import Path

from slmcollab.artifacts import Problem
from slmcollab.generation.requests import STOP, Member, Response
from slmcollab.graph.nodes import Team
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.graph.runner import GraphSettings
from slmcollab.protocol.invocation import RunNames
from slmcollab.protocol.response import Fields, serialise
from slmcollab.search.proposal import SearchSettings
from slmcollab.search.search import Bench

SIZES = {"a1": 1.7, "a2": 4.0, "a3": 8.0}
TEAM = Team(SIZES, "words")
PROMPT = GraphPrompt(
    {
        "solve": "S $slot $question | $instruction",
        "revise": "R $slot $question | $seen | $instruction",
        "ensemble": "E $question | $seen",
        "extract": "X $question | $seen",
        "seen": "$number=$answer;",
        "propose": "P $workflow | $accuracy $score $num_questions | $failures | $team $max_nodes $max_characters",
        "failure": "$question -> $answer",
        "complaint": "again",
    }
)
PROBLEMS = [
    Problem(f"n{i}", f"n{i}", [{"role": "user", "content": f"What is n{i}?"}], f"gold{i} half", {"tests": f"hidden{i}"})
    for i in range(10)
]
NAMES = RunNames("toy/aflow/seed0/search", "aflow", "toy", "search", 0)


def chain(skill, *, half=False, **more):
    """Return a proposal of two nodes that solves the questions below `skill`; half: and the others half."""
    instruction = f"skill {skill}{' half' if half else ''}"
    return {"nodes": [{"operator": "solve", "instruction": instruction, **more}, {"operator": "extract", "sees": [1]}]}


def settings(**changes):
    values = {"iterations": 5, "dev_questions": 10, "patience": 5, "exploration": 1.4, "failures": 5}
    values |= {"max_characters": 500, "max_nodes": 6, "max_new_tokens": 99, "temperature": 0.7}
    return SearchSettings(**values | changes)


class Workshop:
    """proposals: what the optimiser says in one iteration after the other, JSON or a whole response as text.

    Members solve questions below 4 if no instruction says otherwise, pick the first reply, and copy it out. The
    generation that is asked number `stop` is not made: the job is killed.
    """

    def __init__(self, proposals, stop=None):
        self.proposals, self.stop = proposals, stop
        self.seen, self.decodings = [], []

    def generate(self, requests, decoding):
        if len(self.decodings) == self.stop:
            raise KeyboardInterrupt
        self.decodings.append(decoding)
        self.seen += requests
        return [self.respond(request) for request in requests]

    def respond(self, request):
        text = request.messages[-1]["content"]
        answer = self.answer(request.slot, text)
        return Response(answer if answer.startswith("!") else serialise(Fields("so", answer)), 3, 2, STOP)

    def answer(self, slot, text):
        if slot == "optimiser":
            proposal = self.proposal(text)
            return proposal if isinstance(proposal, str) else json.dumps(proposal)
        shown = dict(re.findall(r"(\d+)=([^;]*);", text))
        if text[0] in "EX":
            return shown["1"] if text[0] == "X" else "1"
        number, skill = int(re.search(r"n(\d+)\?", text)[1]), re.search(r"skill (\d+)( half)?", text)
        if number < (int(skill[1]) if skill else 4):
            return f"gold{number} half"
        return "half" if skill and skill[2] else "nothing"

    def proposal(self, text):
        """Return the next one; another attempt repeats what the first one said."""
        asked = [one for one in self.seen if one.slot == "optimiser" and "again" not in one.messages[-1]["content"]]
        return self.proposals[self.first + len(asked) - 1]

    first = 0  # of the proposals that are asked for: those before were made before the job was killed


def bench(backend, grader, team=TEAM, problems=PROBLEMS, **changes):
    members = [Member(slot, f"model-{slot}", Path(slot), size) for slot, size in {**SIZES, "optimiser": 14.0}.items()]
    graph = GraphSettings(max_new_tokens=9, top_p=0.95, retries=1)
    return Bench(team, members, problems, backend, grader, PROMPT, graph, 0.9, settings(**changes), NAMES, 0)
