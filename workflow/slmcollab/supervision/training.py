"""The training of a team: all slots one after the other, in one job that may be killed (slices, 2.2.2)."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from peft import PeftModel, get_peft_model
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from slmcollab.artifacts import ArtifactError, digest, read_json, replacing, write_json, write_text
from slmcollab.generation.requests import Member
from slmcollab.models.adapters import LoraSettings, load_adapter, save_adapter
from slmcollab.models.hub import load_model, load_tokenizer
from slmcollab.seeding import derive
from slmcollab.supervision.batches import Row, encode_examples
from slmcollab.supervision.examples import Example
from slmcollab.supervision.trainer import RewardWeightedTrainer, TrainingSettings, train

ADAPTER, RECORD, EXAMPLE, MARKER = "adapter", "record.json", "example.txt", "done.json"


@dataclass(frozen=True)
class Slot:
    """One member's training: what it learns from, and where its checkpoints and then its results lie."""

    member: Member
    examples: Sequence[Example]
    seed: int
    folder: Path

    @property
    def fingerprint(self) -> str:
        return f"{self.folder.parent.name}/{self.member.slot}"


def read_settings(cell: Mapping[str, Any], save_every: int) -> TrainingSettings:
    """Return the settings of a cell with the keys training, lora and dtype."""
    lora = LoraSettings(**cell["lora"])
    return TrainingSettings(**cell["training"], lora=lora, dtype=cell["dtype"], save_every=save_every)


def train_members(
    members: Sequence[Member],
    examples: Mapping[str, Sequence[Example]],
    settings: TrainingSettings,
    *,
    seed: int,
    folder: Path,
    adapters: Path,
    may_idle: bool = False,
) -> tuple[dict[str, dict[str, Any]], str]:
    """Write the adapters of all slots to `adapters`; return each slot's record, and its first example in one text.

    A member that has an adapter goes on from it, any other starts with a fresh one drawn by the seed. `folder` holds
    the checkpoints: it is named after the run's fingerprint, and what is whole there of this run is not done again.
    Raises ValueError naming the slot that has nothing to learn from; with `may_idle`, one without any example keeps
    the weights that it has.
    """
    slots = [
        Slot(member, examples.get(member.slot, []), derive(seed, "train", member.slot), folder / member.slot)
        for member in members
    ]
    for slot in slots:
        if not slot.examples and not may_idle:
            raise ValueError(f"{slot.member.slot}: no example to learn from")
    base: tuple[Path, PreTrainedModel, PreTrainedTokenizerBase] | None = None
    for slot in sorted(slots, key=lambda slot: str(slot.member.folder)):  # a base model is loaded once
        if _is_done(slot):
            continue
        if base is None or base[0] != slot.member.folder:
            base = None  # before the next one is loaded: only one of them has to fit
            weights = slot.member.folder
            base = (weights, load_model(weights, dtype=settings.dtype), load_tokenizer(weights))
        _train_slot(slot, *base[1:], settings)
    with replacing(adapters) as temporary:
        for slot in slots:
            shutil.copytree(slot.folder / ADAPTER, temporary / slot.member.slot)
    texts = [f"[{slot.member.slot}]\n{(slot.folder / EXAMPLE).read_text('utf-8')}" for slot in slots]
    return {slot.member.slot: read_json(slot.folder / RECORD) for slot in slots}, "\n".join(texts)


def _is_done(slot: Slot) -> bool:
    try:
        marker = read_json(slot.folder / MARKER)
        made = {name: digest(slot.folder / name) for name in (ADAPTER, RECORD, EXAMPLE)}
    except ArtifactError:
        return False
    return marker == {"fingerprint": slot.fingerprint, "files": made}


def _train_slot(
    slot: Slot,
    base: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    settings: TrainingSettings,
) -> None:
    """Train one slot and put its results into its folder, the marker last; `base` is as before afterwards."""
    name = slot.member.slot
    rows, num_dropped = encode_examples(slot.examples, base, tokenizer, settings.max_tokens)
    if num_dropped and not rows:
        raise ValueError(f"{name}: none of its {num_dropped} examples has at most {settings.max_tokens} tokens")
    record = {"num_examples": len(rows), "num_dropped": num_dropped} | describe_rewards(rows)
    record["num_warnings"] = int(bool(rows) and record["mean_reward"] < 0)
    if record["num_warnings"]:
        print(f"warning: {name}: the mean reward is {record['mean_reward']:.3f} < 0: it mostly unlearns", flush=True)
    model = adapt(base, slot.member, settings, slot.seed)
    record |= _learn(model, tokenizer, rows, settings, slot) if rows else _NOTHING_LEARNED
    save_adapter(model, slot.folder / ADAPTER, name=slot.member.model)
    model.unload()
    write_text(slot.folder / EXAMPLE, show(rows[0], tokenizer) if rows else "no example\n")
    write_json(slot.folder / RECORD, record)
    made = {file: digest(slot.folder / file) for file in (ADAPTER, RECORD, EXAMPLE)}
    write_json(slot.folder / MARKER, {"fingerprint": slot.fingerprint, "files": made})
    for checkpoint in slot.folder.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    print(f"{name}: {record['num_updates']} updates on {record['num_examples']} examples", flush=True)


def adapt(base: PreTrainedModel, member: Member, settings: TrainingSettings, seed: int) -> PeftModel:
    """Return the member's model, of which nothing but LoRA is trained; raises ValueError if something else would be."""
    if member.adapter is not None:
        # ASSUME: refinement goes on with the LoRA weights of protocol distillation.
        model = load_adapter(base, member.adapter, trainable=True)
    else:
        torch.manual_seed(derive(seed, "lora"))
        model = get_peft_model(base, settings.lora.config())
    trained = [name for name, weight in model.named_parameters() if weight.requires_grad]
    if not trained or not all("lora_" in name for name in trained):
        raise ValueError(f"{member.slot}: LoRA has nothing to train, or more than LoRA is trained: {trained}")
    return model


_NOTHING_LEARNED = dict.fromkeys(
    ("loss_first", "loss_last", "logp_negative_before", "logp_negative_after", "logp_negative_min", "clip_share")
) | {"num_updates": 0}


def _learn(
    model: PeftModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[Row],
    settings: TrainingSettings,
    slot: Slot,
) -> dict[str, Any]:
    """Train `model` in place and return what the record says of it."""
    trainer = RewardWeightedTrainer(model, tokenizer, rows, settings, seed=slot.seed, folder=slot.folder)
    negative = [row for row in rows if row.reward < 0]
    before = mean_log_probability(trainer, negative)
    train(trainer, slot.fingerprint)
    log = [entry for entry in trainer.state.log_history if "loss" in entry]
    tenth = max(1, len(log) // 10)
    return {
        "num_updates": trainer.state.global_step,
        "loss_first": fmean(entry["loss"] for entry in log[:tenth]),
        "loss_last": fmean(entry["loss"] for entry in log[-tenth:]),
        "logp_negative_before": before,
        "logp_negative_after": mean_log_probability(trainer, negative),
        "logp_negative_min": min((entry["logp_negative"] for entry in log if "logp_negative" in entry), default=None),
        "clip_share": fmean(entry["clip_share"] for entry in log) if settings.clip else None,
    }


def mean_log_probability(trainer: RewardWeightedTrainer, rows: Sequence[Row]) -> float | None:
    """Return the mean log p in nats of all response tokens of `rows` under the present weights, None without any."""
    return torch.cat(trainer.log_probabilities(rows)).double().mean().item() if rows else None


def describe_rewards(rows: Sequence[Row]) -> dict[str, Any]:
    """Return num_tokens (of the responses), mean_reward, num_negative (examples with r < 0)."""
    return {
        "num_tokens": sum(row.num_trained for row in rows),
        "mean_reward": fmean(row.reward for row in rows) if rows else None,
        "num_negative": sum(row.reward < 0 for row in rows),
    }


def show(row: Row, tokenizer: PreTrainedTokenizerBase) -> str:
    """Return an example as it is trained, special tokens included, in which its trained part is marked."""
    context, response = (tokenizer.decode(ids) for ids in (row.ids[: row.num_context], row.ids[row.num_context :]))
    return f"{context}\n===== trained from here =====\n{response}\n===== to here =====\n"
