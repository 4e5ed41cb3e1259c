"""Numbers of GSM-Hard."""

import json
import os
from pathlib import Path

import pytest

from slmcollab.artifacts import Problem
from slmcollab.scoring import gsm_hard


def problem(answer):
    return Problem("gsm_hard/0", "How many?", [], answer)


@pytest.mark.parametrize(
    ("answer", "gold", "correct"),
    [
        ("9,867,630", "9867630.0", True),
        ("\u22122905", "-2905.0", True),
        ("2905", "-2905.0", False),
        ("14", "14.000000000000002", True),
        ("5739.33", "5739.333333333333", True),  # 0.0033 off: more than 1e-3, less than a millionth of 5739
        ("5739.32", "5739.333333333333", False),  # 0.0133 off, more than 0.0057
        ("18.0009", "18.0", True),
        ("18.002", "18.0", False),
        ("9867639", "9867630.0", True),  # 9 off, a millionth is 9.87
        ("9867641", "9867630.0", False),
        ("nan", "5.0", False),
        ("inf", "5.0", False),
        ("-inf", "5.0", False),
        ("", "5.0", False),
        ("$1,234.50", "1234.5", True),
        ("-$1,234", "-1234.0", True),
        ("\\$1{,}234", "1234.0", True),
        ("3.2 x 10^6", "3200000.0", True),
        ("3.2 \\times 10^{6}", "3200000.0", True),
        ("-2.5 × 10^-2", "-0.025", True),
        ("1e5", "100000.0", True),
        ("5.158e-07", "5.158e-07", True),
        ("1e9999", "5.0", False),
        ("3/4", "0.75", True),
        ("1 3/4", "1.75", True),
        ("-7 / 2", "-3.5", True),
        ("1,000/8", "125.0", True),
        ("\\frac{3}{4}", "0.75", True),
        ("1/0", "5.0", False),
        ("25%", "25.0", True),
        ("25\\%", "25.0", True),
        ("25%", "0.25", False),  # a percent sign is a unit
        ("The total is 72 clips, altogether.", "72.0", True),
        ("is $29.00.", "29.0", True),
        ("#### 18\n\nQuestion: next?\n#### 7", "18.0", True),
        ("He has 1,234,567 coins.", "1234567.0", True),
        ("so 10-3=7", "7.0", True),
        ("10-3", "7.0", False),
        ("Answer: -15", "-15.0", True),
        ("- 15", "-15.0", True),
        ("The answer is 30. (Check: 30/5=6)", "6.0", True),  # what follows the last "=" counts
        ("The answer is 30. (Check: 30/5=6)", "30.0", False),
        ("30 or 31", "31.0", False),  # two numbers are no answer: the last one is never guessed
        ("from 3 to 5", "5.0", False),
        ("\\boxed{42}", "42.0", True),
        ("1.2.3", "1.2", False),
        ("H2O", "2.0", False),
        ("2 ** 3", "3.0", False),
    ],
)
def test_correctness(answer, gold, correct):
    scored = gsm_hard.score(answer, problem(gold))
    assert scored.correct == correct
    if correct:
        assert scored.detail == {"accuracy": 1, "f1": 1, "f1_char": 1, "f1_token": 1}
        assert scored.score == 1
    assert scored.extracted == (answer.strip() or None)


@pytest.mark.parametrize(
    ("answer", "gold", "f1", "f1_char", "f1_token"),
    [
        ("20", "40.0", 0.5, 0.5, 0),  # of 2 and 0 against 4 and 0 one character is shared: 2 * 1 / 4
        ("-20", "40.0", 0, 0.4, 0),
        ("0", "40.0", 0, 2 / 3, 0),
        ("40", "0.0", 0, 2 / 3, 0),
        ("100,000", "1e6", 0.1, 12 / 13, 0),  # 100000 and 1000000
        *((text, "5.0", 0, 0, 0) for text in ("nan", "inf", "", "five", "5 or 5")),
    ],
)
def test_partial_credit(answer, gold, f1, f1_char, f1_token):
    scored = gsm_hard.score(answer, problem(gold))
    assert (scored.score, scored.correct) == (pytest.approx(f1), False)
    expected = {"accuracy": 0, "f1": f1, "f1_char": f1_char, "f1_token": f1_token}
    assert scored.detail == pytest.approx(expected)


@pytest.mark.parametrize("gold", [None, "", "many", "nan"])
def test_a_gold_that_is_no_number_is_an_error(gold):
    with pytest.raises(ValueError, match="gsm_hard/0: the gold answer"):
        gsm_hard.score("7", problem(gold))


def test_real_targets():
    if "SLMCOLLAB_DATA" not in os.environ:
        pytest.skip("SLMCOLLAB_DATA, a folder with gsmhard.jsonl, is not set")
    lines = (Path(os.environ["SLMCOLLAB_DATA"]) / "gsmhard.jsonl").read_text(encoding="utf-8").splitlines()
    targets = [json.loads(line)["target"] for line in lines]
    assert len(targets) == 1319
    written = {repr, lambda target: f"{target:,}", lambda target: f"${target:.12g}".replace("$-", "-$")}
    for target in targets:
        gold = problem(repr(target))
        assert all(gsm_hard.score(form(target), gold).correct for form in written), target
        assert not gsm_hard.score(repr(target * 1.01 + 1), gold).correct, target
        assert gsm_hard.score(repr(-target), gold).correct == (abs(target) <= 5e-4)
