"""GSM-Hard: GSM8K's test questions with large numbers in them, from the hub or from a local file."""

import math
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.benchmarks.hub import describe, read_rows, text_of
from slmcollab.benchmarks.splits import Splits, draw

NUM_ROWS = 1319
INSTRUCTION = "The answer is one number, without words, units or a calculation."


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return num_test, num_dev and num_train rows of the data set's one split, drawn with data_seed.

    block["source"] is {id, revision} on the hub or {path: folder with train.jsonl}. Ids are {benchmark}/{row}; the
    gold answer is the target as Python writes it. Raises ArtifactError if the file or the data set cannot be had, a row
    is malformed (naming it) or there are too few.
    """
    # ASSUME: GSM-Hard is tested on a seeded tenth, 132 of its 1,319 rows, as many as the paper's accuracies fit.
    benchmark, source = block["benchmark"], block["source"]
    rows = read_rows(source, "train", num_rows=NUM_ROWS)
    problems = [_problem(benchmark, index, row) for index, row in enumerate(rows)]
    sizes = {name: block.get(f"num_{name}", 0) for name in ("test", "dev", "train")}
    drawn = split_rows(len(problems), sizes, data_seed)
    rule = (
        f"The {len(problems)} rows of {describe(source)}, shuffled with data_seed {data_seed}: the first"
        f" {sizes['test']} are test, the next {sizes['dev']} dev, the next {sizes['train']} train."
    )
    splits = {name: [problems[index] for index in indices] for name, indices in drawn.items()}
    return Splits(**splits, rule=rule, origin={"source": source})


def split_rows(num_rows: int, sizes: dict[str, int], data_seed: int) -> dict[str, list[int]]:
    """Return the row numbers of each split; sizes: {test, dev, train}."""
    return draw(range(num_rows), sizes, data_seed, "gsm_hard", "splits")


def _problem(benchmark: str, index: int, row: dict[str, Any]) -> Problem:
    where, target = f"{benchmark} row {index}", row.get("target")
    question = text_of(row, "input", where)
    if not isinstance(target, int | float) or isinstance(target, bool) or not math.isfinite(target):
        raise ArtifactError(f"{where}: target is missing or not a number")
    messages = [{"role": "user", "content": f"{question}\n\n{INSTRUCTION}"}]
    return Problem(f"{benchmark}/{index}", question, messages, repr(float(target)))
