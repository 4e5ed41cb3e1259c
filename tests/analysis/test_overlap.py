"""Repeated reasoning: subsequences, n-grams, and what the question already said."""

import random
from functools import cache

import pytest
from recorded import step, trajectory

from slmcollab.analysis.overlap import containment, lcs_length, n_grams, overlap, rouge_l, without_quotes, words


def test_rouge_by_hand():
    # "the cat sat on mats" and "the dog sat on a mat": the, sat, on in common. 2 * 3 / (5 + 6).
    assert lcs_length(words("The cat sat on mats."), words("the dog sat on a mat")) == 3
    assert rouge_l(words("The cat sat on mats."), words("the dog sat on a mat")) == 6 / 11
    assert rouge_l(["a"], ["a"]) == 1.0
    assert rouge_l([], ["a"]) == rouge_l(["a"], []) == 0.0


def test_subsequences_against_the_textbook_recursion():
    generator = random.Random(0)
    for _ in range(200):
        one, other = ([generator.choice("abc") for _ in range(generator.randrange(9))] for _ in range(2))

        @cache
        def length(i, j, one=tuple(one), other=tuple(other)):
            if i == 0 or j == 0:
                return 0
            if one[i - 1] == other[j - 1]:
                return length(i - 1, j - 1) + 1
            return max(length(i - 1, j), length(i, j - 1))

        assert lcs_length(one, other) == length(len(one), len(other))


def known(text):
    return set(n_grams(words(text)))


def test_containment_by_hand():
    # "a b c d e" has the 4-grams abcd, bcde; only abcd came before.
    assert containment(words("a b c d e"), [words("x a b c d")], set()) == 0.5
    # Twice the same 4-gram against one of it earlier: one of the two is accounted for.
    assert containment(list("aaaaa"), [list("aaaa")], set()) == 0.5
    # Where the question has abcd, only bcde is left, and it is new; where it has both, nothing is left.
    assert containment(words("a b c d e"), [words("x a b c d")], known("a b c d")) == 0.0
    assert containment(words("a b c d e"), [words("x a b c d")], known("a b c d e")) is None
    assert containment(words("a b c"), [words("a b c")], set()) is None


def test_quotes_of_the_question_are_left_out():
    assert without_quotes(words("so a b c d e then f"), known("a b c d e")) == ["so", "then", "f"]
    assert without_quotes(words("so a b c then"), known("a b c d e")) == words("so a b c then")


TRAJECTORY = trajectory(
    step("a1", "a2", reasoning="one two three four five"),
    step("a2", "a3", reasoning="one two three four six"),  # LCS 4: 2 * 4 / 10 = 0.8; one of two 4-grams
    step("a3", "continue", reasoning="one two"),  # LCS 2: 4 / 7 = 0.571; too short for 4-grams
    step("a3", "a2", reasoning="seven one eight nine"),  # no handoff received; new
    step("a2", "terminate", reasoning="nine ten eleven seven one"),  # LCS "seven one" 2: 4 / 9 = 0.444; two new 4-grams
)


def test_overlap_by_hand():
    found = overlap([TRAJECTORY], ["a1", "a2", "a3"])
    assert (found["a1"].pairs, found["a1"].share, found["a1"].containment) == (0, None, None)
    # a2 received two handoffs, 0.8 and 0.444.
    assert found["a2"].pairs == 2
    assert found["a2"].curve == {0.3: 1.0, 0.5: 0.5, 0.7: 0.5}
    assert (found["a2"].steps, found["a2"].containment) == (2, 0.25)
    assert found["a3"].share == 1.0
    assert (found["a3"].steps, found["a3"].containment) == (1, 0.0)


def test_overlap_without_what_the_question_says():
    # "one two three four" stands in the question: five is left of a1's, six of a2's. They share nothing.
    found = overlap([TRAJECTORY], ["a1", "a2", "a3"], {"q0": "One, two, three, four!"})
    assert found["a2"].curve == {0.3: 0.5, 0.5: 0.0, 0.7: 0.0}
    assert (found["a2"].steps, found["a2"].containment) == (2, 0.0)


@pytest.mark.parametrize(
    ("sender", "receiver"),
    [
        (step("a1", "a2", reasoning="same words", anomaly="two_actions"), step("a2", reasoning="same words")),
        (step("a1", "a2", reasoning=""), step("a2", reasoning="same words")),
        (step("a1", "continue", reasoning="same words"), step("a1", reasoning="same words")),
    ],
)
def test_what_is_no_handoff_is_no_pair(sender, receiver):
    found = overlap([trajectory(sender, receiver)], ["a1", "a2"])
    assert (found["a1"].pairs, found["a2"].pairs) == (0, 0)


PARALLEL = trajectory(
    step("a1", None, reasoning="one two three four"),
    step("a2", None, reasoning="one two three four"),  # asked with a1's first: it saw nothing
    step("a1", None, reasoning="one two three four five six"),  # 4-grams 1234, 2345, 3456: the first was there
    step("a2", None, reasoning="two three four five six"),  # 2345, 3456: only what was asked with it has them
    step("a1", None, reasoning="two three four five seven"),  # 2345, 3457: the first was there
)


def test_steps_that_were_asked_at_once_did_not_see_each_other():
    found = overlap([PARALLEL], ["a1", "a2"], levels={"q0#0": [0, 0, 1, 1, 2]})
    assert (found["a1"].steps, found["a1"].containment) == (2, pytest.approx((1 / 3 + 1 / 2) / 2))
    assert (found["a2"].steps, found["a2"].containment) == (1, 0.0)
    assert (found["a1"].pairs, found["a1"].share) == (0, None)  # nothing is handed over
    one_by_one = overlap([PARALLEL], ["a1", "a2"])
    # All of a2's was said before, if one step followed another.
    assert (one_by_one["a2"].steps, one_by_one["a2"].containment) == (2, 1.0)
    with pytest.raises(KeyError):
        overlap([PARALLEL], ["a1", "a2"], levels={})


def test_a_foreign_slot_is_refused():
    with pytest.raises(ValueError, match="a3"):
        overlap([TRAJECTORY], ["a1", "a2"])
