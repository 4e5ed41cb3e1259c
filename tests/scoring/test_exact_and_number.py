"""Plain text and plain numbers."""

from decimal import Decimal

import pytest

from slmcollab.artifacts import Problem
from slmcollab.scoring import exact, number


def problem(answer):
    return Problem("gsm8k/test/0", "How many?", [], answer)


@pytest.mark.parametrize(
    ("completion", "answer", "correct"),
    [
        ("<answer> 7 </answer>", "7", True),
        ("<answer>7</answer>", " 7\n", True),
        ("<answer>07</answer>", "7", False),
        ("<answer>17</answer>", "7", False),
        ("7", "7", False),
        ("<answer>None</answer>", None, False),
    ],
)
def test_exact(completion, answer, correct):
    scored = exact.score(completion, problem(answer))
    assert (scored.score, scored.correct, scored.error) == (float(correct), correct, None)


def test_exact_tells_an_unparsed_answer_from_a_wrong_one():
    assert exact.score("7", problem("7")).extracted is None
    assert exact.score("<answer>8</answer>", problem("7")).extracted == "8"


@pytest.mark.parametrize(
    ("answer", "gold", "correct"),
    [
        ("18", "18", True),
        ("18.00", "18", True),
        ("18.01", "18", False),
        ("-5", "5", False),
        ("-5", "-5", True),
        ("\u22125", "-5", True),
        ("- 5", "-5", True),
        ("- 5", "5", False),
        ("-$5", "-5", True),
        ("$-5", "-5", True),
        ("$1,234", "1234", True),
        ("1,234", "1234.0", True),
        ("3 + 4 = 7", "7", True),
        ("3 + 4 = 8", "7", False),
        ("x = -7", "-7", True),
        (".5", "0.5", True),
        ("5%", "5", True),  # a percent sign is a unit, and units are ignored
        ("5 eggs.", "5", True),
        ("**5**", "5", True),
        (r"\boxed{5}", "5", True),
        # not one number
        ("5 or 6", "5", False),
        ("5 or 6", "6", False),
        ("10-3", "7", False),
        ("10-3", "3", False),
        ("1/2", "2", False),
        ("5e3", "5", False),
        ("1,5", "1", False),
        ("1.2.3", "1.2", False),
        ("H2O", "2", False),
        ("nan", "5", False),
        ("inf", "5", False),
        ("five", "5", False),
        ("٣", "3", False),
    ],
)
def test_number_in_answer_tags(answer, gold, correct):
    scored = number.score(f"<think>99</think><answer>{answer}</answer>", problem(gold))
    assert (scored.score, scored.correct, scored.extracted) == (float(correct), correct, answer)


@pytest.mark.parametrize(
    ("completion", "last"),
    [
        ("The total is 72 clips, altogether.", "72"),
        ("The price is $29.00.", "29"),
        ("#### 18\n\nQuestion: next?\n#### 7", "18"),
        ("He has 1,234,567 coins.", "1234567"),
        ("so 10-3=7", "7"),
        ("Answer: -15", "-15"),
        ("He loses \u221215 points", "-15"),
        ("(4+6)-3", "3"),
        # the last number is what this rule takes, even where a person would take "the answer is"
        ("The answer is 30. (Check: 30/5=6)", "6"),
        ("no number", None),
        ("", None),
        ("10 ####", None),
    ],
)
def test_last_number(completion, last):
    assert number.last_number(completion) == (None if last is None else Decimal(last))


def test_last_number_is_reported_but_never_scored():
    without_tags = number.score("The total is 72 clips.", problem("72"))
    assert (without_tags.score, without_tags.correct, without_tags.extracted) == (0.0, False, None)
    assert without_tags.detail == {"last_number_correct": True}
    wrong_tags = number.score("<answer>71</answer> or 72", problem("72"))
    assert (wrong_tags.score, wrong_tags.detail) == (0.0, {"last_number_correct": True})
    assert number.score("<answer>72</answer> of 80", problem("72")).detail == {"last_number_correct": False}


@pytest.mark.parametrize("gold", [None, "", "none"])
def test_a_gold_that_is_no_number_is_an_error(gold):
    with pytest.raises(ValueError, match="gsm8k/test/0: the gold answer"):
        number.score("<answer>7</answer>", problem(gold))
