"""Hidden states of a frozen expert, pooled over each prompt (Eq. 5): every pooling from one forward pass.

Layers count as in transformers: 1..L are the blocks' outputs, of which the last, L, is taken after the final norm.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel

from slmcollab.experts.features import POOLINGS
from slmcollab.seeding import python_generator


@dataclass(frozen=True)
class Draws:
    """Per prompt, the index of the token that sampled_token reads, and the layer, 1..L, that sampled_layer reads."""

    tokens: list[int]
    layers: list[int]


def draw(problem_ids: Sequence[str], lengths: Sequence[int], num_layers: int) -> Draws:
    """Return each prompt's draws, which depend on the pooling's name and the problem's id, on no batch and no seed."""
    tokens = [python_generator(0, "sampled_token", i).randrange(n) for i, n in zip(problem_ids, lengths, strict=True)]
    layers = [python_generator(0, "sampled_layer", i).randint(1, num_layers) for i in problem_ids]
    return Draws(tokens, layers)


def describe_layers(num_layers: int) -> dict[str, str]:
    """Return pooling -> the layer that it reads and whether that has been through the final norm."""
    final = f"{num_layers}, after the final norm"
    first = "1, before the final norm" if num_layers > 1 else final
    drawn = f"drawn from 1 to {num_layers}, before the final norm but for {num_layers}"
    layers = dict.fromkeys(POOLINGS, final) | {"first_layer": first, "sampled_layer": drawn}
    return {f"layer/{pooling}": layer for pooling, layer in layers.items()}


def plan_batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Return groups of indices, longest first, that pad to at most `batch_tokens`; a longer prompt goes alone."""
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if not groups or lengths[groups[-1][0]] * (len(groups[-1]) + 1) > batch_tokens:
            groups.append([])
        groups[-1].append(index)
    return groups


@torch.inference_mode()
def pool(
    model: PreTrainedModel, prompts: Sequence[list[int]], draws: Draws, *, batch_tokens: int
) -> dict[str, Float[Tensor, "problem width"]]:
    """Return the features of each prompt under every pooling, in fp32 on the CPU.

    last_token: last token, final layer.
    first_token: first token, final layer. A causal model sees nothing but that token there: where a chat template opens
      every prompt with the same one, all rows are equal and tell nothing about the prompt.
    sampled_token: a token drawn from the whole prompt, template included; final layer.
    first_layer: last token, first block.
    sampled_layer: last token, a block drawn from all.

    A row equals that of its prompt alone: prompts are padded on the right, where a causal model does not look, so that
    no mask is needed and learned positions stay right. The head over the vocabulary never runs.
    """
    text = model.config.get_text_config()
    features = {name: torch.empty(len(prompts), text.hidden_size) for name in POOLINGS}
    positions, layers = torch.tensor(draws.tokens), torch.tensor(draws.layers)
    for group in plan_batches([len(prompt) for prompt in prompts], batch_tokens):
        index, rows = torch.tensor(group), torch.arange(len(group))
        ids, last = _pad([prompts[i] for i in group])
        with _tap(model, {1, *layers[index].tolist()}, rows, last) as taps:
            final = model.base_model(input_ids=ids.to(model.device), use_cache=False).last_hidden_state
        taps[text.num_hidden_layers] = final[rows, last].float().cpu()
        features["last_token"][index] = taps[text.num_hidden_layers]
        features["first_token"][index] = final[:, 0].float().cpu()
        features["sampled_token"][index] = final[rows, positions[index]].float().cpu()
        features["first_layer"][index] = taps[1]
        for layer, hidden in taps.items():
            drawn = layers[index] == layer
            features["sampled_layer"][index[drawn]] = hidden[drawn]
    return features


def _pad(prompts: Sequence[list[int]]) -> tuple[Int[Tensor, "problem token"], Int[Tensor, " problem"]]:
    """Return the ids, padded on the right, and the index of each prompt's last token (never read from `ids != pad`)."""
    ids = torch.zeros(len(prompts), max(map(len, prompts)), dtype=torch.long)
    for row, prompt in zip(ids, prompts, strict=True):
        row[: len(prompt)] = torch.tensor(prompt)
    return ids, torch.tensor([len(prompt) - 1 for prompt in prompts])


@contextmanager
def _tap(
    model: PreTrainedModel, layers: set[int], rows: Int[Tensor, " problem"], last: Int[Tensor, " problem"]
) -> Iterator[dict[int, Tensor]]:
    """Yield a dict that a forward pass fills: layer -> its output at each prompt's last token, in fp32 on the CPU."""
    taps: dict[int, Tensor] = {}

    def keep(layer: int) -> Callable[..., None]:
        def hook(_block: nn.Module, _inputs: tuple, output: Tensor | tuple) -> None:
            hidden = output[0] if isinstance(output, tuple) else output
            taps[layer] = hidden[rows, last].float().cpu()

        return hook

    with ExitStack() as stack:
        for layer in layers:
            stack.callback(_blocks(model)[layer - 1].register_forward_hook(keep(layer)).remove)
        yield taps


def _blocks(model: PreTrainedModel) -> nn.ModuleList:
    num_layers = model.config.get_text_config().num_hidden_layers
    for child in model.base_model.children():
        if isinstance(child, nn.ModuleList) and len(child) == num_layers:
            return child
    raise TypeError(f"{type(model).__name__}: no list of {num_layers} blocks to read layers from")
