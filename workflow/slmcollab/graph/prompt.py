"""What a node of a graph reads: a prompt file filled in with the task and the replies that the node sees."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template, ascii_uppercase

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.graph.nodes import Node, Said
from slmcollab.protocol.prompt import task_text
from slmcollab.protocol.response import SOLO_ANOMALIES, escape
from slmcollab.protocol.sections import read_sections

_TEAM = {"slot", "slots"}
_SHOWN = {"number", "letter", "slot"}
PLACEHOLDERS = {
    "system": _TEAM,
    "seen": _SHOWN | {"reasoning", "answer"},
    "silent": _SHOWN,
    "own": {"reasoning", "answer"},
    "complaint": _TEAM | {"problem"},
    **dict.fromkeys(SOLO_ANOMALIES, _TEAM),
}
_KIND = _TEAM | {"question", "own", "seen"}


@dataclass(frozen=True)
class GraphPrompt:
    """The sections of a method's prompt file, by name; `messages` says what each is for."""

    sections: Mapping[str, str]


def read_graph_prompt(path: Path, kinds: Mapping[str, Collection[str]]) -> GraphPrompt:
    """Return the prompt of a file (see `read_sections`): a section for each kind, and [complaint].

    kinds: kind -> the texts of its own that it may hold beside $question, $slot, $slots, $own and $seen. A file that
    uses $seen, $own or $problem says what they are: [seen], [own], and one section for each anomaly. Raises
    ArtifactError naming the file and what is missing or unknown.
    """
    sections = read_sections(path, PLACEHOLDERS | {kind: _KIND.union(texts) for kind, texts in kinds.items()})
    used = {name for section in sections.values() for name in Template(section).get_identifiers()}
    needed = [*kinds, *(name for name in ("seen", "own") if name in used), "complaint"]
    missing = [name for name in needed + list(SOLO_ANOMALIES) * ("problem" in used) if name not in sections]
    if missing:
        raise ArtifactError(f"{path}: no section [{missing[0]}]")
    return GraphPrompt(sections)


def messages(
    prompt: GraphPrompt,
    node: Node,
    problem: Problem,
    said: Said,
    complaint: str | None = None,
    *,
    slots: Sequence[str] = (),
) -> list[dict[str, str]]:
    """Return what a node reads: [system], unless that is empty, and one user message.

    The user message is the section of the node's kind, and [complaint] where the last attempt was broken by the anomaly
    `complaint`. In it $seen is a [seen] for each reply, numbered from 1 and lettered from A; [silent] stands for those
    that could not be read, if the file has it. $own is [own], nothing where the node has no reply of its own that could
    be read. Tags of our form in the task, in replies and in the node's texts come escaped: none of them is a field.
    """
    team = {"slot": node.slot, "slots": ", ".join(slots)}

    def fill(name: str, **values: str) -> str:
        return Template(prompt.sections.get(name, "")).substitute(team | values)

    shown = []
    for index, name in enumerate(node.sees):
        reply = said[name]
        letter = ascii_uppercase[index % 26] * (index // 26 + 1)
        head = {"number": str(index + 1), "letter": letter, "slot": reply.node.slot}
        section = "silent" if not reply.answer and "silent" in prompt.sections else "seen"
        shown.append(fill(section, **head, reasoning=escape(reply.reasoning), answer=escape(reply.answer)))
    own = said[node.own] if node.own else None
    reminder = fill("own", reasoning=escape(own.reasoning), answer=escape(own.answer)) if own and own.answer else ""
    texts = {name: escape(text) for name, text in node.texts.items()}
    task = {"question": escape(task_text(problem)), "seen": "\n\n".join(shown), "own": reminder}
    parts = [fill(node.kind, **texts, **task)]
    if complaint is not None:
        parts.append(fill("complaint", problem=fill(complaint)))
    system = fill("system").strip()
    head = [{"role": "system", "content": system}] if system else []
    return [*head, {"role": "user", "content": "\n\n".join(parts)}]
