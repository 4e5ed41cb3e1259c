"""Entry of the rule write_toy_corpus."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_jsonl
from slmcollab.context.answer_block import append_answers
from slmcollab.models.toy_corpora import write_corpus


def main(*, cell: str, corpus: Path) -> None:
    """Write the questions and answers that a toy model learns or is examined on."""
    write_jsonl(corpus, write_corpus(**json.loads(cell), show=append_answers))


if __name__ == "__main__":
    tyro.cli(main)
