"""A backend that reads its answers from a script, and remembers who was asked what."""

from pathlib import Path

from slmcollab.artifacts import Problem
from slmcollab.generation.requests import LENGTH, STOP, Member, Response
from slmcollab.protocol.prompt import Prompt
from slmcollab.protocol.response import Fields, serialise
from slmcollab.protocol.runner import ProtocolSettings, RunNames

PROMPT = Prompt(
    {
        "system": "You are $slot, with $teammates.$handoff",
        "handoff": " You may hand off.",
        "user": "Task: $question",
        "history": "So far: $steps",
        "step": "$speaker: $response",
        "complaint": "Wrong: $problem",
        "self_handoff": "to yourself",
        "malformed": "no form",
        "empty_answer": "nothing",
        "truncated": "too long",
    }
)
NAMES = RunNames("toy/cl/seed0/eval", "cl", "toy", "eval", 0)


def settings(**changes):
    values = {"start": "first", "max_steps": 12, "retries": 1, "max_anomalies": 2, "max_new_tokens": 9}
    return ProtocolSettings(**values | {"temperature": 0.0} | changes)


def members(*slots):
    return [Member(slot, f"model-{slot}", Path("models") / slot, 1.5) for slot in slots]


def problem(name):
    return Problem(name, name, [{"role": "user", "content": f"What is {name}?"}], "1")


def said(answer, action=None, target=None, reasoning="so"):
    return serialise(Fields(reasoning, answer, action, target))


class Scripted:
    """script: for each task, what is said on it, call after call; a text that ends in CUT ran into the budget."""

    CUT = "[cut]"

    def __init__(self, script):
        self.script = {task: iter(texts) for task, texts in script.items()}
        self.rounds = []

    def generate(self, requests, decoding):
        self.rounds.append(list(requests))
        return [self.answer(request) for request in requests]

    def answer(self, request):
        task = next(task for task in self.script if f"What is {task}?" in request.messages[-1]["content"])
        text = next(self.script[task])
        reason = LENGTH if text.endswith(self.CUT) else STOP
        return Response(text.removesuffix(self.CUT), 7, len(text), reason, (1, 2))

    def asked(self):
        return [[request.slot for request in requests] for requests in self.rounds]
