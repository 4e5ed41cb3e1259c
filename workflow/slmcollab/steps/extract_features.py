"""Entry of the rule extract_features."""

import json
from pathlib import Path

import tyro

from slmcollab import seeding
from slmcollab.artifacts import read_json, read_problems
from slmcollab.experts import features as files
from slmcollab.experts import pooling
from slmcollab.models import chat, hub


def main(*, cell: str, code: str, expert: Path, problems: Path, features: Path) -> None:
    """Run a frozen expert once over a split's prompts and keep its pooled hidden states."""
    settings = json.loads(cell)
    if settings["sequence"] not in files.SEQUENCES:
        raise ValueError(f"features.sequence: {settings['sequence']!r} is not one of {', '.join(files.SEQUENCES)}")
    seeding.fix_threads(settings["numeric_threads"])
    extraction, manifest = settings["extraction"], read_json(expert)
    split = read_problems(problems)
    ids = [problem.id for problem in split]
    tokenizer = hub.load_tokenizer(hub.weights(expert))
    limit = min(extraction["max_tokens"], manifest["max_positions"])
    prompts = [chat.encode(tokenizer, problem.messages) for problem in split]
    prompts, truncated = files.fit_prompts(prompts, ids, limit=limit, overflow=extraction["overflow"])
    draws = pooling.draw(ids, [len(prompt) for prompt in prompts], manifest["num_layers"])
    model = hub.load_model(hub.weights(expert), dtype=extraction["dtype"])
    pooled = pooling.pool(model, prompts, draws, batch_tokens=extraction["batch_tokens"])
    header = {
        "expert": settings["expert"],
        "id": manifest["id"] or "",
        "revision": manifest["revision"] or "",
        "dtype": extraction["dtype"],
        "sequence": settings["sequence"],
        "prompts": files.digest_prompts(prompts),
        "truncated": str(truncated),
        "code": code,
        **pooling.describe_layers(manifest["num_layers"]),
    }
    files.write_features(features, pooled, header, ids)


if __name__ == "__main__":
    tyro.cli(main)
