"""Baselines on the engine, all questions at once, against the same baseline with one call at a time: same tokens."""

import tempfile
from dataclasses import replace
from pathlib import Path

from engine import team
from measure import Figure, interleaved

from slmcollab.artifacts import Problem
from slmcollab.generation.engine import LocalBackend
from slmcollab.graph.nodes import Question, Team
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.graph.runner import Episode, GraphSettings, Start, run
from slmcollab.protocol.invocation import RunNames
from slmcollab.protocol.response import Fields, serialise
from slmcollab.teams import mad

NUM_QUESTIONS = 64
SETTINGS = GraphSettings(max_new_tokens=48, top_p=0.95, retries=1)
NAMES = RunNames("toy/mad/seed0/eval", "mad", "toy", "eval", 0)
DEBATE = mad.build({"rounds": 3, "first_temperature": 0.9, "temperature": 0.3})
PROMPT = GraphPrompt(
    {
        "answer": "$question",
        "debate": "$question\nYou said: $own\n$seen",
        "own": "$reasoning",
        "seen": "Peer $letter: $reasoning",
        "complaint": "Again.",
    }
)


class Formed:
    """The engine with models that keep to the form: what a random model says is its reasoning."""

    def __init__(self, backend, *, together):
        self.backend, self.together = backend, together

    def generate(self, requests, decoding):
        batches = [requests] if self.together else [[request] for request in requests]
        found = [response for batch in batches for response in self.backend.generate(batch, decoding)]
        return [
            replace(one, text=serialise(Fields(one.text, f"{one.output_tokens}")), finish_reason="stop")
            for one in found
        ]


def mad_questions() -> Figure:
    problems = [
        Problem(f"q{number}", "", [{"role": "user", "content": f"What is {number} + {number % 7}?"}], None)
        for number in range(NUM_QUESTIONS)
    ]
    starts, found = [Start(Question(problem, 0, 0)) for problem in problems], {}
    with tempfile.TemporaryDirectory() as folder:
        members = team(Path(folder))
        sizes = Team({member.slot: member.size_b for member in members}, "number")
        engine = LocalBackend(members, dtype="float32", resident="all", batch_size=NUM_QUESTIONS)

        def work(*, together: bool) -> list[Episode]:
            backend = Formed(engine, together=together)
            return run(DEBATE, sizes, starts, backend, PROMPT, SETTINGS, NAMES, members=members)

        ours, peer = interleaved(
            3,
            lambda: found.update(ours=work(together=True)),
            lambda: found.update(peer=work(together=False)),
        )
    assert found["ours"] == found["peer"]
    calls = [asked.call for episode in found["ours"] for asked in episode.asked]
    note = f"{len(calls)} calls, {sum(call.output_tokens for call in calls)} tokens"
    count = NUM_QUESTIONS
    return Figure("mad_questions", peer / ours, 5, count / ours, "quest/s", count / peer, at_least=True, note=note)
