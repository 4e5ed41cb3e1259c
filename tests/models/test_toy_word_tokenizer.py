"""What the words of the collaborating toys become."""

import json

import pytest

from slmcollab.models.toy_word_tokenizer import build_tokenizer

TOKENIZER = build_tokenizer()


def tokens(text):
    return [token.removeprefix("\u2581") for token in TOKENIZER.convert_ids_to_tokens(TOKENIZER(text).input_ids)]


def test_tags_actions_numbers_and_words_are_single_tokens():
    said = "<reasoning>friend of Ann = Bob</reasoning><answer>Bob</answer><action>handoff(a2)</action>"
    words = ["<reasoning>", "friend", "of", "Ann", "=", "Bob", "</reasoning>", "<answer>", "Bob", "</answer>"]
    assert tokens(said) == [*words, "<action>", "handoff(a2)", "</action>"]
    assert TOKENIZER.decode(TOKENIZER(said).input_ids, skip_special_tokens=True) == said
    assert tokens("12 + 3") == ["12", "+", "3"]


def test_spaces_change_no_token_and_a_single_line_feed_is_one():
    assert tokens("a1  with a2, a3") == tokens("a1 with\ta2 ,a3") == ["a1", "with", "a2", ",", "a3"]
    assert tokens("- Ann\n- Bob") == ["-", "Ann", "\n", "-", "Bob"]
    assert tokens("Ann\n\nBob") == tokens("Ann \n \n\n Bob") == ["Ann", "Bob"]
    assert TOKENIZER.decode(TOKENIZER("- Ann\n- Bob").input_ids) == "- Ann \n - Bob"


def test_words_that_it_does_not_know_are_spelt_and_words_inside_words_are_no_words():
    assert tokens("Anna") == ["A", "n", "n", "a"]
    assert tokens("handoff(a9)") == ["h", "a", "n", "d", "o", "f", "f", "(", "a", "9", ")"]
    assert tokens("123") == ["1", "2", "3"]


@pytest.mark.parametrize(
    "text", ["3 + 5", "echo $(( ( x * 2 ) + 1 ))", "</answer> <answer>", "1. with Ann 2. with Bob"]
)
def test_what_is_decoded_has_the_same_tokens(text):
    ids = TOKENIZER(text).input_ids
    assert TOKENIZER(TOKENIZER.decode(ids)).input_ids == ids


def test_fragments_of_workflows_are_single_tokens_and_stay_json():
    said = '{"nodes":[ {"operator":"solve","slot":"a1"}, {"operator":"extract","sees":[ 1 ]} ]}'
    ends = ["]}", "]}"]
    head = ['{"nodes":[', '{"operator":"solve","slot":"a1"}', ",", '{"operator":"extract","sees":[', "1"]
    assert tokens(said) == head + ends
    assert json.loads(TOKENIZER.decode(TOKENIZER(said).input_ids)) == json.loads(said)
    assert tokens(json.dumps(json.loads(said)))[:5] == ['{"nodes":', "[", '{"operator":', '"solve",', '"slot":']


def test_the_chat_template_marks_turns():
    messages = [{"role": "user", "content": "3 + 5"}]
    assert TOKENIZER.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == "<u>3 + 5<a>"
