"""Entry of the rule answer_problems."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.generation.greedy import end_ids
from slmcollab.rl.adapters import load_adapter
from slmcollab.rl.conditioned import load_policy
from slmcollab.rl.exposed import ExpertFiles
from slmcollab.rl.record import check_run, describe_answering


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    run: Path,
    train_cell: str,
    train_code: str,
    policy: Path,
    adapter: Path,
    problems: Path,
    files: ExpertFiles,
    output: Path,
    answering: Path,
) -> None:
    """Answer a split greedily with a trained policy; cut says that an answer filled the budget without an end."""
    settings = json.loads(cell)
    check_run(run, json.loads(train_cell), train_code, seed, adapter)
    seeding.fix_threads(settings["numeric_threads"])
    loaded = load_policy(policy, split := artifacts.read_problems(problems), files, settings, seed=seed, split="test")
    model, tokenizer = load_adapter(loaded.model, adapter, loaded.learned_router), loaded.tokenizer
    completions, ends = loaded.answer(model, settings), end_ids(model, tokenizer)
    texts = tokenizer.batch_decode(completions, skip_special_tokens=True)
    rows = [
        {"id": problem.id, "completion": text, "num_tokens": len(ids), "cut": ids[-1] not in ends}
        for problem, text, ids in zip(split, texts, completions, strict=True)
    ]
    artifacts.write_jsonl(output, rows)
    read = {"policy": policy, "run": run, "adapter": adapter, "problems": problems}
    artifacts.write_json(answering, describe_answering(settings, code, seed, read, files, answers=output))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
