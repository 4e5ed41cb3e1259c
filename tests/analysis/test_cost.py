"""Invocations and weighted tokens from call records."""

import pytest
from recorded import call

from slmcollab.analysis.cost import cost, reduction


def test_cost_by_hand():
    # Two questions. Evaluation: 10 and 20 tokens of 1 B (one a retry), 5 of 4 B; search: 100 of 2 B; training not
    # counted. Three invocations / 2; tokens 135 / 2; B-tokens (30 + 20 + 200) / 2 = 125, by 5 B 25.
    calls = [
        call(0, tokens=10),
        call(1, tokens=20, retry_of="c0"),
        call(2, model="large", size=4.0, tokens=5, qid="q1"),
        call(3, model="other", size=2.0, tokens=100, phase="search"),
        call(4, tokens=1000, phase="train"),
    ]
    found = cost(calls, 2, divisor=5.0)
    assert (found.invocations, found.output_tokens) == (1.5, 67.5)
    assert (found.b_tokens, found.weighted_tokens) == (125.0, 25.0)
    assert cost(calls[::-1], 2, divisor=5.0) == found


def test_reduction():
    assert reduction(3.0, 4.0) == 0.25
    assert reduction(5.0, 4.0) == -0.25
    with pytest.raises(ValueError, match="0"):
        reduction(1.0, 0.0)


@pytest.mark.parametrize(("num_questions", "divisor"), [(0, 1.0), (1, 0.0)])
def test_no_question_has_no_cost(num_questions, divisor):
    with pytest.raises(ValueError, match="positive"):
        cost([], num_questions, divisor)
