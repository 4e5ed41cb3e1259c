"""Modules that the config chooses by name: operators, loaders, scorers, baselines of teams/.

A module can be chosen if it defines the function that makes it one; there is no registry to forget. Standard library
only: the workflow asks for the names each time it is read.
"""

import ast
import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

OPERATOR, LOADER, SCORER = ("context", "build"), ("benchmarks", "load"), ("scoring", "score")
TEAM = ("teams", "build")


def names(kind: tuple[str, str]) -> set[str]:
    """Return what the config may name: the modules of a package that define a function; kind is (package, function)."""
    package, function = kind
    definition = re.compile(rf"^def {function}\(", re.MULTILINE)
    files = (Path(__file__).parent / package).glob("*.py")
    return {file.stem for file in files if definition.search(file.read_text(encoding="utf-8"))}


def uses(operator: str) -> tuple[str, ...]:
    """Return the `USES` of an operator's file: the config blocks, and with them the expert files, that it reads."""
    text = (Path(__file__).parent / "context" / f"{operator}.py").read_text(encoding="utf-8")
    found = re.search(r"^USES = (\(.*\))$", text, re.MULTILINE)
    if not found:
        raise ValueError(f"slmcollab/context/{operator}.py: no line `USES = (...)` says what the operator reads")
    return ast.literal_eval(found[1])


def teams() -> dict[str, dict[str, Any]]:
    """Return what each module of teams/ says of itself: KINDS, and the keys SETTINGS, LEARNING, SEARCH.

    They are literals of the file: LEARNING only where the method is trained, SEARCH only where it searches; SLOTS only
    where its team has to have so many members. Raises ValueError for a file without the first two.
    """
    found = {}
    for name in sorted(names(TEAM)):
        path = Path(__file__).parent / "teams" / f"{name}.py"
        said = _literals(path, ("KINDS", "SETTINGS", "LEARNING", "SEARCH", "SLOTS"))
        if not said.keys() >= {"KINDS", "SETTINGS"}:
            raise ValueError(f"slmcollab/teams/{name}.py: KINDS and SETTINGS have to say what its config block holds")
        found[name] = said
    return found


def _literals(path: Path, wanted: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and target.id in wanted:
                found[target.id] = ast.literal_eval(node.value)
    return found


def get(kind: tuple[str, str], name: str) -> ModuleType:
    """Return the module; raises ValueError naming those there are."""
    package, function = kind
    allowed = names(kind)
    if name not in allowed:
        known = ", ".join(sorted(allowed))
        raise ValueError(
            f"{name!r} is not one of {known}: the modules of slmcollab/{package} with a function `{function}`"
        )
    return importlib.import_module(f"slmcollab.{package}.{name}")
