"""GSM8K: grade-school word problems with a number as answer, from the hub or from two local files."""

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem, read_jsonl
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
        rows = _read_local(source, split) if "path" in source else _read_hub(source, split)
        splits[split] = [_problem(benchmark, split, index, row) for index, row in enumerate(rows)]
        if len(splits[split]) != block[f"num_{split}"]:
            raise ArtifactError(
                f"{benchmark} {split}: {len(splits[split])} rows, but benchmarks.{benchmark}.num_{split} is"
                f" {block[f'num_{split}']}"
            )
    name = source["path"] if "path" in source else f"{source['id']} ({source['name']}, {source['revision']})"
    return Splits(**splits, rule=f"The data set's own train and test splits, whole: {name}.", origin={"source": source})


def _read_local(source: dict[str, str], split: str) -> list[dict[str, Any]]:
    return read_jsonl(Path(source["path"]) / f"{split}.jsonl")


def _read_hub(source: dict[str, str], split: str) -> Iterable[dict[str, Any]]:
    import datasets

    name, revision = source["name"], source["revision"]
    try:
        return datasets.load_dataset(source["id"], name, split=split, revision=revision)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise ArtifactError(
            f"{source['id']} ({name}, revision {revision}) is not in the local cache and the hub did not deliver it"
            f" ({type(error).__name__}: {error}). Fetch it where there is internet access:"
            " `snakemake --until download_problems`"
        ) from error


def _problem(benchmark: str, split: str, index: int, row: dict[str, Any]) -> Problem:
    for key in ("question", "answer"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise ArtifactError(f"{benchmark} {split} row {index}: {key} is missing or not a text")
    match = GOLD.search(row["answer"])
    try:
        gold = match[1].replace(",", "").rstrip(".")
        Decimal(gold)
    except (TypeError, InvalidOperation) as error:
        raise ArtifactError(f"{benchmark} {split} row {index}: the answer has no '#### <number>'") from error
    return Problem(f"{benchmark}/{split}/{index}", row["question"], ask(row["question"]), gold)
