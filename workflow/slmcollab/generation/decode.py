"""Decoding token by token: equal prompts and a shared prefix are read once, rows that have ended leave the batch."""

import inspect
import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import DynamicCache, GenerationMixin, PreTrainedModel
from transformers.cache_utils import CacheLayerMixin, DynamicLayer, DynamicSlidingWindowLayer

# From the logits of the rows that go on, and their numbers in the batch, to their next tokens.
Pick = Callable[[Float[Tensor, "live vocabulary"], list[int]], Int[Tensor, " live"]]

_PREFIX_SHARE = 0.15  # of a batch's tokens; less than this costs more in a pass of its own than it saves


def supports(model: nn.Module, num_tokens: int) -> bool:
    """Say whether `decode` can run `model` on rows of up to `num_tokens` ids, prompt and completion together.

    It can where each layer attends to the whole row and a step is prepared as in most families. Sliding windows that
    are shorter, recurrent states, and families with a way of their own need transformers' `generate`.
    """
    model = _bare(model)
    return (
        type(model).prepare_inputs_for_generation is GenerationMixin.prepare_inputs_for_generation
        and {"position_ids", "logits_to_keep"} <= inspect.signature(type(model).forward).parameters.keys()
        and all(_reach(layer) >= num_tokens for layer in DynamicCache(config=model.config).layers)
    )


def _reach(layer: CacheLayerMixin) -> float:
    """Return how many ids a layer attends to; 0 where it keeps something else than their keys and values."""
    if type(layer) is DynamicSlidingWindowLayer:
        return float(layer.sliding_window)
    return math.inf if type(layer) is DynamicLayer else 0.0


def argmax(logits: Float[Tensor, "live vocabulary"], rows: list[int]) -> Int[Tensor, " live"]:
    """Return the most probable tokens."""
    return logits.argmax(dim=-1)


def sampler(temperature: float) -> Pick:
    """Return a Pick for one batch that draws from softmax(logits / temperature): what `generate` draws from a seed.

    There, rows that have ended are drawn for all the same. Here they keep their last probabilities, so that every row
    meets the same random numbers as there.
    """
    every: list[Float[Tensor, "row vocabulary"]] = []

    def pick(logits: Float[Tensor, "live vocabulary"], rows: list[int]) -> Int[Tensor, " live"]:
        probabilities = (logits / temperature).softmax(dim=-1)
        if not every:
            every.append(probabilities)
        elif len(rows) == len(every[0]):
            every[0] = probabilities
        else:
            every[0][rows] = probabilities
        return torch.multinomial(every[0], num_samples=1)[rows, 0]

    return pick


@torch.no_grad()
def decode(
    model: nn.Module,
    prompts: Sequence[Sequence[int]],
    pick: Pick,
    *,
    max_new_tokens: int | Sequence[int],
    ends: Collection[int],
) -> list[list[int]]:
    """Return the completion of each prompt, up to the first of the ids `ends`, which it keeps, or to `max_new_tokens`.

    The prompts, none of them empty, make one batch that the model supports; `max_new_tokens` is for all of them, or one
    number each. `pick` sees, in fp32, the logits of `generate` up to rounding.
    """
    budgets = [max_new_tokens] * len(prompts) if isinstance(max_new_tokens, int) else max_new_tokens
    distinct = {prompt: place for place, prompt in enumerate(dict.fromkeys(map(tuple, prompts)))}
    places = [distinct[tuple(prompt)] for prompt in prompts]
    batch = _Batch(_bare(model), list(distinct), max(budgets))
    logits = batch.logits[places]
    batch.select(places)
    completions: list[list[int]] = [[] for _ in prompts]
    rows = list(range(len(prompts)))
    while True:
        tokens = pick(logits, rows)
        for row, token in zip(rows, tokens.tolist(), strict=True):
            completions[row].append(token)
        said = [completions[row] for row in rows]
        live = [at for at, row in enumerate(rows) if said[at][-1] not in ends and len(said[at]) < budgets[row]]
        if not live:
            return completions
        if len(live) < len(rows):
            live = _fill_gaps(live)
            rows, tokens = [rows[at] for at in live], tokens[live]
            batch.select(live)
        logits = batch.read(tokens.unsqueeze(-1))


def _fill_gaps(live: list[int]) -> list[int]:
    """Return the same numbers with as many as possible at their own place, so that few rows have to move."""
    stay = {at for at in live if at < len(live)}
    movers = iter([at for at in live if at >= len(live)])
    return [at if at in stay else next(movers) for at in range(len(live))]


class _Batch:
    """Rows that a model reads side by side; `logits` are those after each of the prompts that they start with."""

    logits: Float[Tensor, "prompt vocabulary"]

    def __init__(self, model: PreTrainedModel, prompts: list[tuple[int, ...]], max_new_tokens: int) -> None:
        width = max(map(len, prompts))
        self._model = model
        self._cache = DynamicCache(config=model.config)
        self._cache.layers = [_RoomyLayer(width + max_new_tokens) for _ in self._cache.layers]
        self._mask = torch.ones(1, width + max_new_tokens, dtype=torch.long, device=model.device)
        shared = _shared_prefix(prompts)
        if shared:
            self.read(torch.tensor([prompts[0][:shared]], device=model.device))
        self.select([0] * len(prompts))
        rest = torch.zeros(len(prompts), width - shared, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            self._mask[row, shared : shared + width - len(prompt)] = 0
            rest[row, width - len(prompt) :] = torch.tensor(prompt[shared:])
        self.logits = self.read(rest.to(model.device))

    def select(self, rows: list[int]) -> None:
        """Let row i be what row `rows[i]` was."""
        index = torch.tensor(rows, device=self._mask.device)
        self._mask = self._mask[index]
        self._cache.batch_select_indices(index)

    def read(self, ids: Int[Tensor, "row token"]) -> Float[Tensor, "row vocabulary"]:
        """Let each row read on; return the logits after its last token."""
        past = self._cache.get_seq_length()
        mask = self._mask[:, : past + ids.shape[1]]
        positions = (mask.cumsum(dim=-1) - 1).clamp(min=0)[:, past:]
        inputs = {"input_ids": ids, "attention_mask": mask, "position_ids": positions, "cache": self._cache}
        return self._model(**inputs, use_cache=True, logits_to_keep=1).logits[:, -1].float()


class _RoomyLayer(DynamicLayer):
    """Keys and values with room for all that will come: DynamicLayer copies the whole past at every token."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = self._in_room(key_states[..., :0, :]), self._in_room(value_states[..., :0, :])
        self.keys, self.values = _longer(self.keys, key_states), _longer(self.values, value_states)
        return self.keys, self.values

    def batch_select_indices(self, indices: Int[Tensor, " row"]) -> None:
        if self.is_initialized:
            self.keys, self.values = self._selected(self.keys, indices), self._selected(self.values, indices)

    def _selected(self, states: Tensor, indices: Int[Tensor, " row"]) -> Tensor:
        if len(indices) > len(states):
            return self._in_room(states[indices])
        (moved,) = (indices != torch.arange(len(indices), device=indices.device)).nonzero(as_tuple=True)
        states[moved] = states[indices[moved]]
        return states[: len(indices)]

    def _in_room(self, states: Tensor) -> Tensor:
        rows, heads, seen, width = states.shape
        room = states.new_empty(rows, heads, self._room, width)[..., :seen, :]
        return room.copy_(states)


def _longer(states: Tensor, new: Tensor) -> Tensor:
    """Write `new` behind `states`, into the room that was left there; return both as one."""
    rows, heads, seen, width = states.shape
    both = states.as_strided((rows, heads, seen + new.shape[-2], width), states.stride(), states.storage_offset())
    both[..., seen:, :] = new
    return both


def _shared_prefix(prompts: list[tuple[int, ...]]) -> int:
    """Return how many ids all prompts start with, leaving one of each to read; 0 where sharing does not pay."""
    most = min(map(len, prompts)) - 1
    shared = next((at for at in range(most) if len({prompt[at] for prompt in prompts}) > 1), most)
    pays = shared * (len(prompts) - 1) > _PREFIX_SHARE * len(prompts) * max(map(len, prompts))
    return shared if pays else 0


def _bare(model: nn.Module) -> PreTrainedModel:
    """Return the transformers model inside PEFT's wrapper, its adapters in place; any other model itself."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model
