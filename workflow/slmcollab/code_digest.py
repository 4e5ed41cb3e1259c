"""A digest of the code that a job runs: of its entry and of every module of the package that it reaches by import.

Snakemake sees neither imports nor modules; rules pass this digest as a param, so that an edit reruns what it concerns.
Comments, docstrings, blank lines and positions do not count. Modules that are chosen by name are named by the caller.
"""

import ast
import hashlib
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = "slmcollab"


@cache
def code_digest(*module_names: str, root: Path) -> str:
    """Return the sha256 over the names and syntax trees of the named modules and of all that they import.

    root: the folder that holds the package; its files are read once per process. Raises ValueError for a name that no
    module has or a file that is no Python.
    """
    lines = (f"{name} {read_module(name, root)[0]}\n" for name in sorted(reached(*module_names, root=root)))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def reached(*module_names: str, root: Path) -> set[str]:
    """Return the named modules, those of the package that they import at any depth, and the packages around them."""
    known = modules(root)
    for name in module_names:
        if name not in known:
            close = ", ".join(get_close_matches(name, known)) or "none is close"
            raise ValueError(f"no module {name} under {root}; close: {close}")
    found: set[str] = set()
    waiting = list(module_names)
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found.add(name)
            waiting += [name.rpartition(".")[0], *read_module(name, root)[1]]
    return found


@cache
def modules(root: Path) -> dict[str, Path]:
    """Return the file of each module of the package; a package's is its __init__.py."""
    files = sorted(Path(root, PACKAGE).rglob("*.py"))
    return {".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


@cache
def read_module(name: str, root: Path) -> tuple[str, frozenset[str]]:
    """Return the digest of a module's syntax tree, and all dotted names that it imports, modules or not."""
    file = modules(root)[name]
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"{file}: not Python: {error}") from error
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    imports = frozenset(known for node in ast.walk(tree) for known in imported_names(node, package))
    return hashlib.sha256(repr(_bare(tree)).encode()).hexdigest(), imports


def imported_names(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the absolute names that an import statement in a module of `package` may load; none for other nodes."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        yield source
        yield from (f"{source}.{alias.name}" for alias in node.names)


def _bare(node: Any) -> Any:
    """Return a syntax tree as nested tuples without positions, comments, docstrings and empty fields."""
    if isinstance(node, list):
        return [_bare(item) for item in node if not _is_docstring(item)]
    if not isinstance(node, ast.AST):
        return node
    fields = ((name, _bare(value)) for name, value in ast.iter_fields(node) if name != "ctx")  # follows from the rest
    return type(node).__name__, *((name, value) for name, value in fields if value is not None and value != [])


def _is_docstring(node: Any) -> bool:
    """True for any string that stands alone as a statement: it documents, it does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
