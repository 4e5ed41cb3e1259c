"""McNemar's exact test, the paired bootstrap and Holm's correction."""

from math import comb

import numpy as np
import pytest

from slmcollab.analysis.paired_tests import holm, mcnemar, paired_bootstrap


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (1, 7, 18 / 256),  # 2 (1 + 8) / 2^8
        (0, 5, 2 / 32),
        (2, 11, 184 / 8192),  # 2 (1 + 13 + 78) / 2^13
        (0, 1, 1.0),
        (3, 3, 1.0),  # 2 P(Bin(6, 1/2) <= 3) is above 1
        (0, 0, 1.0),
    ],
)
def test_mcnemar_by_hand(ours, theirs, expected):
    assert mcnemar(ours, theirs) == pytest.approx(expected, rel=1e-12)
    assert mcnemar(theirs, ours) == pytest.approx(expected, rel=1e-12)


def test_mcnemar_is_its_formula():
    for ours in range(12):
        for theirs in range(12):
            total, least = ours + theirs, min(ours, theirs)
            tail = sum(comb(total, k) for k in range(least + 1)) / 2**total
            assert mcnemar(ours, theirs) == pytest.approx(min(1.0, 2 * tail))


@pytest.mark.parametrize(
    ("num_items", "num_discordant", "gap"),
    [(132, 13, 6.8), (500, 50, 3.2), (1352, 135, 1.9), (2417, 242, 1.4)],
)
def test_smallest_gap_that_a_tenth_of_discordant_items_can_show(num_items, num_discordant, gap):
    # The caption of the table has the first: percent points between two systems that a tenth of the items tell apart.
    shown = [lost for lost in range(num_discordant // 2 + 1) if mcnemar(lost, num_discordant - lost) <= 0.05]
    assert 100 * (num_discordant - 2 * max(shown)) / num_items == pytest.approx(gap, abs=0.1)


def p(differences, strata=None, seed=0, **options):
    differences = np.array(differences, dtype=float)
    strata = [""] * len(differences) if strata is None else strata
    return paired_bootstrap(differences, strata, np.random.default_rng(seed), **options)


def test_bootstrap_by_hand():
    # Differences 1, 1, 1, -1: mean 0.5. A resample has k ~ Bin(4, 1/4) times -1, so mean 1 - k / 2, and is 0.5 or more
    # away for every k but 1: p = 1 - 4 (1/4) (3/4)^3 = 0.578; one standard error is 0.005.
    assert p([1, 1, 1, -1]) == pytest.approx(1 - 27 / 64, abs=0.02)
    # Six times 1, twice -1: sum 4. A resample's is 8 - 2 k with k ~ Bin(8, 1/4), as far for k = 0 and k >= 4.
    far = sum(comb(8, k) * 3 ** (8 - k) for k in (0, 4, 5, 6, 7, 8)) / 4**8
    assert far == pytest.approx(0.2139, abs=1e-4)
    assert p([1] * 6 + [-1] * 2) == pytest.approx(far, abs=0.02)


def test_bootstrap_of_a_known_shift_is_near_the_normal_test():
    # 400 questions around 0.1 with standard deviation 1: z = 0.1 * 20 = 2, p = 0.0455; standard error 0.002.
    values = np.random.default_rng(3).normal(size=400)
    values = (values - values.mean()) / values.std() + 0.1
    assert p(values) == pytest.approx(0.0455, abs=0.008)
    assert p(values + 0.4) == 1 / 10_001


def test_bootstrap_rejects_about_a_twentieth_under_the_null():
    # 400 experiments of 80 questions: 20 rejections, standard deviation 4.4; 4 of these are 17.4.
    drawn = np.random.default_rng(7).choice([-1.0, -0.25, 0.0, 0.0, 0.25, 1.0], (400, 80))
    rejected = sum(p(row, seed=index, resamples=999) <= 0.05 for index, row in enumerate(drawn))
    assert 3 <= rejected <= 37


def test_equal_sides_differ_in_nothing():
    assert p([0.0] * 50) == 1
    assert p([0.1 + 0.2 - 0.3] * 50) == 1


def test_differences_that_are_all_alike_are_no_certainty():
    # Such resamples do not move at all; so few questions allow no p below 2 / 2^m, whichever questions tie.
    assert p([1.0]) == 1
    assert p([1, 1, 1]) == 2 / 8
    assert p([1, 1, 1, 1, 0, 0]) >= 2 / 16
    assert p([1.0] * 20) == 1 / 10_001


def test_strata_keep_their_size():
    # One stratum alternates 1 and -1, the other is all 3: its sum of 30 never moves, and that of the first by 10 at
    # most. Below, 4 and -2 make a sum of 20; drawn together it moves by 3 * sqrt(20) = 13, apart it does not.
    differences, strata = [1, -1] * 5 + [3] * 10, ["a"] * 10 + ["b"] * 10
    assert p(differences, strata) == 1 / 10_001
    assert p([1, -1] * 5 + [0.5, -0.5] * 5, strata) == 1
    together = [4.0, -2.0] * 10
    apart = ["a", "b"] * 10
    assert p(together) > 0.05
    assert p(together, apart) == 1 / 10_001


def test_bootstrap_does_not_depend_on_order_or_side():
    values = np.random.default_rng(5).normal(0.2, 1, 60)
    strata = ["a"] * 20 + ["b"] * 40
    order = np.random.default_rng(6).permutation(60)
    assert 0.001 < p(values, strata) < 1
    assert p(values, strata) == p(values[order], [strata[i] for i in order])
    assert p(-values, strata) == pytest.approx(p(values, strata), abs=0.02)


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [np.inf]])
def test_what_cannot_be_compared_is_refused(values):
    with pytest.raises(ValueError, match="no differences"):
        p(values)


def test_another_number_of_strata_is_refused():
    with pytest.raises(ValueError, match="1 strata of 2 differences"):
        p([1.0, 2.0], ["a"])


def test_holm_by_hand():
    # Sorted .01, .02, .03 times 3, 2, 1: .03, .04, .03, and no later one below an earlier one.
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
