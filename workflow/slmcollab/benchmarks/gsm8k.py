"""GSM8K: grade-school word problems with a number as answer, from the hub or from two local files."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.benchmarks.hub import describe, read_rows, text_of
from slmcollab.benchmarks.prompts import ask
from slmcollab.benchmarks.splits import Splits

GOLD = re.compile(r"#### (\-?[0-9\.\,]+)")


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return the data set's own train and test splits; data_seed plays no part. Ids are {benchmark}/{split}/{row}.

    block["source"] is {id, name, revision} on the hub or {path: folder with train.jsonl and test.jsonl}. Raises
    ArtifactError if a file or the data set cannot be had, a row is malformed (naming it) or a count is not the
    block's num_train or num_test.
    """
    benchmark, source = block["benchmark"], block["source"]
    splits = {}
    for split in ("train", "test"):
        rows = read_rows(source, split)
        splits[split] = [_problem(benchmark, split, index, row) for index, row in enumerate(rows)]
        if len(splits[split]) != block[f"num_{split}"]:
            raise ArtifactError(
                f"{benchmark} {split}: {len(splits[split])} rows, but benchmarks.{benchmark}.num_{split} is"
                f" {block[f'num_{split}']}"
            )
    rule = f"The data set's own train and test splits, whole: {describe(source)}."
    return Splits(**splits, rule=rule, origin={"source": source})


def _problem(benchmark: str, split: str, index: int, row: dict[str, Any]) -> Problem:
    where = f"{benchmark} {split} row {index}"
    question, match = text_of(row, "question", where), GOLD.search(text_of(row, "answer", where))
    try:
        gold = match[1].replace(",", "").rstrip(".")
        Decimal(gold)
    except (TypeError, InvalidOperation) as error:
        raise ArtifactError(f"{where}: the answer has no '#### <number>'") from error
    return Problem(f"{benchmark}/{split}/{index}", question, ask(question), gold)
