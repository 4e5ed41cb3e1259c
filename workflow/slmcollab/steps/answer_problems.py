"""Entry of the rule answer_problems."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding
from slmcollab.generation.greedy import end_ids, generate_greedy
from slmcollab.rl.adapters import load_adapter
from slmcollab.rl.policy import PolicySettings, load_policy
from slmcollab.rl.record import check_run


def main(
    *,
    cell: str,
    seed: int,
    run: Path,
    train_cell: str,
    train_code: str,
    policy: Path,
    adapter: Path,
    problems: Path,
    features: list[Path],
    answers: Path,
) -> None:
    """Answer a split greedily with a trained policy; cut says that an answer filled the budget without an end."""
    settings = json.loads(cell)
    check_run(run, json.loads(train_cell), train_code, seed, adapter)
    seeding.fix_threads(settings["numeric_threads"])
    split = artifacts.read_problems(problems)
    loaded = load_policy(policy, split, features, PolicySettings.from_cell(settings), seed=seed, split="test")
    model, tokenizer = load_adapter(loaded.model, adapter), loaded.tokenizer
    ends, budget, batch_size = end_ids(model, tokenizer), settings["max_new_tokens"], settings["batch_size"]
    completions = generate_greedy(model, tokenizer, loaded.prompts, max_new_tokens=budget, batch_size=batch_size)
    rows = [
        {
            "id": problem.id,
            "completion": tokenizer.decode(ids, skip_special_tokens=True),
            "num_tokens": len(ids),
            "cut": ids[-1] not in ends,
        }
        for problem, ids in zip(split, completions, strict=True)
    ]
    artifacts.write_jsonl(answers, rows)


if __name__ == "__main__":
    tyro.cli(main)
