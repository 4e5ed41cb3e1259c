"""What a model reads before it speaks: a prompt file filled in with the task and the steps so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.protocol.response import ANOMALIES, SOLO_ANOMALIES, Fields, escape, serialise, serialise_parts
from slmcollab.protocol.sections import read_sections
from slmcollab.protocol.trajectory import Step

_TEAM = {"slot", "slots", "teammates"}
PLACEHOLDERS = {
    "system": _TEAM | {"handoff"},
    "user": _TEAM | {"handoff", "question"},
    "handoff": _TEAM,
    "history": _TEAM | {"steps"},
    "step": {"speaker", "response"},
    "complaint": _TEAM | {"problem"},
    **dict.fromkeys(ANOMALIES, _TEAM),
}
_NEEDED = {"user", "complaint", "history", "step"}  # the last two where a trajectory has more than one step


@dataclass(frozen=True)
class Prompt:
    """The sections of a prompt file, by name; `messages` says what each is for."""

    sections: Mapping[str, str]


def read_prompt(path: Path, *, actions: bool = True) -> Prompt:
    """Return the prompt of a file: sections that start with their [name] on a line, with $placeholders (`$$`: a $).

    `user` and `complaint` are needed, with actions `history` and `step` too, and, where the complaint says what the
    $problem is, a section for every anomaly. Raises ArtifactError naming the file and what is missing or unknown.
    """
    sections = read_sections(path, PLACEHOLDERS)
    needed = _NEEDED if actions else _NEEDED - {"history", "step"}
    if "problem" in Template(sections.get("complaint", "")).get_identifiers():
        needed = needed.union(ANOMALIES if actions else SOLO_ANOMALIES)
    missing = [name for name in PLACEHOLDERS if name in needed - sections.keys()]
    if missing:
        raise ArtifactError(f"{path}: no section [{missing[0]}]")
    return Prompt(sections)


def task_text(problem: Problem) -> str:
    """Return what a problem asks: its last message, with a system message of its own in front of it."""
    system = [message["content"] for message in problem.messages[:-1] if message["role"] == "system"]
    return "\n\n".join([*system, problem.messages[-1]["content"]])


def messages(
    prompt: Prompt, task: str, steps: Sequence[Step], slot: str, slots: Sequence[str], complaint: str | None = None
) -> list[dict[str, str]]:
    """Return the context x_t of `slot`: a system message, unless that section is empty, and one user message.

    The user message is [user] with the task, [history] where there are steps, each written as [step], and [complaint]
    where the last attempt was broken by the anomaly `complaint`. [handoff] fills in $handoff where there are
    teammates. Tags of the protocol in the task or inside a step's fields come escaped: none of them is a field.
    """
    teammates = [other for other in slots if other != slot]
    team = {"slot": slot, "slots": ", ".join(slots), "teammates": ", ".join(teammates)}

    def fill(name: str, **values: str) -> str:
        section = prompt.sections[name] if name in _NEEDED else prompt.sections.get(name, "")
        return Template(section).substitute(team, **values)

    handoff = fill("handoff") if teammates else ""
    parts = [fill("user", question=escape(task), handoff=handoff)]
    if steps:
        lines = [fill("step", speaker=step.slot, response=_response(step)) for step in steps]
        parts.append(fill("history", steps="\n".join(lines)))
    # ASSUME: another attempt reads what was wrong with the last one, but not what that one said.
    if complaint is not None:
        parts.append(fill("complaint", problem=fill(complaint)))
    system = fill("system", handoff=handoff).strip()
    head = [{"role": "system", "content": system}] if system else []
    return [*head, {"role": "user", "content": "\n\n".join(parts)}]


def _response(step: Step) -> str:
    fields = Fields(step.reasoning, step.answer, step.action, step.target)
    return serialise(fields) if step.anomaly is None else serialise_parts(fields)
