"""Python answers: what one that declares the prompt's function defines, and the indentation of one that goes on."""

import ast
import contextlib
import re

INDENT = 4 * " "
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # what reading Python text may end in
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SETTINGS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Try, ast.If, ast.For)  # what definitions may need
DEMONSTRATES = {"print", "input", "__name__"}  # a setting that speaks of these, or calls the function, is none


def definitions(code: str, name: str) -> str | None:
    """Return all that `code` defines at its top level; None if it is no Python or does not define function `name`.

    Calls, tests and what only runs as a script are left out, and annotations are texts, as they are under the
    __future__ import that a file has at its start only.
    """
    try:
        tree = ast.parse(code)
        # at the top level, `return` shows the body of a function that lost its indentation
        if any(isinstance(node, ast.Return) for node in tree.body) or not any(_is(node, name) for node in tree.body):
            return None
        return "\n\n".join(ast.unparse(_Texts().visit(node)) for node in tree.body if _kept(node, name))
    except UNREADABLE:
        return None


def declared_text(code: str, name: str) -> tuple[str, str] | None:
    """Return, of code that is no Python as a whole, the last declaration of `name` and the lines of its body."""
    with contextlib.suppress(*UNREADABLE):
        ast.parse(code)
        return None
    pattern = rf"^def\s+{re.escape(name)}\s*\([^\n]*:[ \t]*\n((?:[ \t]+[^\n]*(?:\n|\Z)|\n)*)"
    matches = list(re.finditer(pattern, code, re.MULTILINE)) if name else []
    return (matches[-1][0], matches[-1][1].rstrip()) if matches else None


def indentation(prompt: str) -> str:
    """Return what the lines of a prompt's function are indented with."""
    match = re.search(r"^([ \t]+)\S", prompt[prompt.rfind("def ") :], re.MULTILINE)
    return match[1] if match else INDENT


def indented(prompt: str, code: str) -> str:
    """Return a continuation with the indentation that it lost where blanks around an answer were stripped."""
    lines = code.split("\n")
    shifted = [indentation(prompt) + line if line.strip() else line for line in lines]
    for candidate in (lines, [*shifted[:1], *lines[1:]], shifted):
        try:
            compile(prompt + "\n".join(candidate), "program", "exec", dont_inherit=True)
            return "\n".join(candidate)
        except UNREADABLE:
            continue
    return code


def _is(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node, ast.FunctionDef) and node.name == name


def _kept(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return False
    if isinstance(node, DEFINITIONS) or _is(node, name):
        return True
    calls = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return isinstance(node, SETTINGS) and name not in calls and not names & DEMONSTRATES


class _Texts(ast.NodeTransformer):
    """Turns annotations into texts."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = _text(node.annotation)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = _text(node.annotation)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = _text(node.returns)
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        node.returns = _text(node.returns)
        return self.generic_visit(node)


def _text(annotation: ast.expr | None) -> ast.expr | None:
    plain = annotation is None or isinstance(annotation, ast.Constant)
    return annotation if plain else ast.Constant(ast.unparse(annotation))
