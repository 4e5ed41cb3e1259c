"""Modules that the config chooses by name: an operator of context/, a loader of benchmarks/, a scorer of scoring/.

A module can be chosen if it defines the function that makes it one; there is no registry to forget. Standard library
only: the workflow asks for the names each time it is read.
"""

import ast
import importlib
import re
from pathlib import Path
from types import ModuleType

OPERATOR, LOADER, SCORER = ("context", "build"), ("benchmarks", "load"), ("scoring", "score")


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
