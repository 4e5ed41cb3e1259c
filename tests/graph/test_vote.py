"""Votes worked out by hand, for every equality; models a1 < a2 < a3 in size."""

import pytest
from graphs import SIZES, reply

from slmcollab.graph.nodes import Team
from slmcollab.graph.vote import team_answer


def vote(equality, *answers, sizes=SIZES):
    return team_answer(
        [reply(slot, answer) for slot, answer in zip(sizes, answers, strict=True)], Team(sizes, equality)
    )


@pytest.mark.parametrize(
    ("equality", "answers", "expected"),
    [
        ("text", ("Yes", " yes ", "no"), (" yes ", "a2")),  # 2 : 1, as the larger of the two wrote it
        ("text", ("a-b", "a b", "c"), ("c", "a3")),  # three answers: the largest
        ("words", ("The Hague", "hague.", "Paris"), ("hague.", "a2")),
        ("words", ("U.S.A.", "Paris", "USA"), ("USA", "a3")),
        ("number", ("$1,200", "1200.0", "12"), ("1200.0", "a2")),
        ("number", ("-5", "-5.0", "5"), ("-5.0", "a2")),  # a minus is no dash
        ("number", ("0", "-0.0", "1"), ("-0.0", "a2")),
        ("number", ("none", "None", "7"), ("None", "a2")),  # texts without a number are compared as texts
        ("latex", (r"\boxed{\frac{1}{2}}", r"$\dfrac12$", "2"), (r"$\dfrac12$", "a2")),
        ("latex", ("x=3", "3", "4"), ("3", "a2")),
        (None, ("same", "same", "other"), ("other", "a3")),  # no vote: the largest model's
        (None, ("same", "other", ""), ("other", "a2")),
    ],
)
def test_by_hand(equality, answers, expected):
    assert vote(equality, *answers) == expected


@pytest.mark.parametrize("equality", ["text", "words", "number", "latex", None])
def test_what_cannot_be_read_never_wins(equality):
    assert vote(equality, "", "", "") == ("", None)
    assert vote(equality, "", "", "9") == ("9", "a3")
    assert vote(equality, "9", "", "") == ("9", "a1")


def test_ties_go_to_the_group_of_the_largest_model_in_it():
    assert vote("number", "1", "2", "2", "1", sizes={"a1": 1.0, "a2": 4.0, "a3": 2.0, "a4": 3.0}) == ("2", "a2")
    assert vote("number", "1", "2", "2", "1", sizes={"a1": 5.0, "a2": 4.0, "a3": 2.0, "a4": 3.0}) == ("1", "a1")


def test_of_models_of_one_size_the_first_decides():
    assert vote("number", "1", "2", "3", sizes={"a1": 8.0, "a2": 8.0, "a3": 8.0}) == ("1", "a1")


def test_answers_of_which_nothing_is_left_are_not_one():
    # The words of "..." and of "?!" are none, and so would be two votes for nothing.
    assert vote("words", "...", "?!", "Paris") == ("Paris", "a3")
    assert vote("words", "?!", "?!", "Paris") == ("?!", "a2")


def test_replies_of_one_slot_keep_their_order():
    replies = [reply("a3", "1", 0), reply("a3", "2", 1), reply("a1", "5", 0)]
    assert team_answer(replies, Team(SIZES, "number")) == ("1", "a3")


def test_a_text_that_nests_deeply_is_no_trouble():
    assert vote("latex", r"\boxed{" * 3000, "1", "1")[0] == "1"
    assert vote("number", "9" * 5000, "1", "1")[0] == "1"
