"""Entry of the rule generate_expert_answers."""

import json
from pathlib import Path

import tyro

from slmcollab import seeding, usage
from slmcollab.artifacts import read_json, read_problems, write_jsonl
from slmcollab.experts.answers import make_row
from slmcollab.experts.prompts import read_prompts
from slmcollab.generation.greedy import end_ids, generate_greedy
from slmcollab.models import chat, hub


def main(*, cell: str, expert: Path, problems: Path, answers: Path) -> None:
    """Let a frozen expert answer a split greedily by itself, in its own chat template."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    budget, batch_size = (settings["expert_answers"][key] for key in ("max_new_tokens", "batch_size"))
    extraction, manifest, split = settings["extraction"], read_json(expert), read_problems(problems)
    tokenizer = hub.load_tokenizer(hub.weights(expert))
    positions = manifest["max_positions"]
    prompts, prompt_cut = read_prompts(tokenizer, split, extraction, max_positions=positions, room=budget)
    model = hub.load_model(hub.weights(expert), dtype=extraction["dtype"])
    ends = end_ids(model, tokenizer)
    completions = generate_greedy(model, tokenizer, prompts, max_new_tokens=budget, batch_size=batch_size)
    rows = []
    for problem, ids, without_start in zip(split, completions, prompt_cut, strict=True):
        ended = ids[-1] in ends
        said = ids[:-1] if ended else ids
        rows.append(make_row(problem.id, chat.spoken(tokenizer, said), said, ended=ended, prompt_cut=without_start))
    write_jsonl(answers, rows)
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main)
