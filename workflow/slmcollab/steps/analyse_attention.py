"""Entry of the rule analyse_attention."""

import json
from pathlib import Path
from statistics import fmean

import tyro

from slmcollab import artifacts, seeding, usage
from slmcollab.experts.features import read_features
from slmcollab.rl import adapters, conditioned, record
from slmcollab.rl.exposed import ExpertFiles
from slmcollab.rl.static_attention import freeze
from slmcollab.scoring.grader import Grader


def main(
    *,
    cell: str,
    seed: int,
    run: Path,
    train_cell: str,
    train_code: str,
    policy: Path,
    adapter: Path,
    train_features: list[Path],
    problems: Path,
    files: ExpertFiles,
    scores: Path,
    attention: Path,
) -> None:
    """Answer the test problems with attention frozen at its mean over train prompts; say how static it was anyway."""
    settings, split, scored = json.loads(cell), artifacts.read_problems(problems), artifacts.read_json(scores)
    record.check_run(run, json.loads(train_cell), train_code, seed, adapter)
    seeding.fix_threads(settings["numeric_threads"])
    loaded = conditioned.load_policy(policy, split, files, settings, seed=seed, split="test")
    model = adapters.load_adapter(loaded.model, adapter)
    known = [read_features(path, settings["features"]["pooling"]) for path in train_features]
    found = freeze(model, settings["experts"], loaded.context.features, known)
    texts = loaded.tokenizer.batch_decode(loaded.answer(model, settings), skip_special_tokens=True)
    with Grader(settings["scorer"], settings["time_limit_s"]) as grader:
        right = [score.correct for score in grader.grade(texts, split)]
    named = {key: settings[key] for key in ("benchmark", "method", "team", "experts")} | {"seed": seed}
    found |= {"accuracy": scored["metrics"]["accuracy"], "accuracy_frozen": 100 * fmean(right)}
    artifacts.write_json(attention, named | found | {"num_problems": len(split)})
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
