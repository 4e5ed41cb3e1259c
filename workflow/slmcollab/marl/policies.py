"""The models of a team while they learn: each slot has a LoRA of its own, and speaks with its present weights."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from peft import PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedTokenizerBase

from slmcollab.artifacts import replacing
from slmcollab.generation.engine import Speaker
from slmcollab.generation.requests import Decoding, Member, Request, Response
from slmcollab.marl.batches import Batch
from slmcollab.marl.losses import PerToken
from slmcollab.models.adapters import LoraSettings, load_adapter, write_adapter
from slmcollab.models.hub import load_model, load_tokenizer
from slmcollab.seeding import derive

_MOST_LOGITS = 2**28  # of a large vocabulary, in fp32 at one time: 1 GiB


class Policy:
    """A slot's own weights on a model that it may share: LoRA, and a value head that starts at 0, if it has one."""

    def __init__(self, member: Member, model: PeftModel, tokenizer: PreTrainedTokenizerBase, has_values: bool) -> None:
        """Raises ValueError where something else than LoRA would be trained, or nothing."""
        self.member, self.model, self.tokenizer = member, model, tokenizer
        self._head = model.get_base_model().get_output_embeddings()
        self.values = nn.Linear(self._head.weight.shape[-1], 1, device=model.device) if has_values else None
        if self.values is not None:
            nn.init.zeros_(self.values.weight)
            nn.init.zeros_(self.values.bias)
        self.switch_on()
        named = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
        if not named or not all("lora_" in name and f".{member.slot}." in name for name, _ in named):
            raise ValueError(f"{member.slot}: LoRA has nothing to train, or more than LoRA is trained")
        self.weights = [weight for _, weight in named] + list(self.values.parameters() if self.values else ())
        # ASSUME: AdamW without weight decay at a constant learning rate, gradients clipped to norm 1.
        self.optimizer = torch.optim.AdamW(self.weights, weight_decay=0.0)

    def switch_on(self, *, training: bool = False) -> None:
        """Let the model be this slot's: dropout is none, so that training changes no more than memory."""
        self.model.set_adapter(self.member.slot)
        self.model.train(training)

    def score(self, batch: Batch, temperature: float | int) -> tuple[PerToken, PerToken | None]:
        """Return log p in nats of each response's tokens, as it is sampled, and V before each, if it has values.

        Logits are there for the responses alone; the adapter is the one that is switched on.
        """
        states: list[Tensor] = []
        hook = self._head.register_forward_pre_hook(lambda _, given: states.append(given[0]))
        positions = (batch.mask.cumsum(dim=-1) - 1).clamp(min=0)
        inputs = {"input_ids": batch.ids, "attention_mask": batch.mask, "position_ids": positions}
        with hook:
            logits = self.model(**inputs, use_cache=False, logits_to_keep=batch.said.shape[1] + 1).logits[:, :-1]
        rows = max(1, _MOST_LOGITS // logits[0].numel())
        parts = zip(logits.split(rows), batch.said.split(rows), strict=True)
        log_probs = torch.cat([checkpoint(_log_probs, *part, temperature, use_reentrant=False) for part in parts])
        values = None if self.values is None else self.values(states[0][:, :-1].float()).squeeze(-1)
        return log_probs, values

    def reference(self, batch: Batch, temperature: float | int) -> PerToken:
        """Return log p under the base model alone."""
        with self.model.disable_adapter():
            return self.score(batch, temperature)[0]

    def adapter(self) -> dict[str, Tensor]:
        state = get_peft_model_state_dict(self.model, adapter_name=self.member.slot, save_embedding_layers=False)
        return {name: weight.cpu().contiguous() for name, weight in state.items()}

    def state(self) -> dict[str, Any]:
        """Return all that a checkpoint keeps of this slot."""
        values = {} if self.values is None else self.values.state_dict()
        return {"adapter": self.adapter(), "values": values, "optimizer": self.optimizer.state_dict()}

    def load(self, state: Mapping[str, Any]) -> None:
        set_peft_model_state_dict(self.model, state["adapter"], adapter_name=self.member.slot)
        if self.values is not None:
            self.values.load_state_dict(state["values"])
        self.optimizer.load_state_dict(state["optimizer"])

    def write(self, folder: Path) -> None:
        """Write the adapter as `models.adapters.load_adapter` reads it, equal bytes for equal weights."""
        folder.mkdir()
        write_adapter(self.model, folder, name=self.member.model, adapter=self.member.slot)


def _log_probs(
    logits: Float[Tensor, "row token vocabulary"], said: Int[Tensor, "row token"], temperature: float | int
) -> Float[Tensor, "row token"]:
    logits = logits.float() / temperature
    return logits.gather(-1, said.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(dim=-1)


class Policies:
    """The policies of a team by slot, and a backend that they answer for; models stay in memory, each once."""

    def __init__(
        self, members: Sequence[Member], lora: LoraSettings, *, dtype: str, seed: int, has_values: bool, batch_size: int
    ) -> None:
        """A member that has an adapter goes on from it, any other starts with a fresh one drawn by the seed.

        Raises ValueError for LoRA with dropout: what was sampled would not be what is trained.
        """
        # ASSUME: reinforcement learning of baselines has no dropout, so that likelihood ratios start at 1.
        if lora.dropout:
            raise ValueError(f"lora.dropout: {lora.dropout} is not 0")
        self._batch_size, self.slots, self._speakers = batch_size, {}, {}
        for folder in dict.fromkeys(member.folder for member in members):
            sharing = [member for member in members if member.folder == folder]
            model, tokenizer = _adapted(folder, sharing, lora, dtype, seed), load_tokenizer(folder)
            self._speakers[folder] = Speaker(model, tokenizer)
            for member in sharing:
                self.slots[member.slot] = Policy(member, model, tokenizer, has_values)
        self.slots: dict[str, Policy] = {member.slot: self.slots[member.slot] for member in members}

    def generate(self, requests: Sequence[Request], decoding: Decoding) -> list[Response]:
        """See `requests.Backend`."""
        found: dict[int, Response] = {}
        for slot, policy in self.slots.items():
            rows = [at for at, request in enumerate(requests) if request.slot == slot]
            if rows:
                policy.switch_on()
                speaker = self._speakers[policy.member.folder]
                given = speaker.respond([requests[at] for at in rows], decoding, self._batch_size)
                found |= zip(rows, given, strict=True)
        return [found[at] for at in range(len(requests))]

    def state(self) -> dict[str, Any]:
        return {slot: policy.state() for slot, policy in self.slots.items()}

    def load(self, state: Mapping[str, Any]) -> None:
        for slot, policy in self.slots.items():
            policy.load(state[slot])

    def write(self, folder: Path) -> None:
        """Write a folder with each slot's adapter."""
        with replacing(folder) as temporary:
            temporary.mkdir()
            for slot, policy in self.slots.items():
                policy.write(temporary / slot)


def _adapted(folder: Path, members: Sequence[Member], lora: LoraSettings, dtype: str, seed: int) -> PeftModel:
    """Return a model with the adapters of the slots that share it, called like them."""
    model = load_model(folder, dtype=dtype)
    for member in members:
        torch.manual_seed(derive(seed, "lora", member.slot))
        if member.adapter is not None:
            model = load_adapter(model, member.adapter, name=member.slot, trainable=True)
        elif isinstance(model, PeftModel):
            model.add_adapter(member.slot, lora.config())
        else:
            model = get_peft_model(model, lora.config(), adapter_name=member.slot)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    if model.device.type == "cuda":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model
