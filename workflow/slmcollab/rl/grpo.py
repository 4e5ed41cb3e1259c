"""GRPO on LoRA and the context adapter together, with TRL's own trainer and loss (n-Musketeers, §5)."""

import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PreTrainedModel, PrinterCallback, TrainerCallback, TrainerControl, TrainerState
from transformers import TrainingArguments as Arguments
from trl import GRPOConfig, GRPOTrainer

from slmcollab import checkpoints, seeding
from slmcollab.artifacts import Problem
from slmcollab.generation.greedy import plain_config
from slmcollab.models.adapters import LoraSettings
from slmcollab.rl import trl_hooks
from slmcollab.rl.conditioned import ConditionedPolicy
from slmcollab.rl.policy import ADAPTER
from slmcollab.rl.rollout import Reward, Rollout
from slmcollab.rl.routing import RouterTraining
from slmcollab.rl.settings import GrpoSettings
from slmcollab.scoring.grader import Grader


def draw_rows(num_rows: int, count: int, generator: random.Random) -> list[int]:
    """Return `count` row numbers below `num_rows`: permutations of all of them, one after the other."""
    rows: list[int] = []
    while len(rows) < count:
        rows += generator.sample(range(num_rows), num_rows)
    return rows[:count]


def build_trainer(
    loaded: ConditionedPolicy,
    problems: Sequence[Problem],
    grader: Grader,
    settings: GrpoSettings,
    lora: LoraSettings,
    *,
    seed: int,
    folder: Path,
) -> GRPOTrainer:
    """Return TRL's trainer for one epoch over the prompts of all steps; checkpoints go to `folder`.

    Raises ValueError where nothing would be trained, or something else than LoRA and the context adapter.
    """
    trl_hooks.check_version()
    trl_hooks.score_completions_only()
    policy = loaded.model
    policy.generation_config = plain_config(policy, loaded.tokenizer)  # its own would fill what TRL leaves open
    router = _router_training(loaded, settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*'rollout_func'", category=UserWarning)
        trainer = GRPOTrainer(
            model=policy,
            reward_funcs=Reward(grader, problems, loaded, router),
            args=_arguments(policy, settings, seed, folder),
            train_dataset=_dataset(problems, settings, seed),
            processing_class=loaded.tokenizer,
            peft_config=lora.config([ADAPTER] if hasattr(policy, ADAPTER) else None),
            rollout_func=Rollout(loaded, settings.without_context_every),
        )
    trainer.remove_callback(PrinterCallback)
    trainer.add_callback(ReportStep)
    if router:
        trainer.add_callback(router)
    count_trainable(trainer)
    return trainer


def _router_training(loaded: ConditionedPolicy, settings: GrpoSettings) -> RouterTraining | None:
    """Return what trains the router, with the policy's learning rate, or None where none is learned."""
    if loaded.learned_router is None:
        return None
    how = {"group_size": settings.group_size, "learning_rate": settings.learning_rate, "max_steps": settings.max_steps}
    return RouterTraining(loaded.routing, **how)


def _arguments(policy: PreTrainedModel, settings: GrpoSettings, seed: int, folder: Path) -> GRPOConfig:
    on_gpu = policy.device.type == "cuda"
    return GRPOConfig(
        output_dir=str(folder),
        seed=seeding.derive(seed, "grpo"),
        shuffle_dataset=False,
        num_train_epochs=1,
        max_steps=settings.max_steps,
        num_generations=settings.group_size,
        per_device_train_batch_size=settings.completions_per_device,
        gradient_accumulation_steps=settings.prompts_per_step * settings.group_size // settings.completions_per_device,
        beta=settings.beta,
        loss_type="grpo",
        scale_rewards="group",
        num_iterations=1,
        use_bias_correction_kl=False,
        mask_truncated_completions=False,
        learning_rate=settings.learning_rate,
        # ASSUME: AdamW without weight decay at a constant learning rate, gradients clipped to norm 1.
        lr_scheduler_type="constant",
        weight_decay=0.0,
        max_grad_norm=1.0,
        max_completion_length=settings.max_new_tokens,
        temperature=settings.temperature,
        top_p=1.0,
        top_k=0,
        repetition_penalty=1.0,
        bf16=policy.dtype == torch.bfloat16,
        gradient_checkpointing=settings.gradient_checkpointing,
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        save_strategy="steps",
        save_steps=settings.save_every,
        save_total_limit=2,
    )


def _dataset(problems: Sequence[Problem], settings: GrpoSettings, seed: int) -> Dataset:
    """Return steps × prompts rows, so that a run is one epoch: TRL's sampler does not resume in a second one."""
    rows = draw_rows(
        len(problems), settings.max_steps * settings.prompts_per_step, seeding.python_generator(seed, "prompts")
    )
    prompts = [[{"role": "user", "content": problems[row].question, "example_id": row}] for row in rows]
    return Dataset.from_dict({"prompt": prompts, "row": rows})


def count_trainable(trainer: GRPOTrainer) -> int:
    """Return the number of trained parameters; raises ValueError unless they are LoRA's and the context adapter's."""
    trained = {name: weight for name, weight in trainer.model.named_parameters() if weight.requires_grad}
    foreign = [name for name in trained if "lora_" not in name and f"{ADAPTER}.modules_to_save" not in name]
    if foreign or not any("lora_" in name for name in trained):
        raise ValueError(f"LoRA has nothing to train, or more is trained than LoRA and the context adapter: {foreign}")
    return sum(weight.numel() for weight in trained.values())


class ReportStep(TrainerCallback):
    """Prints a line a step."""

    def on_log(self, args: Arguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        entry = state.log_history[-1]
        if "reward" in entry:
            print(f"step {entry['step']}/{state.max_steps}: reward {entry['reward']:.3f}", flush=True)


def train(trainer: GRPOTrainer) -> None:
    """Train to the end, from the last whole checkpoint if there is one; the folder's name is the run's fingerprint."""
    folder = Path(trainer.args.output_dir)
    start = checkpoints.latest(folder, folder.name)
    checkpoints.remove_after(start, folder)
    for callback in trainer.callback_handler.callbacks:
        if start and isinstance(callback, RouterTraining):
            callback.restore(start)
    trainer.add_callback(checkpoints.MarkComplete(folder.name))
    trainer.train(resume_from_checkpoint=str(start) if start else None)
