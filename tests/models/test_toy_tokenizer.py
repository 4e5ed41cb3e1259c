"""The toy tokenizer: characters, numbers, tags and marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slmcollab.models import hub
from slmcollab.models.toy_tokenizer import ALPHABET, CHAT_TEMPLATE, build_tokenizer

TOKENIZER = build_tokenizer()


def tokens(text):
    return TOKENIZER.convert_ids_to_tokens(TOKENIZER(text).input_ids)


@given(st.lists(st.sampled_from([*ALPHABET, "<answer>", "</answer>", "10", "99", "don 't , ."])).map("".join))
def test_text_comes_back_whole_with_and_without_special_tokens(text):
    ids = TOKENIZER(text).input_ids
    assert TOKENIZER.decode(ids) == text
    assert TOKENIZER.decode(ids, skip_special_tokens=True) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", ["7"]),
        ("10", ["10"]),
        ("99", ["99"]),
        ("05", ["0", "5"]),  # no number from 10 to 99 starts with 0
        ("123", ["12", "3"]),
        ("<answer>17</answer>", ["<answer>", "17", "</answer>"]),
        ("<b>", ["<", "b", ">"]),
    ],
)
def test_numbers_and_tags_are_single_tokens(text, expected):
    assert tokens(text) == expected


def test_marks_are_left_out_of_text_and_tags_are_not():
    ids = TOKENIZER("<u>1<a><answer>2</answer><eos><pad>").input_ids
    assert len(ids) == 8
    assert TOKENIZER.decode(ids, skip_special_tokens=True) == "1<answer>2</answer>"


def test_a_character_outside_the_alphabet_is_refused():
    with pytest.raises(Exception, match="UNK"):
        TOKENIZER("é")


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("u", "<u>0<a>"),
        ("su", "<u>0\n1<a>"),
        ("uau", "<u>0<a>1<eos><u>2<a>"),
        ("suau", "<u>0\n1<a>2<eos><u>3<a>"),
    ],
)
def test_template(roles, expected):
    names = {"s": "system", "u": "user", "a": "assistant"}
    messages = [{"role": names[role], "content": str(index)} for index, role in enumerate(roles)]
    assert TOKENIZER.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == expected


def test_template_and_marks_are_in_the_saved_tokenizer(tmp_path):
    TOKENIZER.save_pretrained(tmp_path)
    loaded = hub.load_tokenizer(tmp_path)
    assert loaded.chat_template == CHAT_TEMPLATE
    assert (loaded.eos_token, loaded.pad_token, loaded.bos_token) == ("<eos>", "<pad>", None)
    text = "<u>What is 3 + 14?<a><answer>17</answer><eos>"
    assert loaded(text).input_ids == TOKENIZER(text).input_ids
    assert loaded.decode(loaded(text).input_ids, skip_special_tokens=True) == "What is 3 + 14?<answer>17</answer>"
