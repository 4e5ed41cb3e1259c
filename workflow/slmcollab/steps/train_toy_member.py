"""Entry of the rule train_toy_member."""

import json
from collections import defaultdict
from pathlib import Path

import tyro

from slmcollab import seeding, usage
from slmcollab.artifacts import read_jsonl, replacing
from slmcollab.digests import digests
from slmcollab.generation.exam import share_as_taught
from slmcollab.models import fetch, hub, toy, toy_phases
from slmcollab.models.toy_word_tokenizer import build_tokenizer

MAX_QUESTIONS = 200  # of an exam


def main(*, cell: str, lessons: Path, weights: Path, manifest: Path) -> None:
    """Train a toy model that collaborates from scratch, phase by phase, and examine it on what it was taught."""
    settings, taught = json.loads(cell), defaultdict(list)
    seeding.fix_threads(settings["numeric_threads"])
    for row in read_jsonl(lessons):
        taught[row["lesson"]].append(row)
    tokenizer = build_tokenizer()
    model = toy.build_model(toy.Architecture(**settings["architecture"]), tokenizer, settings["seed"])
    phases = [toy_phases.Phase(**phase) for phase in settings["training"]["phases"]]
    how = (phases, settings["training"]["batch_size"], settings["seed"])
    losses = toy_phases.train_phases(model.train(), tokenizer, taught, *how)
    with replacing(weights) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    # What is examined is what the other rules will load.
    model, tokenizer = hub.load_model(weights, dtype="float32").cpu(), hub.load_tokenizer(weights)
    shares = {name: share_as_taught(model, tokenizer, rows[:MAX_QUESTIONS]) for name, rows in taught.items()}
    measured = {"as_taught": shares, "losses": losses, **digests(lessons)}
    fetch.write_manifest(manifest, weights, model=settings["model"], block=settings, **measured)
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main)
