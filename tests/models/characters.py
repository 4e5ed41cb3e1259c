"""Small tokenizers for chat templates: every character is a token, and so is each special text."""

import re
from collections.abc import Sequence

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast


def make_tokenizer(
    template: str | None,
    *,
    merged: Sequence[str] = (),
    bos: str | None = "<s>",
    eos: str = "</s>",
    adds_bos: bool = False,
    name: str = "quirky",
) -> PreTrainedTokenizerFast:
    """Return a tokenizer of characters, of `bos`, `eos` and the `merged` texts; with adds_bos it puts bos first."""
    special = [token for token in dict.fromkeys([bos, eos, *merged]) if token]
    vocab = {token: index for index, token in enumerate([*special, *map(chr, [10, *range(32, 127)])])}
    backend = Tokenizer(models.WordLevel(vocab))
    whole = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(rf"{whole}|[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    if adds_bos:
        backend.post_processor = processors.TemplateProcessing(single=f"{bos} $A", special_tokens=[(bos, vocab[bos])])
    names = {"bos_token": bos} if bos else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, eos_token=eos, chat_template=template, name_or_path=name, **names
    )
