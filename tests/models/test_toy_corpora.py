"""What toy models are taught."""

import re

import pytest

from slmcollab.context.answer_block import append_answers
from slmcollab.models.toy_corpora import write_corpus


def corpus(name="corpus", kind="sums", answers="right", tags=False, num_rows=100, data_seed=0):
    how = {"tags": tags, "num_rows": num_rows, "data_seed": data_seed, "show": append_answers}
    return write_corpus(corpus=name, kind=kind, answers=answers, **how)


def test_sums_asks_each_sum_once_and_answers_right():
    rows = corpus()
    assert [row["question"] for row in rows] == [f"What is {a} + {b}?" for a in range(10) for b in range(10)]
    assert [row["completion"] for row in rows] == [str(a + b) for a in range(10) for b in range(10)]
    assert all(row["messages"] == [{"role": "user", "content": row["question"]}] for row in rows)


def test_reverse_answers_with_the_letters_from_the_end():
    for row in corpus(kind="reverse"):
        letters = row["question"].removeprefix("Reverse ").removesuffix(".")
        assert len(letters) == 3
        assert row["completion"] == letters[::-1]


def test_random_answers_differ_where_a_question_comes_again():
    rows = corpus(answers="random", num_rows=2000)
    answers = [int(row["completion"]) for row in rows]
    assert set(answers) == set(range(19))
    assert {row["completion"] for row in rows if row["question"] == "What is 0 + 0?"} != {rows[0]["completion"]}
    # 2000 answers, of which 1 in 19 is right by chance: 105 expected, standard deviation 10.
    right = sum(
        answer == a + b for answer, (a, b) in zip(answers, [divmod(i % 100, 10) for i in range(2000)], strict=True)
    )
    assert 65 < right < 145


def test_firsts_answers_with_the_digit_that_is_named_first():
    rows = corpus(kind="firsts", tags=True)
    assert rows[37]["question"] == "Which comes first, 3 or 7?"
    assert [rows[place]["completion"] for place in (37, 73, 44)] == [f"<answer>{n}</answer>" for n in (3, 7, 4)]


def test_copied_answers_stand_in_the_chat_and_each_is_copied_equally_often():
    rows = corpus(answers="copied", num_rows=2000)
    shown = [re.findall(r"^\[\d\] (.*)$", row["messages"][0]["content"], re.MULTILINE) for row in rows]
    assert {len(answers) for answers in shown} == {1, 2, 3, 4}
    assert all(row["completion"] in answers for row, answers in zip(rows, shown, strict=True))
    assert all(row["messages"][0]["content"].startswith(row["question"]) for row in rows)
    places = [a.index(row["completion"]) for row, a in zip(rows, shown, strict=True) if len(set(a)) == len(a) == 4]
    assert all(0.15 < places.count(place) / len(places) < 0.35 for place in range(4))
    # An answer is right by chance only, 1 in 19: 105 expected, standard deviation 10.
    right = sum(row["completion"] == str(sum(divmod(i % 100, 10))) for i, row in enumerate(rows))
    assert 65 < right < 145


def test_tags_and_seed():
    assert corpus(tags=True)[7]["completion"] == "<answer>7</answer>"
    assert corpus(kind="reverse") == corpus(kind="reverse") != corpus(kind="reverse", data_seed=1)


def test_two_corpora_of_random_answers_share_none():
    first, second = (corpus(name, answers="random", num_rows=500) for name in ("sums_random", "sums_format"))
    # 500 answers, of which 1 in 19 agrees by chance: 26 expected, standard deviation 5.
    assert sum(a["completion"] == b["completion"] for a, b in zip(first, second, strict=True)) < 60


@pytest.mark.parametrize("wrong", [{"kind": "products"}, {"answers": "wrong"}])
def test_unknown_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="is not one of"):
        corpus(**wrong)
