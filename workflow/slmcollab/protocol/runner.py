"""Collaborative reasoning (section 2.1): teams of models work on many problems at once, one step of each in a round."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from slmcollab.artifacts import Problem
from slmcollab.generation.calls import Call
from slmcollab.generation.requests import LENGTH, Backend, Decoding, Member, Request, Response
from slmcollab.protocol.invocation import Address, RunNames, describe_call
from slmcollab.protocol.prompt import Prompt, messages, task_text
from slmcollab.protocol.response import parse
from slmcollab.protocol.trajectory import ANOMALIES, STEP_LIMIT, TERMINATE, TERMINATED, Step, Trajectory
from slmcollab.seeding import derive, python_generator

FIRST, UNIFORM = "first", "uniform"


@dataclass(frozen=True)
class ProtocolSettings:
    """How a team works: who starts (`first` of the list, or `uniform`ly drawn for each problem), and its limits.

    max_steps: steps of a trajectory. retries: further attempts at a step whose response breaks the protocol.
    max_anomalies: broken steps in a row that end a trajectory. The rest is the decoding of every call, in tokens.
    """

    start: str
    max_steps: int
    retries: int
    max_anomalies: int
    max_new_tokens: int
    temperature: float
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.start not in (FIRST, UNIFORM):
            raise ValueError(f"start: {self.start!r} is not one of {FIRST}, {UNIFORM}")
        for name, least in {"max_steps": 1, "retries": 0, "max_anomalies": 1, "max_new_tokens": 1}.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name}: {getattr(self, name)} is less than {least}")


@dataclass
class _Talk:
    """A trajectory in the making: who is to speak, at which attempt, and what the attempt before was broken by."""

    problem: Problem
    sample: int
    slot: str
    steps: list[Step] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    end: str | None = None
    attempt: int = 0
    complaint: str | None = None

    @property
    def address(self) -> Address:
        return Address(self.problem.id, self.sample, len(self.steps), self.attempt)


@dataclass(frozen=True)
class _Rules:
    members: dict[str, Member]
    prompt: Prompt
    settings: ProtocolSettings
    seed: int
    names: RunNames
    actions: bool

    def start(self, problem: Problem) -> str:
        slots = list(self.members)
        if self.settings.start == FIRST:
            return slots[0]
        return python_generator(self.seed, "start", problem.id).choice(slots)

    def request(self, talk: _Talk) -> Request:
        task, slots = task_text(talk.problem), list(self.members)
        read = messages(self.prompt, task, talk.steps, talk.slot, slots, talk.complaint)
        return Request(talk.slot, read, derive(self.seed, "call", *talk.address))

    def hear(self, talk: _Talk, request: Request, response: Response) -> None:
        """Record a response, and let it be a step unless it is broken and there may be another attempt."""
        cut = response.finish_reason == LENGTH
        parsed = parse(response.text, slot=talk.slot, slots=self.members, cut=cut, actions=self.actions)
        member = self.members[talk.slot]
        talk.calls.append(describe_call(self.names, member, talk.address, request, response, parsed))
        if parsed.anomaly and talk.attempt < self.settings.retries:
            talk.attempt, talk.complaint = talk.attempt + 1, parsed.anomaly
            return
        said = (parsed.reasoning, parsed.answer, parsed.action, parsed.target, parsed.anomaly)
        talk.steps.append(Step(talk.slot, response.text, *said, complaint=talk.complaint))
        talk.attempt, talk.complaint, talk.end = 0, None, self.end(talk.steps)
        if parsed.target and not parsed.anomaly:
            talk.slot = parsed.target

    def end(self, steps: Sequence[Step]) -> str | None:
        """Return how these steps end their trajectory, None where it goes on."""
        # ASSUME: a solo answer that is broken at its last attempt ends as broken steps in a row do.
        limit = self.settings.max_anomalies if self.actions else 1
        if not steps[-1].anomaly and (steps[-1].action == TERMINATE or not self.actions):
            return TERMINATED
        if len(steps) >= limit and all(step.anomaly for step in steps[-limit:]):
            return ANOMALIES
        return STEP_LIMIT if len(steps) >= self.settings.max_steps else None


def run(
    problems: Sequence[Problem],
    members: Sequence[Member],
    backend: Backend,
    prompt: Prompt,
    settings: ProtocolSettings,
    *,
    seed: int,
    samples: int,
    run: RunNames,
    actions: bool = True,
) -> tuple[list[Trajectory], list[Call]]:
    """Return `samples` trajectories on each problem, and their calls, both in the problems' order.

    In every round the backend gets, in one call, a request for each trajectory that
    goes on: its next step, or another attempt at its last. A broken step whose attempts are used up is kept with what
    could be read of it, and its model speaks again. Without actions one member answers in a single step. No text of a
    model raises; a team whose slots are not all different does, and one of several members without actions.
    """
    team = {member.slot: member for member in members}
    if not members or len(team) < len(members) or (not actions and len(members) > 1):
        raise ValueError(
            f"slots {[member.slot for member in members]}: all different, and one where there are no actions"
        )
    rules = _Rules(team, prompt, settings, seed, run, actions)
    talks = [_Talk(problem, sample, rules.start(problem)) for problem in problems for sample in range(samples)]
    decoding = Decoding(settings.max_new_tokens, settings.temperature, settings.top_p)
    while live := [talk for talk in talks if talk.end is None]:
        requests = [rules.request(talk) for talk in live]
        for talk, request, response in zip(live, requests, backend.generate(requests, decoding), strict=True):
            rules.hear(talk, request, response)
    done = [Trajectory(talk.problem.id, talk.sample, tuple(talk.steps), talk.end) for talk in talks]
    return done, [call for talk in talks for call in talk.calls]
