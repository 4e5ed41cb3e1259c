"""Equivalence of LaTeX answers: where math-verify is right, where it is wrong, and how long it may take."""

import json
import os
import time
from pathlib import Path

import pytest
from math_verify import parse, verify

from slmcollab.artifacts import Problem
from slmcollab.scoring import math
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.latex import last_boxed, plain, tidy

SAME, OTHER = True, False
# (gold, answer, right verdict, math-verify's verdict on the two in dollars)
TABLE = [
    (r"\left( 3, \frac{\pi}{2} \right)", r"\left(3,\frac{\pi}{2}\right)", SAME, True),
    (r"\text{Evelyn}", r"\text{Evelyn}", SAME, True),
    (r"\text{Evelyn}", "Evelyn", SAME, True),
    ("C", r"\text{(C)}", SAME, True),
    (r"\text{(C)}", "C", SAME, True),
    ("3*x-1*y+13=0", "3x + 4y + 14=0", OTHER, False),
    # math-verify says equal
    (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}", OTHER, True),
    ("0.0000001", "0.0000002", OTHER, True),
    ("0", "0.0000001", OTHER, False),
    (r"1 - \frac{1}{\mathrm{e}}", r"1 + \frac{1}{\mathrm{e}}", OTHER, True),
    ("4", r"4\sqrt(2)", OTHER, True),
    ("2516_8", "2516_{9}", OTHER, True),
    ("ABCD", "DCBA", OTHER, True),
    # math-verify says different
    ("1e10", "10^{10}", SAME, False),
    ("10^{10}", "1e10", SAME, False),
    ("(0,12.5)", "0 < x < 12.5", SAME, False),
    # math-verify is right
    ("1331 and 1728", "1728", OTHER, False),
    ("-1", "\u22121", SAME, True),
    ("2/3", r"\frac{2}{3}", SAME, True),
    (r"\tfrac97", r"\dfrac{9}{7}", SAME, True),
    (r"4\frac{2}{3}", r"\frac{14}{3}", SAME, True),
    ("1{,}000", "1000", SAME, True),
    (r"90^\circ", "90", SAME, True),
    (r"5 \text{ cm}^2", "5", SAME, True),
    ("x=5", "5", SAME, True),
    ("5", "x=5", SAME, True),
    ("6,-2", r"x=6 \text{ or } x=-2", SAME, True),
    (r"33\%", "0.33", SAME, True),
    (r"\frac13", "0.333", OTHER, False),
    ("(1,2)", "(2,1)", OTHER, False),
    ("(1,2)", "[1,2]", OTHER, False),
    ("-1", "1", OTHER, False),
    ("1331,1728", "1728", OTHER, False),
    ("5", "5,6", OTHER, False),
    ("-9867630.0", "-9,867,630", SAME, True),
    ("p-q", "-q+p", SAME, True),
    ("6.0", "6", SAME, True),
    ("40_9", "40_{9}", SAME, True),
    ("52_8", "42", OTHER, False),
    ("1000000", "1000001", OTHER, False),
]
BOMBS = [r"\boxed{9^{9^{9^9}}}", "(" * 3000 + "1" + ")" * 3000, r"\prod_{k=1}^{10^7} k", r"9^{9^{9^{9^9}}}"]


def problem(answer):
    return Problem("math/test/0", "What?", [], answer)


@pytest.mark.parametrize(("gold", "answer", "right", "library"), TABLE)
def test_verdicts(gold, answer, right, library):
    assert math.score(answer, problem(gold)).correct == right
    assert math.score(f"It is $\\boxed{{{answer}}}$.", problem(gold)).correct == right
    assert verify(parse(f"${gold}$"), parse(f"${answer}$")) == library


def test_the_last_box_counts():
    assert math.score(r"\boxed{41} so no, \boxed{42}", problem("42")).correct
    assert not math.score(r"\boxed{42} so no, \boxed{41}", problem("42")).correct
    assert math.score(r"\boxed{\frac{1}{2}} and then \boxed{\frac{", problem(r"\frac12")).correct


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (r"so \boxed{2}.", "2"),
        (r"\boxed{\frac{1}{2}} \boxed{ \sqrt{2} }", r"\sqrt{2}"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed 5", "5"),
        (r"\fbox{7}", "7"),
        (r"\boxed{1} and \boxed{2", "1"),
        (r"\boxedsum{3}", None),
        ("none", None),
    ],
)
def test_last_boxed(text, box):
    assert last_boxed(text) == box


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        (r"\left(3, 4\right)", "(3,4)"),
        (r"\dfrac{1}{2}", "1/2"),
        (r"\frac12", r"\frac{1}{2}"),
        (r"\sqrt2", r"\sqrt{2}"),
        (r"$12\text{ cm}$", "12"),
        (r"\$18.50", "18.50"),
        (r"50\%", "50"),
        (r"120^\circ", "120"),
        ("k = 7", "7"),
        ("1,234,567", "1234567"),
        ("3.0", "3"),
        (".5", "0.5"),
        (r"x \in [1,2]", r"x\in[1,2]"),
        (r"\(7\).", "7"),
        (r"The final answer is: $\frac12$.", r"\frac{1}{2}"),
        ("So we get $7$ units", "7"),
        ("x = 10,\\!080", "10080"),
        ("**7**", "7"),
    ],
)
def test_spellings_of_one_answer(answer, other):
    assert plain(answer) == plain(other)


@pytest.mark.parametrize(("one", "other"), [("1,2", "12"), ("(1,234)", "1234"), ("x^{12}", "x^12"), ("12.5", "125")])
def test_other_answers_keep_other_spellings(one, other):
    assert plain(one) != plain(other)


@pytest.mark.parametrize(
    ("answer", "gold", "f1", "f1_char", "f1_token"),
    [
        ("2", "4", 0.5, 0, 0),
        (r"\frac{1}{2}", "x=1", 0.5, 1 / 6, 2 / 8),  # of 11 characters and 1 one is shared; of 7 tokens and 1 one
        ("-2", "4", 0, 0, 0),
        ("2x", "4x", 0, 0.5, 0.5),
        ("(1,2)", "(1,3)", 0, 0.8, 0.8),
        ("3+i", "4", 0, 0, 0),
        ("", "4", 0, 0, 0),
    ],
)
def test_partial_credit(answer, gold, f1, f1_char, f1_token):
    scored = math.score(answer, problem(gold))
    assert scored.detail == pytest.approx({"accuracy": 0, "f1": f1, "f1_char": f1_char, "f1_token": f1_token})
    assert (scored.score, scored.correct, scored.extracted) == (pytest.approx(f1), False, answer or None)


def test_a_right_answer_has_all_metrics():
    assert math.score("0.5", problem(r"\frac{1}{2}")).detail == {"accuracy": 1, "f1": 1, "f1_char": 1, "f1_token": 1}
    with pytest.raises(ValueError, match="math/test/0: no gold answer"):
        math.score("1", problem(None))


def test_a_sentence_without_a_formula_is_no_answer():
    assert not math.score("So we get 7", problem("7")).correct
    assert not math.score("$7$ or $8$", problem("8")).correct


def test_in_a_thread_of_the_grader_nothing_is_lost():
    with Grader("math", 60.0, num_workers=2) as grader:
        scores = grader.grade([r"\boxed{42}", "0.5", "41"], [problem("42"), problem(r"\frac{1}{2}"), problem("42")])
    assert [score.correct for score in scores] == [True, True, False]


def test_bombs_are_timed_out_and_cost_nobody_else():
    answers = [answer for bomb in BOMBS * 5 for answer in (bomb, "0.5")]
    start = time.monotonic()
    with Grader("math", 1.0, num_workers=2) as grader:
        scores = grader.grade(answers, [problem(r"\frac{1}{2}")] * len(answers))
    assert time.monotonic() - start < 300  # of which new processes may take most
    assert all(score.correct for score in scores[1::2])
    assert not any(score.correct for score in scores[::2])
    assert {score.error for score in scores[::2]} <= {None, "timed_out"}
    assert sum(score.error == "timed_out" for score in scores) >= 5
    assert scores[0].extracted == BOMBS[0]


def test_real_golds():
    if "SLMCOLLAB_DATA" not in os.environ:
        pytest.skip("SLMCOLLAB_DATA, a folder with math500.jsonl, is not set")
    lines = (Path(os.environ["SLMCOLLAB_DATA"]) / "math500.jsonl").read_text(encoding="utf-8").splitlines()
    golds = [json.loads(line)["answer"] for line in lines]
    assert len(golds) == 500
    for gold, next_gold in zip(golds, golds[1:] + golds[:1], strict=True):
        assert math._equivalent(tidy(gold), tidy(gold)), gold
        assert math.score(f"so $\\boxed{{{gold}}}$", problem(gold)).correct
        if plain(gold) != plain(next_gold):
            assert not math.score(next_gold, problem(gold)).correct, (gold, next_gold)
        assert not math.score(f"{gold} + 1", problem(gold)).correct, gold
