"""MATH: competition problems with a LaTeX answer; MATH-500 is the test, the original training set the rest."""

from typing import Any

from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.benchmarks.hub import describe, read_rows, text_of
from slmcollab.benchmarks.splits import Splits, draw
from slmcollab.scoring.latex import last_boxed

NUM_TEST = 500
NUM_TRAIN = {  # rows of each configuration of the training set on the hub: 7,500
    "algebra": 1744,
    "counting_and_probability": 771,
    "geometry": 870,
    "intermediate_algebra": 1295,
    "number_theory": 869,
    "prealgebra": 1205,
    "precalculus": 746,
}
INSTRUCTION = "The answer is one mathematical expression in LaTeX, without a sentence around it."


def load(block: dict[str, Any], data_seed: int) -> Splits:
    """Return MATH-500 as test, and num_dev and num_train problems of the original training set.

    No problem, spaces and case aside, is in two splits or twice in one. block["source"] is {id, revision} of MATH-500
    on the hub, with block["train_source"] {id, revision} of the training set, or {path: folder with test.jsonl and
    train.jsonl}. Ids are {benchmark}/{test or train}/{row}. Raises ArtifactError if a file or a data set cannot be had,
    a row is malformed (naming it) or there are too few.
    """
    # ASSUME: MATH is tested on MATH-500.
    benchmark, source = block["benchmark"], block["source"]
    train_source = source if "path" in source else block["train_source"]
    test = _problems(benchmark, "test", read_rows(source, "test", num_rows=NUM_TEST))
    pool = _problems(benchmark, "train", _train_rows(train_source))
    sizes = {name: block.get(f"num_{name}", 0) for name in ("dev", "train")}
    task_of = {index: problem.metadata["task"] for index, problem in enumerate(pool)}
    taken = {problem.metadata["task"] for problem in test}
    drawn = draw(range(len(pool)), sizes, data_seed, benchmark, "splits", task_of=task_of, taken=taken)
    rule = (
        f"All rows of {describe(source)} are test. The train rows of {describe(train_source)}, less those that are in"
        f" test and repeats, shuffled with data_seed {data_seed}: the first {sizes['dev']} are dev, the next"
        f" {sizes['train']} train."
    )
    rest = {name: [pool[index] for index in indices] for name, indices in drawn.items()}
    return Splits(**rest, test=test, rule=rule, origin={"source": source, "train_source": train_source})


def _train_rows(source: dict[str, str]) -> list[dict[str, Any]]:
    if "path" in source:
        return read_rows(source, "train")
    return [row for name, size in NUM_TRAIN.items() for row in read_rows(source, "train", name=name, num_rows=size)]


def _problems(benchmark: str, split: str, rows: list[dict[str, Any]]) -> list[Problem]:
    return [_problem(f"{benchmark}/{split}/{index}", row) for index, row in enumerate(rows)]


def _problem(id_: str, row: dict[str, Any]) -> Problem:
    """Return a problem; its answer is the row's, or the last box of the row's solution."""
    question, solution = text_of(row, "problem", id_), text_of(row, "solution", id_)
    answer = row.get("answer") or last_boxed(solution)
    if not isinstance(answer, str) or not answer.strip():
        raise ArtifactError(f"{id_}: no answer, and no box in the solution")
    messages = [{"role": "user", "content": f"{question}\n\n{INSTRUCTION}"}]
    known = {key: row[key] for key in ("level", "subject", "type") if key in row}
    return Problem(id_, question, messages, answer, known | {"task": "".join(question.lower().split())})
