"""Teams that answer as a graph, by a script: who is asked, in which order, seeing what."""

from pathlib import Path

from slmcollab.artifacts import Problem
from slmcollab.generation.requests import LENGTH, STOP, Member, Response
from slmcollab.graph.nodes import Node, Question, Reply, Team
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.graph.runner import GraphSettings, Start, run
from slmcollab.protocol.invocation import RunNames
from slmcollab.protocol.response import Fields, serialise

PROMPTS = Path(__file__).parents[1] / "workflow" / "prompts"
SIZES = {"a1": 1.7, "a2": 4.0, "a3": 8.0}
TEAM = Team(SIZES, "number")
MEMBERS = [Member(slot, f"model-{slot}", Path("models") / slot, size) for slot, size in SIZES.items()]
NAMES = RunNames("toy/mad/seed0/eval", "mad", "toy", "eval", 0)
SETTINGS = GraphSettings(max_new_tokens=9, top_p=0.95, retries=1)
CUT = "[cut]"  # at the end of a text: it ran into the budget


def question(name, sample=0, seed=0):
    """Return a question whose gold answer and hidden tests can be looked for in what models read."""
    messages = [{"role": "user", "content": f"What is {name}?"}]
    return Question(Problem(name, name, messages, "GOLD", {"tests": "HIDDEN"}), sample, seed)


def said(answer, reasoning="so"):
    return serialise(Fields(reasoning, str(answer)))


def reply(slot, answer, level=0, anomaly=None):
    return Reply(Node(f"{slot}-{level}", slot, "answer"), level, "", "", answer, anomaly)


class Script:
    """A backend. texts: for each question and slot what is said, call after call; a number is an answer in form."""

    def __init__(self, texts):
        self.texts = {name: {slot: iter(each) for slot, each in slots.items()} for name, slots in texts.items()}
        self.rounds, self.decodings = [], []

    def generate(self, requests, decoding):
        self.rounds.append(list(requests))
        self.decodings.append(decoding)
        return [self.answer(request) for request in requests]

    def answer(self, request):
        task = next(name for name in self.texts if f"What is {name}?" in request.messages[-1]["content"])
        text = next(self.texts[task][request.slot])
        text = text if isinstance(text, str) else said(text)
        return Response(text.removesuffix(CUT), 7, len(text), LENGTH if text.endswith(CUT) else STOP, (1, 2))

    @property
    def asked(self):
        return [[request.slot for request in requests] for requests in self.rounds]


def play(method, texts, prompt, team=TEAM, settings=SETTINGS, seed=0):
    """Return the episodes of the questions that `texts` names, and the backend that answered them."""
    backend = Script(texts)
    starts = [Start(question(name, seed=seed)) for name in texts]
    return run(method, team, starts, backend, prompt, settings, NAMES, members=MEMBERS), backend


def prompt_of(module):
    """Return the prompt file of a method, read as its step reads it."""
    name = "marl" if hasattr(module, "learner") else module.__name__.rpartition(".")[2]
    return read_graph_prompt(PROMPTS / f"{name}.txt", module.KINDS)


def read(episode):
    """Return node -> all that the last attempt at it read."""
    return {asked.node.name: "\n".join(one["content"] for one in asked.messages) for asked in episode.asked}
