"""TRL's trainer for responses that count by their reward: protocol distillation (eq. 8) and refinement (eq. 14)."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from jaxtyping import Float
from peft import PeftModel
from torch import Tensor
from transformers import PreTrainedTokenizerBase, PrinterCallback
from trl import SFTConfig, SFTTrainer

from slmcollab import checkpoints
from slmcollab.models.adapters import LoraSettings
from slmcollab.supervision import losses
from slmcollab.supervision.batches import IGNORED, Row, pad, plan_updates
from slmcollab.supervision.clip import is_clipped


@dataclass(frozen=True)
class TrainingSettings:
    """One update is `batch_size` examples, `micro_batch_size` of which go through the model at once.

    max_tokens: of an example, context and response; clip: of the likelihood ratio to the sampler, None for eq. 8 and 14
    as written; dtype: of the frozen model's weights; save_every: updates between two checkpoints.
    """

    epochs: int
    batch_size: int
    micro_batch_size: int
    learning_rate: float
    max_tokens: int
    lora: LoraSettings
    dtype: str
    save_every: int
    clip: float | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "micro_batch_size", "max_tokens", "save_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not at least 1")
        if self.batch_size % self.micro_batch_size:
            raise ValueError(f"micro_batch_size: {self.micro_batch_size} does not divide batch_size {self.batch_size}")
        if self.clip is not None and not 0 < self.clip < 1:
            raise ValueError(f"clip: {self.clip} is not between 0 and 1")


class RewardWeightedTrainer(SFTTrainer):
    """Trains on the rows of a plan of updates, in its order; a resumed run goes on where it was."""

    loss_is_scaled_for_ga = True  # a loss is the part of its update's mean that its rows make up

    def __init__(
        self,
        model: PeftModel,
        tokenizer: PreTrainedTokenizerBase,
        rows: Sequence[Row],
        settings: TrainingSettings,
        *,
        seed: int,
        folder: Path,
    ) -> None:
        self.rows, self.clip, self.sampler = rows, settings.clip, None
        updates = plan_updates([len(row.ids) for row in rows], settings.batch_size, settings.epochs, seed)
        plan = [{"row": row, "num_examples": len(update)} for update in updates for row in update]
        super().__init__(
            model=model,
            args=_arguments(model, settings, seed, folder),
            data_collator=self.collate,
            train_dataset=Dataset.from_list(plan),
            processing_class=tokenizer,
        )
        self.remove_callback(PrinterCallback)
        self.sums: Counter[str] = Counter()
        if settings.clip:
            # ASSUME: a clipped refinement has no dropout, so that the likelihood ratio to the sampler starts at 1.
            for module in model.modules():
                if isinstance(module, torch.nn.Dropout):
                    module.p = 0.0
            # The weights that sampled are those before the first update.
            self.sampler = self.log_probabilities(rows)

    def collate(self, planned: Sequence[dict[str, int]]) -> dict[str, Any]:
        """Return the batch of the rows that the plan names; num_examples: of the whole update."""
        numbers = [entry["row"] for entry in planned]
        batch = pad([self.rows[number] for number in numbers], self.processing_class.pad_token_id)
        if self.sampler is not None:
            sampler = torch.zeros(batch["input_ids"].shape[0], batch["input_ids"].shape[1] - 1)
            for place, number in enumerate(numbers):
                start = self.rows[number].num_context - 1  # the prediction of a token stands one place before it
                sampler[place, start : start + self.rows[number].num_trained] = self.sampler[number]
            batch["sampler"] = sampler
        return batch | {"num_examples": planned[0]["num_examples"]}

    def compute_loss(
        self, model: PeftModel, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Float[Tensor, ""]:
        rewards, num_examples, sampler = inputs["rewards"], inputs["num_examples"], inputs.get("sampler")
        log_probs, is_trained = self._score(model, inputs)
        found = log_probs.detach()
        is_negative = is_trained & (rewards < 0).unsqueeze(1)
        self.sums["tokens"] += is_trained.sum()
        self.sums["negative"] += is_negative.sum()
        self.sums["logp_negative"] += found[is_negative].sum()
        if sampler is None:
            return losses.reward_weighted_loss(log_probs, rewards, num_examples)
        self.sums["clipped"] += is_clipped(found, sampler, rewards.unsqueeze(1), self.clip)[is_trained].sum()
        return losses.clipped_loss(log_probs, sampler, is_trained, rewards, num_examples, self.clip)

    def _score(self, model: PeftModel, inputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Return log p of every next token, 0 where none is trained, and where one is."""
        names = ("input_ids", "attention_mask", "labels")
        scored = model(**{name: inputs[name] for name in names}, use_cache=False, fused_lm_head=True)
        return scored.log_probs.float(), inputs["labels"][:, 1:] != IGNORED

    @torch.no_grad()
    def log_probabilities(self, rows: Sequence[Row]) -> list[Float[Tensor, " token"]]:
        """Return log p of the response tokens of each row, under the weights as they are, without dropout."""
        self.model.eval()
        found: list[Tensor] = [torch.empty(0)] * len(rows)
        order = sorted(range(len(rows)), key=lambda number: -len(rows[number].ids))
        size = self.args.per_device_train_batch_size
        for numbers in (order[start : start + size] for start in range(0, len(order), size)):
            inputs = self._prepare_inputs(pad([rows[number] for number in numbers], self.processing_class.pad_token_id))
            with self.compute_loss_context_manager():
                log_probs, is_trained = self._score(self.model, inputs)
            for number, row, trained in zip(numbers, log_probs.cpu(), is_trained.cpu(), strict=True):
                found[number] = row[trained]
        return found

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add what was counted since the last update; raises ValueError where the loss is no number any more."""
        if "loss" in logs:
            if not math.isfinite(logs["loss"]):
                raise ValueError(f"the loss of update {self.state.global_step} is {logs['loss']}: learn more slowly")
            sums = {name: float(value) for name, value in self.sums.items()}
            self.sums.clear()
            if self.clip:
                logs["clip_share"] = sums["clipped"] / max(1, sums["tokens"])
            if sums["negative"]:
                logs["logp_negative"] = sums["logp_negative"] / sums["negative"]
        super().log(logs, start_time)

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """Write none: a checkpoint is nobody's model."""


def _arguments(model: PeftModel, settings: TrainingSettings, seed: int, folder: Path) -> SFTConfig:
    on_gpu = model.device.type == "cuda"
    return SFTConfig(
        output_dir=str(folder),
        seed=seed,
        num_train_epochs=1,  # the plan holds all of them
        train_sampling_strategy="sequential",
        per_device_train_batch_size=settings.micro_batch_size,
        gradient_accumulation_steps=settings.batch_size // settings.micro_batch_size,
        learning_rate=settings.learning_rate,
        # ASSUME: AdamW without weight decay at a constant learning rate, gradients clipped to norm 1.
        lr_scheduler_type="constant",
        weight_decay=0.0,
        max_grad_norm=1.0,
        bf16=model.dtype == torch.bfloat16,
        gradient_checkpointing=on_gpu,
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        dataset_kwargs={"skip_prepare_dataset": True},
        remove_unused_columns=False,
        max_length=None,
        logging_steps=1,
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        save_strategy="steps",
        save_steps=settings.save_every,
        save_total_limit=2,
    )


def train(trainer: RewardWeightedTrainer, fingerprint: str) -> None:
    """Train to the end, from the last whole checkpoint of the run with this fingerprint if there is one."""
    folder = Path(trainer.args.output_dir)
    start = checkpoints.latest(folder, fingerprint)
    checkpoints.remove_after(start, folder)
    trainer.add_callback(checkpoints.MarkComplete(fingerprint))
    trainer.train(resume_from_checkpoint=str(start) if start else None)
