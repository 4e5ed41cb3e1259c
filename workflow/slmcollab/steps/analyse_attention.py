"""Entry of the rule analyse_attention."""

import json
from pathlib import Path
from statistics import fmean

import tyro

from slmcollab import artifacts, seeding
from slmcollab.generation.greedy import generate_greedy
from slmcollab.rl.adapters import load_adapter
from slmcollab.rl.conditioned import load_policy
from slmcollab.rl.exposed import ExpertFiles, load_features
from slmcollab.rl.static_attention import freeze
from slmcollab.scoring.grader import Grader


def main(
    *,
    cell: str,
    seed: int,
    policy: Path,
    adapter: Path,
    train_problems: Path,
    train_features: list[Path],
    problems: Path,
    files: ExpertFiles,
    scores: Path,
    attention: Path,
) -> None:
    """Answer the test problems with attention frozen at its mean over train prompts; say how static it was anyway."""
    settings, scored = json.loads(cell), artifacts.read_json(scores)
    seeding.fix_threads(settings["numeric_threads"])
    split, trained = artifacts.read_problems(problems), artifacts.read_problems(train_problems)
    loaded = load_policy(policy, split, files, settings, seed=seed, split="test")
    model = load_adapter(loaded.model, adapter)
    known = load_features(train_features, settings["features"]["pooling"], trained, None)
    found = freeze(model, settings["experts"], loaded.context.features, known)
    how = {"max_new_tokens": settings["max_new_tokens"], "batch_size": settings["batch_size"]}
    completions = generate_greedy(model, loaded.tokenizer, loaded.decided_prompts(), **how)
    texts = loaded.tokenizer.batch_decode(completions, skip_special_tokens=True)
    with Grader(settings["scorer"], settings["time_limit_s"]) as grader:
        right = [score.correct for score in grader.grade(texts, split)]
    named = {key: settings[key] for key in ("benchmark", "method", "team", "experts")} | {"seed": seed}
    found |= {"accuracy": scored["metrics"]["accuracy"], "accuracy_frozen": 100 * fmean(right)}
    artifacts.write_json(attention, named | found | {"num_problems": len(split)})


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
