"""Exact match and token F1 of short answers."""

import pytest

from slmcollab.artifacts import Problem
from slmcollab.scoring import qa
from slmcollab.scoring.overlap import bag_f1, closeness, normalise


def problem(answer, aliases=()):
    return Problem("musique/validation/0", "Who?", [], answer, {"aliases": list(aliases)})


@pytest.mark.parametrize(
    ("prediction", "golds", "exact", "f1"),
    [
        ("", ["Paris"], 0, 0),
        ("", ["The"], 1, 1),  # both normalise to nothing
        ("the", ["A"], 1, 1),
        ("the Beatles", ["Beatles"], 1, 1),
        ("The New York Times", ["New York"], 0, 0.8),  # 2 of 3 and 2 of 2
        ("New York New York", ["New York"], 0, 2 / 3),  # 2 of 4 and 2 of 2; sets would say 1
        ("World War I", ["World War II"], 0, 2 / 3),
        ("I think it is Paris", ["Paris"], 0, 1 / 3),  # 1 of 5 and 1 of 1
        ("Barack Obama", ["Obama", "Barack Hussein Obama II"], 0, 2 / 3),  # 1/2 and 1; the alias: 1 and 2/4, the same
        ("yes, it is", ["yes"], 0, 0.5),
        ("U.S.A.", ["USA"], 1, 1),
        ("twenty-one", ["twenty one"], 0, 0),  # twentyone
        ("1,000", ["1000"], 1, 1),
        ("3.5", ["35"], 1, 1),
        ("-5", ["5"], 1, 1),
        ("C++", ["C"], 1, 1),
        ("Beyonc\u00e9", ["Beyonce"], 0, 0),
        ("1976\u20131980", ["1976-1980"], 0, 0),
        (" \n", ["Paris"], 0, 0),
    ],
)
def test_official_table(prediction, golds, exact, f1):
    scored = qa.score(prediction, problem(golds[0], golds[1:]))
    assert (scored.correct, scored.score) == (bool(exact), pytest.approx(f1))
    assert scored.detail == {"accuracy": exact, "f1": scored.score}
    assert scored.extracted == (prediction.strip() or None)


def test_the_best_gold_counts():
    assert qa.score("NYC", problem("New York City", ["NYC"])).correct
    assert qa.score("York", problem("Leeds", ["New York"])).score == pytest.approx(2 / 3)


def test_without_a_gold_answer_there_is_no_score():
    with pytest.raises(ValueError, match="musique/validation/0: no gold answer"):
        qa.score("x", problem(None))


def test_articles_go_after_punctuation():
    assert normalise("'The' \"end\"") == "end"
    assert normalise("Theatre, a play") == "theatre play"


@pytest.mark.parametrize(("answer", "gold", "f1"), [("", "", 1), ("a", "", 0), ("aab", "ab", 0.8), ("ab", "cd", 0)])
def test_bag_f1(answer, gold, f1):
    assert bag_f1(answer, gold) == pytest.approx(f1)  # aab and ab share a and b: 2 * 2 / 5


@pytest.mark.parametrize(
    ("answer", "gold", "value"), [(2, 4, 0.5), (4, 2, 0.5), (-2, -4, 0.5), (-2, 4, 0), (0, 4, 0), (4, 0, 0), (0, 0, 1)]
)
def test_closeness(answer, gold, value):
    assert closeness(answer, gold) == value
