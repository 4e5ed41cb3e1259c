"""Entry of the rule train_grpo."""

import json
import shutil
from pathlib import Path

import tyro

from slmcollab import artifacts, seeding
from slmcollab.rl import adapters, grpo
from slmcollab.rl import checkpoints as saved
from slmcollab.rl.history import history_rows, write_history
from slmcollab.rl.policy import PolicySettings, load_policy
from slmcollab.rl.rollout import Reward, Rollout
from slmcollab.scoring.grader import Grader


def main(
    *,
    cell: str,
    code: str,
    seed: int,
    policy: Path,
    problems: Path,
    features: list[Path],
    checkpoints: Path,
    job: str,
    adapter: Path,
    run: Path,
    history: Path,
) -> None:
    """Train LoRA and the context adapter of a policy with GRPO, one seed; a killed job goes on where it was."""
    settings = json.loads(cell)
    seeding.fix_threads(settings["numeric_threads"])
    experts, grpo_settings = settings["experts"], grpo.GrpoSettings(**settings["grpo"])
    files = {"policy": policy, "problems": problems, **dict(zip(experts, features, strict=True))}
    digests = {name: artifacts.digest(path) for name, path in files.items()}
    record = {"cell": settings, "code": code, "seed": seed, "inputs": digests, "packages": grpo.packages()}
    fingerprint = saved.fingerprint(record)
    with (
        saved.one_writer(checkpoints, job),
        Grader(settings["scorer"], settings["evaluation"]["time_limit_s"]) as grader,
    ):
        split = artifacts.read_problems(problems)
        loaded = load_policy(policy, split, features, PolicySettings.from_cell(settings), seed=seed, split="train")
        trainer = grpo.build_trainer(
            loaded.model,
            loaded.tokenizer,
            split,
            settings=grpo_settings,
            lora=grpo.LoraSettings(**settings["lora"]),
            rollout=Rollout(loaded.prompts, loaded.plain_prompts, grpo_settings.probe_every),
            reward=Reward(grader, split, loaded.context, experts),
            seed=seed,
            folder=checkpoints / fingerprint[:16],  # another run's are neither read nor rotated away
        )
        grpo.train(trainer, fingerprint)
        with artifacts.replacing(adapter) as folder:
            adapters.save_adapter(trainer.model, folder, name=settings["policy"])
        write_history(history, history_rows(trainer.state.log_history, experts))
        artifacts.write_json(
            run, record | {"reference": grpo.REFERENCE, "num_trainable": grpo.count_trainable(trainer)}
        )
        shutil.rmtree(checkpoints)


if __name__ == "__main__":
    tyro.cli(main)
