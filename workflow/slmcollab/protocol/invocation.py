"""The record of one invocation of a model in a team, whatever the team talks by."""

from dataclasses import dataclass
from typing import NamedTuple

from slmcollab.generation.calls import Call
from slmcollab.generation.requests import Member, Request, Response
from slmcollab.protocol.response import Parsed


@dataclass(frozen=True)
class RunNames:
    """What the calls of a run have in common; see Call."""

    run: str
    method: str
    benchmark: str
    phase: str
    round: int


class Address(NamedTuple):
    """Where a call stands in its run; attempts at one step are numbered from 0."""

    problem: str
    sample: int
    step: int
    attempt: int

    @property
    def call_id(self) -> str:
        return f"{self.problem}#{self.sample}/{self.step}/{self.attempt}"


def describe_call(
    names: RunNames, member: Member, address: Address, request: Request, response: Response, parsed: Parsed
) -> Call:
    """Return the record of what `member` was asked and said; a further attempt repeats the one before it."""
    before = address._replace(attempt=address.attempt - 1)
    return Call(
        id=address.call_id,
        run=names.run,
        method=names.method,
        benchmark=names.benchmark,
        qid=address.problem,
        phase=names.phase,
        round=names.round,
        sample=address.sample,
        step=address.step,
        agent=member.slot,
        model=member.model,
        model_b=member.size_b,
        adapter=None if member.adapter is None else member.adapter.as_posix(),
        seed=request.seed,
        prompt_tokens=response.prompt_tokens,
        output_tokens=response.output_tokens,
        finish_reason=response.finish_reason,
        parse_ok=parsed.anomaly is None,
        retry_of=before.call_id if address.attempt else None,
        text=response.text,
        reasoning=parsed.reasoning,
        answer=parsed.answer,
        action=parsed.action,
        target=parsed.target,
        anomaly=parsed.anomaly,
        output_ids=response.output_ids,
    )
