"""Prompt files: sections that start with their [name] on a line, filled in at $placeholders (`$$` is a $)."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from string import Template

from slmcollab.artifacts import ArtifactError

_HEADER = re.compile(r"\[([a-z_]+)\]")


def read_sections(path: Path, placeholders: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the sections of a file; placeholders: the sections that there may be, and what each may hold.

    Raises ArtifactError naming the file and what is unknown, there twice, or outside of all sections.
    """
    sections = _split(path, placeholders)
    for name, section in sections.items():
        _check(path, name, section, placeholders[name])
    return sections


def _split(path: Path, known: Collection[str]) -> dict[str, str]:
    lines: dict[str, list[str]] = {"": []}
    current = ""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ArtifactError(f"{path}: no such file") from error
    for line in text.split("\n"):
        header = _HEADER.fullmatch(line.rstrip())
        if not header:
            lines[current].append(line)
            continue
        current = header[1]
        if current not in known or current in lines:
            raise ArtifactError(f"{path}: section [{current}] is there twice, or is not one of {', '.join(known)}")
        lines[current] = []
    if "".join(lines.pop("")).strip():
        raise ArtifactError(f"{path}: text before the first section")
    return {name: "\n".join(content).strip() for name, content in lines.items()}


def _check(path: Path, name: str, section: str, allowed: Collection[str]) -> None:
    template = Template(section)
    unknown = sorted(set(template.get_identifiers()) - set(allowed))
    if unknown or not template.is_valid():
        known = ", ".join(f"${placeholder}" for placeholder in sorted(allowed))
        wrong = f"${unknown[0]}" if unknown else "a $ that starts no placeholder (write $$)"
        raise ArtifactError(f"{path}: section [{name}] holds {wrong}; allowed are {known}")
