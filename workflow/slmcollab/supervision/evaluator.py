"""The evaluator J: it reads a question and a whole trajectory, and scores every step (slices, 2.2.2)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.generation.calls import Call
from slmcollab.generation.requests import LENGTH, Backend, Decoding, Member, Request, Response
from slmcollab.protocol.prompt import Prompt, task_text
from slmcollab.protocol.runner import RunNames
from slmcollab.protocol.sections import read_sections
from slmcollab.protocol.trajectory import ANOMALIES, STEP_LIMIT, TERMINATED, Step, Trajectory
from slmcollab.seeding import derive
from slmcollab.supervision.rewards import StepScores

PLACEHOLDERS = {
    "system": set(),
    "user": {"question"},
    "gold": {"answer"},
    "history": {"steps", "num_steps", "end"},
    "step": {"number", "speaker", "response"},
    "broken": {"number", "speaker", "response", "anomaly"},
    **dict.fromkeys((TERMINATED, STEP_LIMIT, ANOMALIES), frozenset()),
}
UNREADABLE, TRUNCATED = "unreadable", "truncated"  # what is wrong with a reply
_OURS = re.compile(r"<(?=/?(?:scores|step)\b)", re.IGNORECASE)
_BLOCK = re.compile(r"<scores>(.*?)</scores>", re.DOTALL)
_NUMBER = r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))"
_LINE = re.compile(rf"step ([0-9]+): *reasoning {_NUMBER} *, *action {_NUMBER}", re.IGNORECASE)


@dataclass(frozen=True)
class EvaluatorSettings:
    """retries: new samples after a reply that cannot be read; temperature: theirs, the first reply is greedy."""

    sees_gold: bool
    retries: int
    temperature: float
    max_new_tokens: int

    def __post_init__(self) -> None:
        if self.retries < 0 or self.max_new_tokens < 1:
            raise ValueError(f"evaluator: {self.retries} retries, {self.max_new_tokens} new tokens: at least 0 and 1")
        if self.retries and self.temperature <= 0:
            raise ValueError(f"evaluator.temperature: at {self.temperature} every retry says the same again")


def read_evaluator_prompt(path: Path) -> Prompt:
    """Return the prompt of a file with the sections of PLACEHOLDERS; raises ArtifactError where one is missing."""
    sections = read_sections(path, PLACEHOLDERS)
    missing = [name for name in PLACEHOLDERS if name not in sections and name != "system"]
    if missing:
        raise ArtifactError(f"{path}: no section [{missing[0]}]")
    return Prompt(sections)


def evaluation_messages(
    prompt: Prompt, problem: Problem, trajectory: Trajectory, *, sees_gold: bool
) -> list[dict[str, str]]:
    """Return what the evaluator reads: the task, the gold answer if it is to see it and there is one, all steps.

    Tags of steps and scores in what others wrote come escaped, so that no step holds another one.
    """

    def fill(name: str, **values: Any) -> str:
        return Template(prompt.sections.get(name, "")).substitute(values)

    parts = [fill("user", question=escape(task_text(problem)))]
    if sees_gold and problem.answer is not None:
        parts.append(fill("gold", answer=escape(problem.answer)))
    steps = "\n".join(_shown(step, number, fill) for number, step in enumerate(trajectory.steps, start=1))
    parts.append(fill("history", steps=steps, num_steps=len(trajectory.steps), end=fill(trajectory.end)))
    system = [{"role": "system", "content": fill("system")}] if prompt.sections.get("system") else []
    return [*system, {"role": "user", "content": "\n\n".join(parts)}]


def _shown(step: Step, number: int, fill: Any) -> str:
    values = {"number": number, "speaker": step.slot, "response": escape(step.text)}
    return fill("broken", anomaly=step.anomaly, **values) if step.anomaly else fill("step", **values)


def escape(text: str) -> str:
    """Return text in which no tag of a step or of scores is one any more: `<scores>` becomes `&lt;scores>`."""
    return _OURS.sub("&lt;", text)


def parse_scores(text: str, num_steps: int) -> list[tuple[float, float]] | None:
    """Return (s_rea, s_act), each in [-1, 1], of every step, as a reply gives them; None if it cannot be read.

    A reply holds one block <scores>...</scores>, with the line `step 1: reasoning 0.5, action -1` for each step, in
    order, and no other line. Numbers are decimal.
    """
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1 or text.count("<scores>") != 1 or text.count("</scores>") != 1:
        return None
    lines = [_LINE.fullmatch(line.strip()) for line in blocks[0].strip().split("\n")]
    if None in lines or [int(line[1]) for line in lines] != list(range(1, num_steps + 1)):
        return None
    scores = [(float(line[2]), float(line[3])) for line in lines]
    return scores if all(-1 <= score <= 1 for pair in scores for score in pair) else None


def ask_evaluator(
    trajectories: Sequence[Trajectory],
    problems: Iterable[Problem],
    backend: Backend,
    member: Member,
    prompt: Prompt,
    settings: EvaluatorSettings,
    *,
    seed: int,
    run: RunNames,
) -> list[Call]:
    """Return the calls of the evaluator, those on one trajectory together: its replies up to the first readable one.

    All trajectories that wait for a readable reply are asked about in one call of the backend.
    """
    by_id = {problem.id: problem for problem in problems}
    reads = [evaluation_messages(prompt, by_id[one.problem], one, sees_gold=settings.sees_gold) for one in trajectories]
    calls: list[list[Call]] = [[] for _ in trajectories]
    waiting = list(range(len(trajectories)))
    for attempt in range(settings.retries + 1):
        decoding = Decoding(settings.max_new_tokens, settings.temperature if attempt else 0.0)
        seeds = [derive(seed, "evaluate", trajectories[place].id, attempt) for place in waiting]
        pairs = zip(waiting, seeds, strict=True)
        requests = [Request(member.slot, reads[place], own_seed) for place, own_seed in pairs]
        responses = backend.generate(requests, decoding) if requests else []
        for place, request, response in zip(waiting, requests, responses, strict=True):
            calls[place].append(_call(trajectories[place], attempt, member, run, request, response))
        waiting = [place for place in waiting if not calls[place][-1].parse_ok]
    return [call for of_one in calls for call in of_one]


def _call(
    trajectory: Trajectory, attempt: int, member: Member, run: RunNames, request: Request, response: Response
) -> Call:
    readable = parse_scores(response.text, len(trajectory.steps)) is not None
    return Call(
        id=f"{trajectory.id}/{member.slot}/{attempt}",
        run=run.run,
        method=run.method,
        benchmark=run.benchmark,
        qid=trajectory.problem,
        phase=run.phase,
        round=run.round,
        sample=trajectory.sample,
        step=len(trajectory.steps),
        agent=member.slot,
        model=member.model,
        model_b=member.size_b,
        adapter=None,
        seed=request.seed,
        prompt_tokens=response.prompt_tokens,
        output_tokens=response.output_tokens,
        finish_reason=response.finish_reason,
        parse_ok=readable,
        retry_of=f"{trajectory.id}/{member.slot}/{attempt - 1}" if attempt else None,
        text=response.text,
        reasoning="",
        answer="",
        action=None,
        target=None,
        anomaly=None if readable else TRUNCATED if response.finish_reason == LENGTH else UNREADABLE,
        output_ids=response.output_ids,
    )


def read_scores(
    trajectories: Sequence[Trajectory], calls: Iterable[Call]
) -> tuple[dict[str, StepScores], dict[str, int]]:
    """Return trajectory id -> scores of its steps, and counts; one without a readable reply is dropped and counted."""
    calls = list(calls)
    replies: Mapping[tuple[str, int], Call] = {(call.qid, call.sample): call for call in calls}  # the last one counts
    found = {one.id: _scores(one, replies.get((one.problem, one.sample))) for one in trajectories}
    scores = {name: given for name, given in found.items() if given is not None}
    return scores, {
        "num_trajectories": len(trajectories),
        "num_scored": len(scores),
        "num_dropped": len(found) - len(scores),
        "num_calls": len(calls),
        "num_retries": sum(call.retry_of is not None for call in calls),
    }


def _scores(trajectory: Trajectory, reply: Call | None) -> StepScores | None:
    return None if reply is None else parse_scores(reply.text, len(trajectory.steps))
