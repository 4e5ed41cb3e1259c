"""Entry of the rule embed_questions."""

import json
from pathlib import Path

import tyro

from slmcollab import seeding, usage
from slmcollab.artifacts import read_json, read_problems
from slmcollab.experts import features as files
from slmcollab.experts.embedding import embed, encode_questions
from slmcollab.models import hub

DTYPE = "float32"  # sentence encoders are small


def main(*, cell: str, code: str, encoder: Path, problems: Path, embedding: Path) -> None:
    """Embed the questions of a split with a frozen encoder."""
    settings, manifest, split = json.loads(cell), read_json(encoder), read_problems(problems)
    seeding.fix_threads(settings["numeric_threads"])
    tokenizer = hub.load_tokenizer(hub.weights(encoder))
    questions = [problem.question for problem in split]
    ids, truncated = encode_questions(tokenizer, questions, manifest["max_positions"])
    model, batch_tokens = hub.load_encoder(hub.weights(encoder), dtype=DTYPE), settings["extraction"]["batch_tokens"]
    rows = embed(model, ids, pad_id=tokenizer.pad_token_id, batch_tokens=batch_tokens)
    about = {"dtype": DTYPE, "sequence": "question", "truncated": truncated, "code": code}
    header = files.make_header(manifest, settings["expert"], read=ids, files=[encoder, problems], **about)
    files.write_features(embedding, {files.EMBEDDING: rows}, header, [problem.id for problem in split])
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main)
