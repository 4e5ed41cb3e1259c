"""The backend that runs a team's models in this process: batches per model and adapter, adapters switched in place."""

import contextlib
import gc
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from slmcollab.generation.greedy import answer, end_ids
from slmcollab.generation.requests import LENGTH, STOP, Decoding, Member, Request, Response
from slmcollab.generation.sampling import seeded_sampler
from slmcollab.models.adapters import load_adapter
from slmcollab.models.chat import encode, spoken
from slmcollab.models.hub import load_model, load_tokenizer

ALL, ONE = "all", "one"


class LocalBackend:
    """See `requests.Backend`. Requests of one call that the same weights answer share batches, the longest first.

    members: the team; those with one folder share its weights in memory, whatever their adapters. dtype: of the
    weights. resident: `all` keeps every model once it was needed, `one` only the last, and reads a model again at
    each change. batch_size: rows at most. A prompt that leaves less room in the model's context than the budget gets
    that room; one that leaves none gets an empty response that ended by `length`.
    """

    def __init__(self, members: Sequence[Member], *, dtype: str, resident: str, batch_size: int) -> None:
        """Raises ValueError for two members of one slot, an unknown `resident` and a batch size below 1."""
        if resident not in (ALL, ONE):
            raise ValueError(f"resident {resident!r} is not one of {ALL}, {ONE}")
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size}: at least 1")
        self._members = {member.slot: member for member in members}
        if len(self._members) < len(members):
            raise ValueError(f"slots {', '.join(member.slot for member in members)}: each may be there once")
        self._dtype, self._resident, self._batch_size = dtype, resident, batch_size
        self._bases: dict[Path, _Base] = {}

    def generate(self, requests: Sequence[Request], decoding: Decoding) -> list[Response]:
        """Return the responses in the order of the requests; raises ValueError for a slot that the team lacks."""
        foreign = sorted({request.slot for request in requests} - self._members.keys())
        if foreign:
            raise ValueError(f"slot {foreign[0]!r} is not one of {', '.join(self._members)}")
        responses: dict[int, Response] = {}
        for folder in self._visits({self._members[request.slot].folder for request in requests}):
            responses |= self._visit(folder, requests, decoding)
        return [responses[at] for at in range(len(requests))]

    def _visit(self, folder: Path, requests: Sequence[Request], decoding: Decoding) -> dict[int, Response]:
        """Return the responses of one model by their requests' numbers."""
        base, responses = self._base(folder), {}
        for adapter in dict.fromkeys(member.adapter for member in self._sharing(folder)):
            slots = {member.slot for member in self._sharing(folder) if member.adapter == adapter}
            rows = [at for at, request in enumerate(requests) if request.slot in slots]
            with base.speaking(adapter):
                given = base.speaker.respond([requests[at] for at in rows], decoding, self._batch_size)
            responses |= zip(rows, given, strict=True)
        return responses

    def _sharing(self, folder: Path) -> list[Member]:
        return [member for member in self._members.values() if member.folder == folder]

    def _visits(self, wanted: set[Path]) -> list[Path]:
        """Return the folders in the order of the team, but first what is in memory already."""
        order = dict.fromkeys(member.folder for member in self._members.values() if member.folder in wanted)
        return sorted(order, key=lambda folder: folder not in self._bases)

    def _base(self, folder: Path) -> "_Base":
        if folder not in self._bases:
            if self._resident == ONE:
                self._bases.clear()
                gc.collect()
                torch.cuda.empty_cache()
            self._bases[folder] = _Base(folder, self._sharing(folder), self._dtype)
        return self._bases[folder]


class Speaker:
    """A model in memory that answers requests as it is, whatever adapter it has switched on."""

    def __init__(self, model: nn.Module, tokenizer: PreTrainedTokenizerBase) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._ends = end_ids(model, tokenizer)
        room = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        self._context = math.inf if room is None else room

    def respond(self, requests: Sequence[Request], decoding: Decoding, batch_size: int) -> list[Response]:
        """Return the responses in the order of the requests."""
        prompts = [encode(self._tokenizer, request.messages) for request in requests]
        budgets = [int(min(decoding.max_new_tokens, self._context - len(prompt))) for prompt in prompts]
        rows = sorted((at for at, budget in enumerate(budgets) if budget > 0), key=lambda at: -len(prompts[at]))
        completions: dict[int, list[int]] = {}
        for start in range(0, len(rows), batch_size):
            batch = rows[start : start + batch_size]
            room = [budgets[at] for at in batch]
            seeds = [requests[at].seed for at in batch]
            pick = seeded_sampler(seeds, decoding.temperature, decoding.top_p, num_tokens=max(room))
            given = answer(self._model, self._tokenizer, [prompts[at] for at in batch], pick, room)
            completions |= zip(batch, given, strict=True)
        return [self._response(len(prompt), completions.get(at, [])) for at, prompt in enumerate(prompts)]

    def _response(self, prompt_tokens: int, ids: list[int]) -> Response:
        return Response(
            text=spoken(self._tokenizer, ids),
            prompt_tokens=prompt_tokens,
            output_tokens=len(ids),
            finish_reason=STOP if ids and ids[-1] in self._ends else LENGTH,
            output_ids=tuple(ids),
        )


class _Base:
    """A model with the adapters that its slots speak with."""

    def __init__(self, folder: Path, members: Sequence[Member], dtype: str) -> None:
        self._model = load_model(folder, dtype=dtype)
        self._names: dict[Path, str] = {}  # each adapter is called like the first slot that has it
        for member in members:
            if member.adapter is not None and member.adapter not in self._names:
                self._names[member.adapter] = member.slot
                self._model = load_adapter(self._model, member.adapter, name=member.slot)
        self._model.eval().requires_grad_(False)
        self.speaker = Speaker(self._model, load_tokenizer(folder))

    def speaking(self, adapter: Path | None) -> contextlib.AbstractContextManager:
        """Return a context in which the model speaks with `adapter`, one of its own, or without any."""
        if adapter is not None:
            self._model.set_adapter(self._names[adapter], inference_mode=True)
        elif self._names:
            return self._model.disable_adapter()
        return contextlib.nullcontext()
