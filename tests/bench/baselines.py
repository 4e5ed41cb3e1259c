"""Baselines on the engine, all questions at once, against the same baseline with one call at a time: same tokens."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine import team
from measure import Figure, interleaved

from slmcollab.artifacts import Problem
from slmcollab.generation.engine import LocalBackend
from slmcollab.graph.nodes import Question, Team
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.graph.runner import Episode, GraphSettings, Start
from slmcollab.marl.arena import Arena, Verdict, grow_trees
from slmcollab.protocol.invocation import RunNames
from slmcollab.protocol.response import Fields, serialise
from slmcollab.teams import at_grpo, mad

BATCH = 64
NAMES = RunNames("toy/bench/seed0/trained", "bench", "toy", "train", 0)
SETTINGS = GraphSettings(max_new_tokens=48, top_p=0.95, retries=1)
DEBATE = mad.build({"rounds": 3, "first_temperature": 0.9, "temperature": 0.3})
TURNS, BRANCHES = 3, 8
TAKEN_IN_TURN = at_grpo.Turns(rounds=1, turns=TURNS)
PROMPT = GraphPrompt(
    {
        **dict.fromkeys(("answer", "draft"), "$question"),
        **dict.fromkeys(("debate", "revise"), "$question\n$own\n$seen"),
        "own": "You said: $reasoning",
        "seen": "$letter: $reasoning",
        "complaint": "Again.",
    }
)


class Formed:
    """The engine with models that keep to the form: what a random model says is its reasoning."""

    def __init__(self, engine: LocalBackend, *, together: bool) -> None:
        self.engine, self.together = engine, together

    def generate(self, requests, decoding):
        batches = [requests] if self.together else [[request] for request in requests]
        found = [response for batch in batches for response in self.engine.generate(batch, decoding)]
        texts = [serialise(Fields(one.text, str(one.output_tokens))) for one in found]
        return [replace(one, text=text, finish_reason="stop") for one, text in zip(found, texts, strict=True)]


class Judged(Arena):
    """An arena without graders: answers that are even are right."""

    def judge(self, answers, problems):
        return [Verdict(float(int(answer) % 2 == 0), int(answer) % 2 == 0) for answer in answers]


def asked(number: int) -> list[Question]:
    texts = [f"What is {place} + {place % 7}?" for place in range(number)]
    return [Question(Problem(text, text, [{"role": "user", "content": text}], None), 0, 0) for text in texts]


def compared(name: str, number: int, play: Callable[[Arena, Sequence[Question]], Sequence[Episode]]) -> Figure:
    """Return how many times as many of `number` questions a second are played where their calls are made together."""
    questions, found = asked(number), {}
    with tempfile.TemporaryDirectory() as folder:
        members = team(Path(folder))
        sizes = Team({member.slot: member.size_b for member in members}, "number")
        engine = LocalBackend(members, dtype="float32", resident="all", batch_size=BATCH)

        def work(*, together: bool) -> Sequence[Episode]:
            backend = Formed(engine, together=together)
            return play(Judged(sizes, members, backend, PROMPT, SETTINGS, NAMES, None), questions)

        ours, peer = interleaved(
            3,
            lambda: found.update(ours=work(together=True)),
            lambda: found.update(peer=work(together=False)),
        )
    assert found["ours"] == found["peer"]
    calls = [one.call for episode in found["ours"] for one in episode.asked]
    note = f"{len(calls)} calls, {sum(call.output_tokens for call in calls)} tokens"
    return Figure(name, peer / ours, 5, number / ours, "quest/s", number / peer, at_least=True, note=note)


def mad_questions() -> Figure:
    return compared("mad_questions", 64, lambda arena, questions: arena.play(DEBATE, [Start(one) for one in questions]))


def at_grpo_trees() -> Figure:
    def play(arena: Arena, questions: Sequence[Question]) -> list[Episode]:
        arena = replace(arena, settings=replace(SETTINGS, temperature=1.0))
        trees = grow_trees(arena, TAKEN_IN_TURN, questions, turns=TURNS, number=BRANCHES)
        return [episode for tree in trees for branches in tree for episode in branches.episodes]

    return compared("at_grpo_trees", 8, play)
