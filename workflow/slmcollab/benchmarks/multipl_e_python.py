"""MultiPL-E's schema for Python, which the hub's data set lacks: made of HumanEval and MBPP themselves."""

import ast
from typing import Any

from slmcollab.artifacts import ArtifactError
from slmcollab.benchmarks.hub import read_rows, text_of
from slmcollab.scoring.code.languages import LANGUAGES

HUMANEVAL = {
    "id": "openai/openai_humaneval",
    "name": "openai_humaneval",
    "revision": "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
}
MBPP = {
    "id": "google-research-datasets/mbpp",
    "name": "full",
    "revision": "4bb6404fdc6cacfda99d4ac4205087b89d32030c",
}
MBPP_ROWS = {"train": 374, "test": 500, "validation": 90, "prompt": 10}


def python_rows(source: str, names: dict[int, str]) -> list[dict[str, Any]]:
    """Return rows {name, language, prompt, tests, stop_tokens} of the tasks in `names`, the task's number -> its name.

    A task whose function cannot be found in its solution has no row, so that it is in no split that needs all
    languages. Raises ArtifactError if a data set cannot be had or a row is malformed.
    """
    if source == "humaneval":
        made = {
            int(row["task_id"].split("/")[1]): humaneval_row(row) for row in read_rows(HUMANEVAL, "test", num_rows=164)
        }
    else:
        rows = [row for split, count in MBPP_ROWS.items() for row in read_rows(MBPP, split, num_rows=count)]
        made = {row["task_id"]: mbpp_row(row, names[row["task_id"]]) for row in rows if row["task_id"] in names}
    common = {"language": "py", "stop_tokens": list(LANGUAGES["py"].stop_tokens)}
    found = [(number, row) for number in sorted(names) if (row := made.get(number)) is not None]
    return [{"name": names[number], **common, **row} for number, row in found]


def humaneval_row(row: dict[str, Any]) -> dict[str, str]:
    """Return the prompt as it is, and the tests with the call that starts them."""
    where = f"HumanEval {row.get('task_id')}"
    prompt, test, function = (text_of(row, key, where) for key in ("prompt", "test", "entry_point"))
    return {"prompt": prompt, "tests": f"{test}\ncheck({function})\n"}


def mbpp_row(row: dict[str, Any], name: str) -> dict[str, str] | None:
    """Return a prompt made of the solution's signature and the task's text; None if it does not define the function.

    name: MultiPL-E's, mbpp_{number}_{function}.
    """
    where = f"MBPP {row.get('task_id')}"
    text, code, function = text_of(row, "text", where), text_of(row, "code", where), name.split("_", 2)[2]
    try:
        nodes = ast.parse(code.replace("\r\n", "\n")).body
    except SyntaxError as error:
        raise ArtifactError(f"{where}: code does not parse") from error
    found = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == function]
    if not found:
        return None
    # ASSUME: a Python prompt of MBPP is the solution's own signature with the task's text below it as docstring.
    docstring = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    prompt = f'def {function}({ast.unparse(found[-1].args)}):\n    """\n    {docstring}\n    """\n'
    tests = "\n".join([row.get("test_setup_code") or "", *row["test_list"]])
    return {"prompt": prompt, "tests": f"{tests}\n"}
