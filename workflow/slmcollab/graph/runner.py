"""Graphs of invocations on many questions at once: every wave of nodes of all of them is asked together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from slmcollab.generation.calls import Call
from slmcollab.generation.requests import LENGTH, Backend, Decoding, Member, Request, Response
from slmcollab.graph.nodes import Method, Node, Question, Reply, Said, Team
from slmcollab.graph.prompt import GraphPrompt, messages
from slmcollab.graph.vote import team_answer
from slmcollab.protocol.invocation import Address, RunNames, describe_call
from slmcollab.protocol.response import parse
from slmcollab.seeding import derive


@dataclass(frozen=True)
class GraphSettings:
    """How nodes are asked: tokens of a response, and further attempts at one that breaks its form.

    temperature: of every node, None for each node's own.
    """

    max_new_tokens: int
    top_p: float
    retries: int
    temperature: float | None = None

    def decoding(self, node: Node) -> Decoding:
        temperature = node.temperature if self.temperature is None else self.temperature
        return Decoding(self.max_new_tokens, temperature, self.top_p)


@dataclass(frozen=True)
class Start:
    """A question, and the replies that are there already."""

    question: Question
    said: Said = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    node: Node
    messages: list[dict[str, str]]
    call: Call


@dataclass(frozen=True)
class Episode:
    """One question as it went: all replies, and the new invocations; the last one of a node is the one that counts."""

    question: Question
    said: Said
    asked: tuple[Asked, ...]


def ready(method: Method, team: Team, question: Question, said: Said) -> list[Node]:
    """Return the next wave: the nodes not asked yet of which all that they are shown was said, none at the end."""
    return [
        node
        for node in method.nodes(team, question, said)
        if node.name not in said and {*node.sees, *([node.own] if node.own else [])} <= said.keys()
    ]


def next_level(said: Said) -> int:
    return max((reply.level for reply in said.values()), default=-1) + 1


@dataclass
class _Turn:
    """A node that is being asked: at which attempt, and what the attempt before was broken by."""

    node: Node
    step: int
    attempt: int = 0
    complaint: str | None = None
    reply: Reply | None = None


@dataclass
class _Talk:
    question: Question
    said: dict[str, Reply]
    wave: list[_Turn] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    done: bool = False

    def go_on(self, method: Method, team: Team) -> list[_Turn]:
        """Return the turns that wait for a response, those of the next wave once this one has all its replies."""
        waiting = [turn for turn in self.wave if turn.reply is None]
        if waiting or self.done:
            return waiting
        self.said |= {turn.node.name: turn.reply for turn in self.wave if turn.reply is not None}
        nodes = ready(method, team, self.question, self.said)
        self.wave = [_Turn(node, step) for step, node in enumerate(nodes, start=len(self.said))]
        self.done = not self.wave
        return self.wave


@dataclass(frozen=True)
class _Rules:
    team: Team
    members: Mapping[str, Member]
    prompt: GraphPrompt
    settings: GraphSettings
    names: RunNames

    def address(self, talk: _Talk, turn: _Turn) -> Address:
        return Address(talk.question.problem.id, talk.question.sample, turn.step, turn.attempt)

    def request(self, talk: _Talk, turn: _Turn) -> Request:
        read = messages(self.prompt, turn.node, talk.question.problem, talk.said, turn.complaint, slots=self.team.slots)
        return Request(turn.node.slot, read, derive(talk.question.seed, "call", *self.address(talk, turn)))

    def hear(self, talk: _Talk, turn: _Turn, request: Request, response: Response) -> None:
        """Record a response, and let it be the reply unless it is broken and there may be another attempt."""
        node, level, cut = turn.node, next_level(talk.said), response.finish_reason == LENGTH
        parsed = parse(response.text, slot=node.slot, slots=self.members, cut=cut, actions=False)
        names, address = replace(self.names, round=level), self.address(talk, turn)
        call = describe_call(names, self.members[node.slot], address, request, response, parsed)
        talk.asked.append(Asked(node, list(request.messages), call))
        if parsed.anomaly and turn.attempt < self.settings.retries:
            turn.attempt, turn.complaint = turn.attempt + 1, parsed.anomaly
            return
        # ASSUME: nothing of a reply that keeps breaking the form is shown to others or counts as an answer.
        reasoning, answer = ("", "") if parsed.anomaly else (parsed.reasoning, parsed.answer)
        if node.picks:
            answer = picked(answer, [talk.said[name] for name in node.sees], self.team)
        turn.reply = Reply(node, level, response.text, reasoning, answer, parsed.anomaly)


def picked(answer: str, replies: Sequence[Reply], team: Team) -> str:
    """Return the answer of the reply whose number, from 1, is the only number of `answer`, else the majority's."""
    numbers = re.findall(r"(?<![\w.-])\d+(?![\w]|\.\d)", answer, re.ASCII)
    number = int(numbers[0]) if len(numbers) == 1 and len(numbers[0]) < 4 else 0
    chosen = replies[number - 1].answer if 1 <= number <= len(replies) else ""
    return chosen or team_answer(replies, team)[0]


def run(
    method: Method,
    team: Team,
    starts: Sequence[Start],
    backend: Backend,
    prompt: GraphPrompt,
    settings: GraphSettings,
    names: RunNames,
    phase: str | None = None,
    *,
    members: Sequence[Member],
) -> list[Episode]:
    """Return an episode for each start, in their order.

    Each round asks the backend once for each kind of decoding: for the next wave of every question, or for another
    attempt at the broken responses of its last. A wave is over once each of its nodes has a reply, an empty one where
    all attempts were broken. A call's step numbers the nodes of a question in the order asked, its round is the level.
    phase: of the calls, if it is not that of `names`; members: who speaks for the slots. No text of a model raises; two
    starts with the same problem and sample do.
    """
    if len({(start.question.problem.id, start.question.sample) for start in starts}) < len(starts):
        raise ValueError("two questions with the same problem and sample: their calls would be the same")
    names = names if phase is None else replace(names, phase=phase)
    rules = _Rules(team, {member.slot: member for member in members}, prompt, settings, names)
    talks = [_Talk(start.question, dict(start.said)) for start in starts]
    while turns := [(talk, turn) for talk in talks for turn in talk.go_on(method, team)]:
        groups: dict[Decoding, list[tuple[_Talk, _Turn]]] = {}
        for talk, turn in turns:
            groups.setdefault(settings.decoding(turn.node), []).append((talk, turn))
        for decoding, group in groups.items():
            requests = [rules.request(talk, turn) for talk, turn in group]
            for (talk, turn), request, response in zip(
                group, requests, backend.generate(requests, decoding), strict=True
            ):
                rules.hear(talk, turn, request, response)
    return [Episode(talk.question, talk.said, tuple(talk.asked)) for talk in talks]
