"""Entry of the rule train_grpo."""

import json
from pathlib import Path

import tyro

from slmcollab import artifacts, digests, seeding, usage
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.rl import adapters, grpo
from slmcollab.rl.conditioned import load_policy
from slmcollab.rl.exposed import ExpertFiles
from slmcollab.rl.history import history_rows
from slmcollab.rl.record import describe_run, describe_training
from slmcollab.scoring.grader import Grader


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    policy: Path,
    problems: Path,
    files: ExpertFiles,
    checkpoints: Path,
    save_every: int,
    job: str,
    adapter: Path,
    run: Path,
    history: Path,
) -> None:
    """Train LoRA and the operator of a policy with GRPO; a killed job goes on from its last checkpoint."""
    settings, split = json.loads(cell), artifacts.read_problems(problems)
    seeding.fix_threads(settings["numeric_threads"])
    record = describe_run(settings, code, seed, policy=policy, problems=problems, files=files)
    with one_writer(checkpoints, job), Grader(settings["scorer"], settings["evaluation"]["time_limit_s"]) as grader:
        loaded = load_policy(policy, split, files, settings, seed=seed, split="train")
        how = (grpo.GrpoSettings(**settings["grpo"], save_every=save_every), grpo.LoraSettings(**settings["lora"]))
        trainer = grpo.build_trainer(loaded, split, grader, *how, seed=seed, folder=checkpoints / fingerprint(record))
        grpo.train(trainer)
        adapters.save_adapter(trainer.model, adapter, name=settings["policy"], router=loaded.learned_router)
        artifacts.write_csv(history, history_rows(trainer.state.log_history))
        told = record | describe_training(grpo.count_trainable(trainer), loaded)
        artifacts.write_json(run, digests.with_outputs(told, {"adapter": adapter, "history": history}))
    usage.report_usage()


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
