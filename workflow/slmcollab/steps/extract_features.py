"""Entry of the rule extract_features."""

import json
from pathlib import Path

import tyro

from slmcollab import seeding, usage
from slmcollab.artifacts import read_json, read_problems
from slmcollab.experts import features as files
from slmcollab.experts import pooling
from slmcollab.experts.answers import read_answers
from slmcollab.experts.prompts import read_prompts
from slmcollab.models import hub


def main(*, cell: str, code: str, expert: Path, problems: Path, answers: list[Path], features: Path) -> None:
    """Run a frozen expert once over what it reads of a split and keep its pooled hidden states.

    It reads the prompts and, where `answers` has its file of answers, each prompt as it was when it was answered and
    that answer: the last token is then the answer's last one, before the token that ended it (the prompt's last one
    where the answer is empty).
    """
    settings = json.loads(cell)
    sequence, extraction, manifest = settings["sequence"], settings["extraction"], read_json(expert, "num_layers")
    if sequence not in files.SEQUENCES:
        raise ValueError(f"features.sequence: {sequence!r} is not one of {', '.join(files.SEQUENCES)}")
    if len(answers) != (sequence == "completion"):
        raise ValueError(f"features.sequence: {sequence} with {len(answers)} files of answers")
    seeding.fix_threads(settings["numeric_threads"])
    split = read_problems(problems)
    ids = [problem.id for problem in split]
    tokenizer = hub.load_tokenizer(hub.weights(expert))
    room = settings["expert_answers"]["max_new_tokens"] if answers else 0
    read, cut = read_prompts(tokenizer, split, extraction, max_positions=manifest["max_positions"], room=room)
    for path in answers:
        read = [prompt + row["token_ids"] for prompt, row in zip(read, read_answers(path, split), strict=True)]
    draws = pooling.draw(ids, [len(tokens) for tokens in read], manifest["num_layers"])
    dtype = extraction["dtype"]
    model = hub.load_model(hub.weights(expert), dtype=dtype)
    pooled = pooling.pool(model, read, draws, batch_tokens=extraction["batch_tokens"])
    about = {"dtype": dtype, "sequence": sequence, "truncated": sum(cut), "code": code}
    about["files"] = [expert, problems, *answers]
    header = files.make_header(manifest, settings["expert"], read=read, **about)
    files.write_features(features, pooled, header | pooling.describe_layers(manifest["num_layers"]), ids)
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main)
