"""Conifer: instructions with many constraints; of each conversation that grows harder only the hardest is asked."""

from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.benchmarks.hub import describe, read_rows
from slmcollab.benchmarks.splits import Splits, draw

NUM_ROWS = 13606
KIND = "Easy-to-Hard"


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return num_test, num_dev and num_train conversations of the kind Easy-to-Hard, drawn with data_seed.

    A conversation's problem is its last user turn alone. It has no answer: the reply to that turn is one model's, no
    gold that an evaluator could be shown, and is left out.
    No seed question, the first turn with spaces and case aside, is in two splits or twice in one. block["source"] is
    {id, revision} on the hub or {path: folder with train_sft.jsonl}. Ids are {benchmark}/{row}. Raises ArtifactError if
    the file or the data set cannot be had, a row is malformed (naming it) or there are too few.
    """
    # ASSUME: Conifer is tested on the hardest turn of 1,402 Easy-to-Hard conversations that are never trained on.
    benchmark, source = block["benchmark"], block["source"]
    rows = read_rows(source, "train_sft", num_rows=NUM_ROWS)
    problems = {
        index: _problem(benchmark, index, row) for index, row in enumerate(rows) if _kind(benchmark, index, row) == KIND
    }
    sizes = {name: block.get(f"num_{name}", 0) for name in ("test", "dev", "train")}
    task_of = {index: problem.metadata["task"] for index, problem in problems.items()}
    drawn = draw(list(problems), sizes, data_seed, benchmark, "splits", task_of=task_of)
    rule = (
        f"The {len(problems)} {KIND} conversations of {describe(source)}, shuffled with data_seed {data_seed}, of those"
        f" with one seed question the first: the first {sizes['test']} are test, the next {sizes['dev']} dev, the next"
        f" {sizes['train']} train."
    )
    splits = {name: [problems[index] for index in indices] for name, indices in drawn.items()}
    return Splits(**splits, rule=rule, origin={"source": source})


def _kind(benchmark: str, index: int, row: dict[str, Any]) -> str:
    if not isinstance(row.get("type"), str):
        raise ArtifactError(f"{benchmark} row {index}: type is missing or not a text")
    return row["type"]


def _problem(benchmark: str, index: int, row: dict[str, Any]) -> Problem:
    try:
        turns = [(turn["role"], turn["content"].strip()) for turn in row["messages"]]
    except (AttributeError, KeyError, TypeError) as error:
        raise ArtifactError(f"{benchmark} row {index}: messages is no list of turns with role and content") from error
    users = [place for place, (role, _) in enumerate(turns) if role == "user"]
    if not users or not all(turns[place][1] for place in users):
        raise ArtifactError(f"{benchmark} row {index}: messages has no user turn, or an empty one")
    first, last = turns[users[0]][1], turns[users[-1]][1]
    metadata = {"task": "".join(first.lower().split()), "num_turns": len(users)}
    return Problem(f"{benchmark}/{index}", last, [{"role": "user", "content": last}], None, metadata)
