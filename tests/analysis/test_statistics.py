"""Mean and sample standard deviation over seeds; intervals and paired tests over questions."""

import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from slmcollab.analysis.statistics import bootstrap_interval, mean_and_std, paired, paired_test, question_means


def test_std_divides_by_one_less_than_the_number_of_seeds():
    # Deviations -10, 0, 10: 200 / (3 - 1) = 100, its root 10; divided by 3 it would be 8.16.
    assert mean_and_std([50.0, 60.0, 70.0]) == (60.0, 10.0)
    mean, std = mean_and_std([0.5, 0.6, 0.7])
    assert (round(mean, 12), round(std, 12)) == (0.6, 0.1)


def test_one_seed_has_no_std():
    assert mean_and_std([0.5]) == (0.5, None)


def test_equal_seeds_have_no_spread():
    assert mean_and_std([0.1, 0.1, 0.1]) == (0.1, 0.0)


def test_order_of_seeds_changes_nothing():
    # Summed from left to right, 1e16 + 1 - 1e16 is 0 or 1.
    assert len({mean_and_std(values) for values in permutations([1e16, 1.0, -1e16, 0.1])}) == 1


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_nothing_to_average_is_refused(values):
    with pytest.raises(ValueError, match=r"no values|not finite"):
        mean_and_std(values)


def test_questions_are_averaged_over_seeds_in_one_order():
    assert question_means([{"b": 1.0, "a": 0.0}, {"a": 1.0, "b": 1.0}]) == {"a": 0.5, "b": 1.0}
    assert list(question_means([{"b": 1.0, "a": 0.0}])) == ["a", "b"]
    assert question_means([]) == {}


def test_seeds_with_other_questions_are_refused():
    with pytest.raises(ValueError, match=r"entry 1 .* 1 and 2, .*\['b'\]"):
        question_means([{"a": 0.0, "b": 1.0}, {"a": 0.0}])


def test_pairs_are_found_by_their_question():
    assert paired({"a": 1.0, "b": 2.0}, {"b": 4.0, "a": 3.0}) == ([1.0, 2.0], [3.0, 4.0])
    with pytest.raises(ValueError, match=r"not the baseline's questions: .*\['b', 'c'\]"):
        paired({"a": 1.0, "b": 2.0}, {"a": 3.0, "c": 4.0})


def interval(values, **options):
    return bootstrap_interval(np.array(values, dtype=float), np.random.default_rng(0), **options)


def test_interval_of_two_questions_by_hand():
    # Of the resamples of 0 and 1 a quarter has mean 0 and a quarter mean 1, far more than 2.5 % each.
    assert interval([0, 1]) == (0.0, 1.0)
    # At 40 % the tails hold 30 % each: more than the quarters, so both ends lie at the mean of one of each.
    assert interval([0, 1], level=0.4) == (0.5, 0.5)


def test_interval_of_a_share_is_that_of_the_binomial():
    low, high = stats.binom(100, 0.4).ppf([0.025, 0.975]) / 100
    assert interval([1] * 40 + [0] * 60) == pytest.approx((low, high), abs=0.0101)


def test_interval_does_not_depend_on_chance_alone():
    values = np.arange(50.0)
    assert interval(values) == interval(values)
    low, high = interval(values)
    # Mean 24.5, its standard error sqrt((50² - 1) / 12 / 50) = 2.04.
    assert (low, high) == pytest.approx((24.5 - 1.96 * 2.04, 24.5 + 1.96 * 2.04), abs=0.3)


@pytest.mark.parametrize("values", [[0.7], [0.0, 0.0, 0.0], [1.0] * 5])
def test_nothing_to_vary_gives_no_width(values):
    assert interval(values) == (values[0], values[0])


def test_memory_is_bounded():
    values = np.random.default_rng(0).random(4000)
    tracemalloc.start()
    bootstrap_interval(values, np.random.default_rng(0), resamples=500)
    paired_test(values, values[::-1], np.random.default_rng(0), resamples=500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def p(ours, baseline=None, **options):
    ours = np.array(ours, dtype=float)
    baseline = np.zeros(len(ours)) if baseline is None else np.array(baseline, dtype=float)
    return paired_test(ours, baseline, np.random.default_rng(0), **options)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1, 1, 1], 2 / 8),  # of 8 flips only +++ and --- reach 3
        ([1, 1, 1, 0, 0], 2 / 8),  # equal questions take no part
        ([1, 1, -1], 1),  # every sum of three is at least 1
        ([3, 1], 2 / 4),  # sums 4, 2, -2, -4
        ([3, -1], 1),
        ([2, 1, 1, 1], 2 / 16),
        ([3, 1, 1, -1], 8 / 16),  # 4 or more: 3 with at least two of three ones, 1 + 3 flips, and the mirrored ones
        ([0, 0, 0], 1),
        ([5], 1),
    ],
)
def test_p_by_hand(differences, expected):
    assert p(differences) == expected
    assert p(np.negative(differences)) == expected


def test_equal_differences_are_equal_whatever_their_last_digit():
    # All three are a third, though 2/3 - 1/3, 1/3 - 0 and 1 - 2/3 are three different doubles.
    assert p([2 / 3, 1 / 3, 1], [1 / 3, 0, 2 / 3]) == 2 / 8


def test_no_difference_but_the_last_digit_is_none():
    assert 0.1 + 0.2 != 0.3
    assert p([0.1 + 0.2] * 20, [0.3] * 20) == 1


def test_few_differences_among_many_questions_are_tested_exactly():
    assert p([1, 1, 1] + [0] * 97) == 2 / 8


def test_exact_p_is_that_of_scipy():
    for seed in range(5):
        differences = np.random.default_rng(seed).normal(0.3, 1, 9)
        found = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf)
        assert p(differences) == pytest.approx(found.pvalue)


def test_sampled_p_is_near_the_exact_one():
    # 14 questions have 16,384 flips: sampled at 9,999, exact at 16,383. Four standard errors are 0.02 at most.
    differences = np.random.default_rng(1).normal(0.3, 1, 14)
    exact = p(differences, resamples=2**14 - 1)
    assert 0.02 < exact < 0.98
    assert p(differences) != exact
    assert p(differences) == pytest.approx(exact, abs=0.02)


def test_the_smallest_sampled_p_is_one_in_ten_thousand():
    assert p([1] * 100) == 1 / 10_000
    assert p([1] * 13) == 2 / 2**13


def test_p_is_the_same_each_time_and_whichever_side_is_ours():
    ours, baseline = np.random.default_rng(2).random((2, 40))
    assert p(ours, baseline) == p(ours, baseline) == p(baseline, ours)


@pytest.mark.parametrize(("ours", "baseline"), [([1, 2], [1]), ([], []), ([1, float("nan")], [1, 2]), ([1], [np.inf])])
def test_sides_that_cannot_be_compared_are_refused(ours, baseline):
    with pytest.raises(ValueError, match=r"2 questions against the baseline's 1|no values"):
        p(ours, baseline)


@pytest.mark.parametrize("values", [[], [1.0, float("inf")]])
def test_an_interval_of_nothing_is_refused(values):
    with pytest.raises(ValueError, match="no values"):
        interval(values)
