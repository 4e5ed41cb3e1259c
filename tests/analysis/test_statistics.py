"""Mean and sample standard deviation over seeds."""

from itertools import permutations

import pytest

from slmcollab.analysis.statistics import mean_and_std


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
