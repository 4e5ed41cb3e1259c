"""The tokenizer of the toy models that collaborate: a token is a word of the toy world, a number, a tag or an action."""

import string

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from slmcollab.models.toy_tokenizer import CHAT_TEMPLATE, MARKS

TAGS = [f"<{slash}{name}>" for name in ("reasoning", "answer", "action") for slash in ("", "/")]
ACTIONS = "continue terminate handoff(a1) handoff(a2) handoff(a3)"
SLOTS = "a1 a2 a3"
NUMBERS = " ".join(map(str, range(100)))
PEOPLE = "Ann Bob Cid Dee Eve Flo Gus Hal Ida Jim"
RELATIONS = "boss clerk deputy heir friend uncle cousin rival of"
ARITHMETIC = "+ - * = mod : x"
FUNCTIONS = (
    "double treble fourfold fivefold sixfold sevenfold eightfold ninefold tenfold square"
    " next skip hop jump leap back drop fall sink dive"
)
CODE = "py sh js then ( ) return echo $(( )) ; }"
LISTS = "list item items exactly name"
PROMPTS = "with alone again , judge"
WORDS = f"{ACTIONS} {SLOTS} {NUMBERS} {PEOPLE} {RELATIONS} {ARITHMETIC} {FUNCTIONS} {CODE} {LISTS} {PROMPTS}".split()
_SPACE = "\u2581"  # what stands before a word


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tokenizer; a word that it does not know is spelt, a character that it does not know is refused.

    Text comes back with one space between words and none around tags, whatever spaces it had: how a text is spaced
    changes no token.
    """
    spelling = [*string.ascii_letters, *string.digits, *string.punctuation]
    words = list(dict.fromkeys([*WORDS, *spelling]))
    vocab = {token: index for index, token in enumerate([*(_SPACE + word for word in words), *TAGS, *MARKS])}
    backend = Tokenizer(models.WordLevel(vocab))
    known = "|".join(_escape(word) for word in sorted(words, key=len, reverse=True) if len(word) > 1)
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\s+"), "removed"),
            pre_tokenizers.Split(Regex(rf"(?<!\w)(?:{known})(?!\w)|."), "isolated"),
            pre_tokenizers.Metaspace(_SPACE, "always", split=False),
        ]
    )
    backend.decoder = decoders.Sequence(
        [decoders.Replace(_SPACE, " "), decoders.Fuse(), decoders.Replace("> ", ">"), decoders.Strip(" ", 1, 0)]
    )
    backend.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in TAGS])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<eos>",
        pad_token="<pad>",
        additional_special_tokens=["<u>", "<a>"],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def _escape(word: str) -> str:
    return "".join(character if character.isalnum() else rf"\{character}" for character in word)
