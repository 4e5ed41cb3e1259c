"""MuSiQue (answerable): questions that need two to four facts, with twenty paragraphs to find them in."""

from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.benchmarks.hub import describe, read_rows, text_of
from slmcollab.benchmarks.splits import Splits, shuffled, tasks_of

NUM_ROWS = {"train": 19938, "validation": 2417}
INSTRUCTION = "Answer the question from these paragraphs. The answer is a short phrase, not a sentence."


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return the whole validation file as test, and num_dev and num_train rows of the train file.

    A train question shares no single-hop question with dev or test. block["source"] is {id, revision} on the hub or
    {path: folder with train.jsonl and validation.jsonl}. Ids are {benchmark}/{file}/{row}. A problem's metadata hold
    the data set's id, the ids of its single-hop questions (task) and the gold answer's aliases. Raises ArtifactError
    if a file or the data set cannot be had, a row is malformed (naming it) or there are too few.
    """
    # ASSUME: MuSiQue is tested on all 2,417 questions of the answerable development file.
    benchmark, source = block["benchmark"], block["source"]
    read = {file: read_rows(source, file, num_rows=size) for file, size in NUM_ROWS.items()}
    problems = {
        file: [_problem(benchmark, file, index, row) for index, row in enumerate(rows)] for file, rows in read.items()
    }
    num_dev, num_train = block.get("num_dev", 0), block["num_train"]
    dev = [problems["train"][index] for index in dev_rows(len(problems["train"]), num_dev, data_seed)]
    known = set().union(*map(tasks_of, dev), *map(tasks_of, problems["validation"]))
    rest = (problems["train"][index] for index in _order(len(problems["train"]), data_seed)[num_dev:])
    train = [problem for problem in rest if known.isdisjoint(tasks_of(problem))][:num_train]
    if len(train) < num_train:
        raise ArtifactError(
            f"benchmarks.{benchmark}.num_train: {num_train} asked for, but {len(train)} of {len(problems['train'])}"
            " train questions share no single-hop question with dev or test"
        )
    rule = (
        f"All validation rows of {describe(source)} are test. Its train rows, shuffled with data_seed {data_seed}: the"
        f" first {num_dev} are dev, then the first {num_train} that share no single-hop question with dev or test are"
        " train."
    )
    return Splits(train, problems["validation"], rule, {"source": source}, dev)


def dev_rows(num_rows: int, num_dev: int, data_seed: int) -> list[int]:
    """Return which rows of the train file are dev."""
    return _order(num_rows, data_seed)[:num_dev]


def _order(num_rows: int, data_seed: int) -> list[int]:
    return shuffled(range(num_rows), data_seed, "musique", "splits")


def _problem(benchmark: str, file: str, index: int, row: dict[str, Any]) -> Problem:
    where = f"{benchmark} {file} row {index}"
    id_, question, answer = (text_of(row, key, where) for key in ("id", "question", "answer"))
    aliases, paragraphs = row.get("answer_aliases"), row.get("paragraphs")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise ArtifactError(f"{where}: answer_aliases is no list of texts")
    if not isinstance(paragraphs, list) or not paragraphs or not all(isinstance(part, dict) for part in paragraphs):
        raise ArtifactError(f"{where}: paragraphs is no list of paragraphs")
    texts = [
        f"Paragraph {number}: {text_of(part, 'title', where)}\n{text_of(part, 'paragraph_text', where)}"
        for number, part in enumerate(paragraphs, 1)
    ]
    content = "\n\n".join([*texts, f"Question: {question}", INSTRUCTION])
    metadata = {"source_id": id_, "task": id_.partition("__")[2].split("_"), "aliases": aliases}
    return Problem(f"{benchmark}/{file}/{index}", question, [{"role": "user", "content": content}], answer, metadata)
