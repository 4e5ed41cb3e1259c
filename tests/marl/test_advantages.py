"""Group-relative advantages by hand."""

import pytest

from slmcollab.marl.advantages import group_advantages


def test_a_group_is_compared_with_its_own_mean():
    # Group p: 1, 0, 0.5 have the mean 0.5. Group q: 1, 0 have the mean 0.5.
    keys, rewards = ["p", "q", "p", "q", "p"], [1.0, 1.0, 0.0, 0.0, 0.5]
    assert group_advantages(keys, rewards, standardise=False) == [0.5, 0.5, -0.5, -0.5, 0.0]


def test_standardised_by_the_sample_deviation():
    # 1, 1, 0, 0: mean 0.5, sample deviation sqrt(4 · 0.25 / 3) = 0.57735; 0.5 / (0.57735 + 0.0001) = 0.865875.
    found = group_advantages(["q"] * 4, [1.0, 1.0, 0.0, 0.0], standardise=True)
    assert found == pytest.approx([0.865875, 0.865875, -0.865875, -0.865875], abs=1e-6)


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("rewards", [[1.0] * 4, [0.0] * 4, [0.1] * 3, [0.7]])
def test_equal_rewards_and_groups_of_one_teach_nothing(rewards, standardise):
    assert group_advantages(["q"] * len(rewards), rewards, standardise=standardise) == [0.0] * len(rewards)


def test_the_limit_holds_both_ways():
    # 29 zeros and a one: mean 1/30, deviation 0.18257; the one has (29/30) / 0.18267 = 5.29, over the limit of 4.
    rewards = [1.0] + [0.0] * 29
    free = group_advantages(["q"] * 30, rewards, standardise=True)
    held = group_advantages(["q"] * 30, rewards, standardise=True, limit=4.0)
    assert free[0] == pytest.approx(5.29, abs=0.01)
    assert held == [4.0, *free[1:]]
    mirrored = group_advantages(["q"] * 30, [-one for one in rewards], standardise=True, limit=4.0)
    assert mirrored[0] == -4.0


def test_groups_and_rewards_belong_together():
    with pytest.raises(ValueError, match="shorter"):
        group_advantages(["p", "q"], [1.0], standardise=False)
