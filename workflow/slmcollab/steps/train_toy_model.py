"""Entry of the rule train_toy_model."""

import json
from pathlib import Path

import tyro

from slmcollab import seeding, usage
from slmcollab.artifacts import read_jsonl, replacing
from slmcollab.digests import digests
from slmcollab.generation.exam import sit_exam
from slmcollab.models import fetch, hub, toy
from slmcollab.models.toy_tokenizer import build_tokenizer

MAX_QUESTIONS = 200  # of an exam


def main(*, cell: str, corpora: list[Path], exams: list[Path], weights: Path, manifest: Path) -> None:
    """Train a small language model from scratch on toy corpora, and examine it."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    tokenizer = build_tokenizer()
    model = toy.build_model(toy.Architecture(**settings["architecture"]), tokenizer, settings["seed"])
    training = toy.Training(**settings["training"])
    loss = toy.train(model, tokenizer, [read_jsonl(path) for path in corpora], training, settings["seed"])
    with replacing(weights) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    # What is examined is what the other rules will load.
    model, tokenizer = hub.load_model(weights, dtype="float32").cpu(), hub.load_tokenizer(weights)
    results = {path.stem: sit_exam(model, tokenizer, read_jsonl(path)[:MAX_QUESTIONS]) for path in exams}
    fetch.write_manifest(
        manifest,
        weights,
        model=settings["model"],
        block=settings,
        accuracy={name: exam.accuracy for name, exam in results.items()},
        format={name: exam.format for name, exam in results.items()},
        loss=loss,
        **digests(*corpora, *exams),
    )
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main)
