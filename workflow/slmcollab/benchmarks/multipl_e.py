"""MultiPL-E: HumanEval and MBPP in eight languages, split by the task below, so that no task is in two splits."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.benchmarks.hub import describe, read_rows, text_of
from slmcollab.benchmarks.multipl_e_python import python_rows
from slmcollab.benchmarks.splits import Splits, shuffled
from slmcollab.scoring.code.languages import LANGUAGES

NUM_ROWS = {  # of the hub's data set, by source and language; it has no Python
    "humaneval": {"cpp": 161, "java": 158, "php": 161, "ts": 159, "js": 161, "cs": 158, "sh": 158},
    "mbpp": {"cpp": 397, "java": 386, "php": 397, "ts": 390, "js": 397, "cs": 386, "sh": 382},
}
NAME = re.compile(r"(?:HumanEval|mbpp)_(\d+)_\w+")
INSTRUCTION = "Answer with the completed function only, in one block of code; write no tests and no example calls."

Rows = dict[tuple[str, str], list[dict[str, Any]]]  # (source, language) -> rows of the data set's own schema


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return the problems of tasks drawn with data_seed from those that all eight languages have; train is the rest.

    block["held_out"] is {"test": {"humaneval": tasks, "mbpp": tasks}, "dev": {...}}; a task is a test problem in every
    language, so num_test is 8 times their sum. num_train problems are drawn from what test and dev leave.
    block["source"] is {id, revision} on the hub, which lacks Python: those rows are made of the two original data sets;
    or {path: folder with humaneval-py.jsonl, mbpp-py.jsonl and so on}. Ids are {benchmark}/{source}-{language}/{name};
    the manifest lists the tasks of each split. Hidden tests are in metadata alone, which no model is shown. Raises
    ArtifactError if rows cannot be had, one is malformed (naming it), or there are too few.
    """
    # ASSUME: MultiPL-E is tested on 49 HumanEval and 120 MBPP tasks in all 8 languages, as the paper's numbers fit.
    benchmark, source = block["benchmark"], block["source"]
    rows = _read_local(source) if "path" in source else _read_hub(source)
    problems = [_problem(benchmark, *cell, index, row) for cell in rows for index, row in enumerate(rows[cell])]
    drawn = _draw(benchmark, problems, block["held_out"], data_seed)
    splits = {name: [p for p in problems if p.metadata["task"] in tasks] for name, tasks in drawn.items()}
    held = set().union(*drawn.values())
    pool = [problem for problem in problems if problem.metadata["task"] not in held]
    splits["train"] = _thinned(benchmark, pool, block["num_train"], data_seed)
    rule = (
        f"MultiPL-E, {describe(source)}: tasks that all of {', '.join(LANGUAGES)} have, shuffled with data_seed"
        f" {data_seed}: of each source the first are test, the next dev, in every language; {block['num_train']} of the"
        f" {len(pool)} problems of all other tasks are train."
    )
    tasks = {name: sorted({p.metadata["task"] for p in split}, key=_order) for name, split in splits.items()}
    return Splits(**splits, rule=rule, origin={"source": source, "tasks": tasks})


def _draw(benchmark: str, problems: list[Problem], sizes: dict[str, dict[str, int]], data_seed: int) -> dict:
    """Return {split: set of tasks} for test and dev."""
    languages = defaultdict(set)
    for problem in problems:
        languages[problem.metadata["task"]].add(problem.metadata["language"])
    drawn = {"test": set(), "dev": set()}
    for source in NUM_ROWS:
        everywhere = [task for task in languages if len(languages[task]) == len(LANGUAGES)]
        order = shuffled(
            sorted((task for task in everywhere if task.startswith(source)), key=_order), data_seed, benchmark, source
        )
        for split, tasks in drawn.items():
            wanted = sizes.get(split, {}).get(source, 0)
            if wanted > len(order):
                raise ArtifactError(
                    f"benchmarks.{benchmark}.tasks.{split}.{source}: {wanted} asked for, {len(order)} are left that"
                    " all languages have"
                )
            tasks.update(order[:wanted])
            order = order[wanted:]
    return drawn


def _thinned(benchmark: str, pool: list[Problem], num_train: int, data_seed: int) -> list[Problem]:
    if num_train > len(pool):
        raise ArtifactError(f"benchmarks.{benchmark}.num_train: {num_train} asked for, {len(pool)} there")
    kept = set(shuffled(range(len(pool)), data_seed, benchmark, "train")[:num_train])
    return [problem for index, problem in enumerate(pool) if index in kept]


def _order(task: str) -> tuple[str, int]:
    source, _, number = task.partition("/")
    return source, int(number)


def _read_local(source: dict[str, str]) -> Rows:
    cells = [(name, language) for name in NUM_ROWS for language in LANGUAGES]
    return {(name, language): read_rows(source, f"{name}-{language}") for name, language in cells}


def _read_hub(source: dict[str, str]) -> Rows:
    rows: Rows = {}
    for name, counts in NUM_ROWS.items():
        for language, count in counts.items():
            rows[name, language] = read_rows(source, "test", name=f"{name}-{language}", num_rows=count)
        names = {_number(row): row["name"] for language in counts for row in rows[name, language]}
        rows[name, "py"] = python_rows(name, names)
    return {cell: rows[cell] for cell in ((name, language) for name in NUM_ROWS for language in LANGUAGES)}


def _number(row: dict[str, Any]) -> int:
    match = NAME.fullmatch(row.get("name") or "")
    if not match:
        raise ArtifactError(f"MultiPL-E: the name {row.get('name')!r} does not look like mbpp_3_is_not_prime")
    return int(match[1])


def _problem(benchmark: str, source: str, language: str, index: int, row: dict[str, Any]) -> Problem:
    where = f"{benchmark} {source}-{language} row {index}"
    prompt, tests = text_of(row, "prompt", where), text_of(row, "tests", where)
    stop_tokens = _texts(row.get("stop_tokens", []), where)
    try:
        LANGUAGES[language].with_token(tests, "")
    except ValueError as error:
        raise ArtifactError(f"{where}: {error}") from error
    title = LANGUAGES[language].title
    question = f"Complete this {title} function.\n\n```{language}\n{prompt.rstrip()}\n```"
    metadata = {
        **{"language": language, "source": source, "name": row["name"], "task": f"{source}/{_number(row)}"},
        **{"prompt": prompt, "tests": tests, "stop_tokens": stop_tokens, "group": f"{source}-{language}"},
    }
    messages = [{"role": "user", "content": f"{question}\n\n{INSTRUCTION}"}]
    return Problem(f"{benchmark}/{source}-{language}/{row['name']}", question, messages, None, metadata)


def _texts(values: Iterable[Any], where: str) -> list[str]:
    values = list(values)
    if not all(isinstance(value, str) and value for value in values):
        raise ArtifactError(f"{where}: stop_tokens is no list of texts")
    return values
