"""The toy models' tokenizer: a token is a character, a number from 10 to 99, a tag, a mark of the chat template, or one
of the few words that prompts are made of."""

import string
from collections.abc import Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

ALPHABET = "\n " + string.digits + string.ascii_letters + string.punctuation
NUMBERS = [str(number) for number in range(10, 100)]
WORDS = "What|Which|comes|first|Reverse|Answers|assistants|Give|your|final|answer|tags"  # of prompts
TAGS = ["<answer>", "</answer>"]
MARKS = ["<u>", "<a>", "<eos>", "<pad>"]

# <u>system, newline, question<a>answer<eos><u>question<a>...
CHAT_TEMPLATE = """\
{%- for message in messages -%}
{%- if message.role == 'assistant' -%}{{ '<a>' + message.content + '<eos>' }}
{%- elif message.role == 'system' -%}{{ '<u>' + message.content + '\\n' }}
{%- elif loop.index0 > 0 and loop.previtem.role == 'system' -%}{{ message.content }}
{%- else -%}{{ '<u>' + message.content }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<a>' }}{%- endif -%}"""


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer of every toy model; text of `ALPHABET` comes back whole, and any other character is refused.

    Numbers are single tokens, as in real tokenizers, so that a short answer is one token: the last hidden state of a
    prompt holds what the model is about to say and no more. Tags stay in text decoded without special tokens.
    """
    vocab = {token: index for index, token in enumerate([*ALPHABET, *NUMBERS, *WORDS.split("|"), *TAGS, *MARKS])}
    backend = Tokenizer(models.WordLevel(vocab))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(rf"\b(?:{WORDS})\b|[1-9][0-9]|[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    return for_chats(backend, TAGS)


def for_chats(backend: Tokenizer, tags: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return the tokenizer with the chat template of toy models, its MARKS, and tags that stay in decoded text."""
    backend.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in tags])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<eos>",
        pad_token="<pad>",
        additional_special_tokens=["<u>", "<a>"],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )
