"""The tests that claims share, worked out by hand."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from slmcollab.analysis.claims.capacity import DRAWS, assignments, size_correlation
from slmcollab.analysis.claims.comparisons import (
    Comparison,
    compare,
    mean_interval,
    more_variable,
    rule_in_words,
    welch,
)
from slmcollab.analysis.claims.verdicts import (
    FAILS,
    HOLDS,
    NOT_RUN,
    UNDECIDED,
    NotRun,
    Part,
    Undecided,
    attempt,
    findings,
    joint,
)

PART = Part("q", "points", "t")


def generator():
    return np.random.default_rng(0)


def test_a_comparison_by_hand():
    # Per problem 1, 0.5, 1, 1, 1, 1 against 0: all six differences positive, so 2 of 2^6 flips are as large.
    ours = np.array([[1.0, 1, 1, 1, 1, 1], [1, 0, 1, 1, 1, 1]])
    found = compare(ours, np.zeros((2, 6)), generator())
    assert (found.difference, found.p_value) == (pytest.approx(100 * 5.5 / 6), pytest.approx(2 / 64))
    assert (found.n_seeds, found.n) == (2, 6)


def test_one_seed_has_no_interval():
    found = compare(np.ones((3, 6)), np.zeros((1, 6)), generator())
    assert (found.interval, found.n_seeds, found.found) == (None, 1, "above")


@pytest.mark.parametrize(
    ("difference", "p_value", "interval", "found"),
    [
        (5.0, 0.01, (1.0, 9.0), "above"),
        (-5.0, 0.01, (-9.0, -1.0), "below"),
        (5.0, 0.06, (1.0, 9.0), "within noise"),  # the questions cannot tell
        (5.0, 0.01, (-1.0, 11.0), "within noise"),  # the seeds cannot tell
        (0.0, 1.0, (0.0, 0.0), "within noise"),
        (5.0, 0.01, None, "above"),
    ],
)
def test_what_counts_as_above_and_below(difference, p_value, interval, found):
    comparison = Comparison(difference, p_value, interval, (-20.0, 20.0), 3, 100)
    assert comparison.found == found
    for rule in ("above", "below"):
        holds = HOLDS if interval else UNDECIDED  # one seed a side shows nothing, but that it shows nothing is known
        assert comparison.verdict(rule) == (holds if found == rule else FAILS)


@pytest.mark.parametrize(
    ("p_value", "interval", "same", "not_above", "not_below"),
    [
        (0.50, (-4.9, 4.9), HOLDS, HOLDS, HOLDS),
        (0.50, (-4.9, 5.0), UNDECIDED, UNDECIDED, HOLDS),  # a gain of 5 points is not left out
        (0.50, (-5.0, 4.9), UNDECIDED, HOLDS, UNDECIDED),
        (0.50, (-12.0, 12.0), UNDECIDED, UNDECIDED, UNDECIDED),  # so few seeds that anything may be
        (0.01, (-12.0, 12.0), UNDECIDED, UNDECIDED, UNDECIDED),
        (0.01, (0.1, 3.9), FAILS, FAILS, HOLDS),  # small, but found
        (0.01, (1.0, 9.0), FAILS, FAILS, HOLDS),
        (0.50, (1.0, 9.0), UNDECIDED, UNDECIDED, HOLDS),
        (0.01, (-3.9, -0.1), FAILS, HOLDS, FAILS),
        (0.01, (-9.0, -1.0), FAILS, HOLDS, FAILS),
        (1.00, (0.0, 0.0), HOLDS, HOLDS, HOLDS),  # 100 against 100 in every seed
        (0.01, None, UNDECIDED, UNDECIDED, UNDECIDED),  # one seed a side
    ],
)
def test_that_nothing_is_there_needs_seeds_that_leave_out_five_points(p_value, interval, same, not_above, not_below):
    found = Comparison(sum(interval or (2.0, 2.0)) / 2, p_value, interval, (-0.1, 0.1), 3, 100)
    verdicts = [found.verdict(rule) for rule in ("within noise", "not above", "not below")]
    assert verdicts == [same, not_above, not_below]


@pytest.mark.parametrize(
    ("over_questions", "same", "not_above", "not_below"),
    [
        ((-4.9, 4.9), HOLDS, HOLDS, HOLDS),
        ((-4.9, 5.0), UNDECIDED, UNDECIDED, HOLDS),
        ((-5.0, 4.9), UNDECIDED, HOLDS, UNDECIDED),
        ((-20.0, 20.0), UNDECIDED, UNDECIDED, UNDECIDED),
    ],
)
def test_that_nothing_is_there_needs_questions_that_leave_out_five_points(over_questions, same, not_above, not_below):
    found = Comparison(0.0, 1.0, (0.0, 0.0), over_questions, 3, 100)
    verdicts = [found.verdict(rule) for rule in ("within noise", "not above", "not below")]
    assert verdicts == [same, not_above, not_below]


def test_equal_accuracies_on_few_questions_are_no_evidence_of_no_difference():
    """Two seeds a side have 10 of 20 right, but of other questions: the interval over seeds has no width at all."""
    ours = np.tile(np.arange(20) < 10, (2, 1)).astype(float)
    found = compare(ours, 1 - ours, np.random.default_rng(0))
    assert (found.difference, found.interval, found.found) == (0.0, (0.0, 0.0), "within noise")
    assert found.wide("within noise") == (False, True)
    # Each question differs by ±100: the mean of 20 has an error of 100 / √20 = 22.4 points.
    assert found.over_questions == pytest.approx((-1.96 * 22.4, 1.96 * 22.4), abs=7)
    assert [found.verdict(rule) for rule in ("within noise", "not above", "not below")] == [UNDECIDED] * 3


def test_a_rule_says_in_words_what_it_does():
    assert rule_in_words("above").startswith("holds where above; above or below: the mean over seeds is")
    assert rule_in_words("within noise").startswith(
        "holds where within noise of the baseline and the 95 % intervals over seeds and over questions (bootstrap) lie"
        " between -5 and 5 points, does not hold where above or below, else undecided, as where a side has one seed; "
    )
    above, below = (rule_in_words(rule) for rule in ("not above", "not below"))
    assert "(bootstrap) end below 5 points, does not hold where above, else" in above
    assert "(bootstrap) begin above -5 points, does not hold where below, else" in below


def test_welch_is_that_of_scipy():
    ours, baseline = np.array([75.0, 80.0, 88.0]), np.array([52.0, 50.0, 53.0, 51.0])
    found = stats.ttest_ind(ours, baseline, equal_var=False).confidence_interval(0.95)
    assert welch(ours, baseline) == pytest.approx((found.low, found.high))
    assert welch(np.full(3, 5.0), np.full(2, 3.0)) == (2.0, 2.0)


def test_welch_by_hand():
    # Variances 2 and 0 of two seeds each: error √(2/2) = 1 with 1 degree of freedom, t = 12.706.
    assert welch(np.array([1.0, 3.0]), np.array([1.0, 1.0])) == pytest.approx((1 - 12.706, 1 + 12.706), abs=1e-3)


def test_mean_interval_by_hand():
    # 1, 2, 3: standard error 1/√3, t with 2 degrees of freedom 4.303.
    mean, interval = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert interval == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-3)
    assert mean_interval([0.5]) == (0.5, None)
    assert mean_interval([0.5, 0.5]) == (0.5, (0.5, 0.5))


def test_ratio_of_variances_by_hand():
    # 100 / 4 = 25; with 2 and 2 degrees of freedom p = 1 / (1 + ratio), and 19 is needed.
    found = more_variable(PART, [np.array([50.0, 60.0, 70.0])], [np.array([50.0, 52.0, 54.0])])
    assert (found.measured, found.p_value, found.verdict) == (pytest.approx(25), pytest.approx(1 / 26), HOLDS)
    assert "above 19.0" in found.reason
    # The paper's own 5.62 and 1.78: a ratio of 9.97, p = 0.09.
    spread = np.array([-1.0, 0.0, 1.0])
    found = more_variable(PART, [5.62 * spread], [1.78 * spread])
    assert (found.measured, found.p_value, found.verdict) == (
        pytest.approx(9.97, abs=0.01),
        pytest.approx(0.0912, abs=1e-4),
        UNDECIDED,
    )
    assert found.reason == "too few seeds to tell: with these seeds a ratio above 19.0 is needed"
    assert more_variable(PART, [1.78 * spread], [5.62 * spread]).verdict == FAILS


def test_variances_are_pooled_within_cells():
    # (100 · 2 + 50 · 1) / 3 = 83.3 against 4; the cell of one seed says nothing, distances between cells do not count.
    ours = [np.array([50.0, 60.0, 70.0]), np.array([0.0, 10.0]), np.array([99.0])]
    found = more_variable(PART, ours, [np.array([50.0, 52.0, 54.0])])
    assert (found.measured, found.n, found.n_seeds) == (pytest.approx(250 / 3 / 4), 5, 2)


@pytest.mark.parametrize(("baseline", "message"), [([50.0], "two seeds"), ([50.0, 50.0], "does not vary")])
def test_variances_that_have_no_ratio(baseline, message):
    with pytest.raises(NotRun, match=message):
        more_variable(PART, [np.array([1.0, 2.0])], [np.array(baseline)])


def test_size_correlation_by_hand():
    # Team 1: sizes 1 2 3, shares in order 1 3 2: ρ = 1 - 6 · 2 / 24 = 0.5. Team 2: two experts in order: 1.
    shares, teams = [np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.6])], [[0, 1, 2], [0, 3]]
    found = size_correlation(np.array([[1.0, 2, 3, 9], [9, 9, 9, 9]]), shares, teams)
    assert found == pytest.approx([0.75, 0.0])


def test_size_correlation_is_spearmans_with_ties():
    sizes, share = np.array([3.0, 1.0, 3.0, 7.0]), np.array([0.3, 0.1, 0.2, 0.4])
    found = size_correlation(sizes[np.newaxis], [share], [[0, 1, 2, 3]])
    assert found == pytest.approx([stats.spearmanr(sizes, share).statistic])


def test_all_assignments_where_they_are_few_and_drawn_ones_else():
    assert assignments(3, generator()).tolist() == [list(order) for order in permutations(range(3))]
    drawn = assignments(9, generator())
    assert drawn.shape == (DRAWS, 9)
    assert drawn[0].tolist() == list(range(9))
    assert (np.sort(drawn, axis=1) == np.arange(9)).all()


def part(verdict, **fields):
    return replace(PART, verdict=verdict, reason=f"because of {verdict}", **fields)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([HOLDS, FAILS, NOT_RUN, UNDECIDED], FAILS),
        ([HOLDS, NOT_RUN, UNDECIDED], NOT_RUN),
        ([HOLDS, NOT_RUN], NOT_RUN),
        ([HOLDS, UNDECIDED], UNDECIDED),
    ],
)
def test_joint_verdict(verdicts, expected):
    found = joint([part(verdict) for verdict in verdicts])
    assert found.verdict == expected
    assert expected == HOLDS or f"because of {expected}" in found.reason


def test_rows_of_a_claim():
    one, other, beside = part(HOLDS, benchmark="a"), part(FAILS, benchmark="b"), part(FAILS, beside=True)
    assert [(row.row, row.part) for row in findings("A", "s", [one, beside])] == [("verdict", one), ("beside", beside)]
    rows = findings("A", "s", [one, beside, other])
    assert [row.row for row in rows] == ["verdict", "part", "beside", "part"]
    assert rows[0].part.verdict == FAILS
    with pytest.raises(ValueError, match="no part decides"):
        findings("A", "s", [beside])


def test_what_is_missing_becomes_the_reason():
    def measure(part):
        raise NotRun("no run of it")

    assert attempt(PART, measure) == replace(PART, verdict=NOT_RUN, reason="no run of it")


def test_too_little_of_what_is_there_leaves_a_part_undecided():
    def measure(part):
        raise Undecided("one seed")

    assert attempt(PART, measure) == replace(PART, verdict=UNDECIDED, reason="one seed")
