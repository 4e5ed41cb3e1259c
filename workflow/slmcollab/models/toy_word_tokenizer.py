"""The tokenizer of toy models that collaborate: a token is a word of the toy world, a number, a tag or an action."""

import re
import string

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from slmcollab.models.toy_tokenizer import MARKS, for_chats

TAGS = [f"<{slash}{name}>" for name in ("reasoning", "answer", "action", "scores") for slash in ("", "/")]
NUMBERS = [str(number) for number in range(100)]
WORDS = """
continue terminate handoff(a1) handoff(a2) handoff(a3) a1 a2 a3 with alone together again broken reasoning action step
1: 2: 3: 4: 5: 6: 7: 8: 9: 10: 11: 12: -1
+ - * = mod : x Ann Bob Cid Dee Eve Flo Gus Hal Ida Jim of boss clerk deputy heir friend uncle cousin rival
double treble fourfold fivefold sixfold sevenfold eightfold ninefold tenfold then
next skip hop jump leap back drop fall sink py sh js return echo $(( )) ( ) ;
exactly items bullets bulleted bullet points list numbered ordered in as one a paragraph open link 1. 2.
which final score propose
"""
SLOTS = ("a1", "a2", "a3")
# Workflows as JSON: fragments of what a toy writes, and of the indented text that it reads.
FRAGMENTS = [
    *('{"nodes":[', '{"operator":"ensemble","sees":[', '{"operator":"extract","sees":[', "]}"),
    *(f'{{"operator":"solve","slot":"{slot}"{rest}' for slot in SLOTS for rest in ("}", ',"sees":[')),
    *('{"nodes":', '{"operator":', '"solve",', '"ensemble",', '"extract",', '"sees":', "[],", '"slot":'),
    *(f'"{slot}"}}' for slot in SLOTS),
]
_SPACE = "\u2581"  # what stands before a word


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer; a word that it does not know is spelt, a character that it does not know is refused.

    A single line feed is a token, an empty line is none. Text comes back with one space between words and none around
    tags, whatever spaces it had: how words are spaced changes no token.
    """
    words = list(
        dict.fromkeys(
            [*WORDS.split(), *FRAGMENTS, *NUMBERS, *string.ascii_letters, *string.digits, *string.punctuation, "\n"]
        )
    )
    vocab = {token: index for index, token in enumerate([*(_SPACE + word for word in words), *TAGS, *MARKS])}
    backend = Tokenizer(models.WordLevel(vocab))
    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True) if len(word) > 1)
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\n\s*\n\s*|[^\S\n]+"), "removed"),
            pre_tokenizers.Split(Regex(rf"(?<!\w)(?:{known})(?!\w)|[\s\S]"), "isolated"),
            pre_tokenizers.Metaspace(_SPACE, "always", split=False),
        ]
    )
    backend.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.Fuse(), decoders.Replace("> ", ">"), decoders.Strip(" ", 1, 0)]
    )
    return for_chats(backend, TAGS)
