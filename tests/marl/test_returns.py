"""MAPoRL's returns and bonuses, and GAE, by hand."""

import pytest

from slmcollab.marl.returns import discussion_bonuses, discussion_returns, generalised_advantages

BONUS = [1.0, 2.0, 4.0, 8.0]  # a0, a1, a2, a3: every sum tells what it is made of


def test_s_is_the_own_answer_and_the_discounted_mean_of_what_follows():
    # Means of rounds 1 and 2: 2/3 and 1. S(0, a) = (s + 0.3 · 2/3 + 0.09 · 1) / 1.39; S(1, a) = (s + 0.3) / 1.3.
    found = discussion_returns([[1, 0, 0], [1, 1, 0], [1, 1, 1]], 0.3)
    assert found[0] == pytest.approx([1.29 / 1.39, 0.29 / 1.39, 0.29 / 1.39])
    assert found[1] == pytest.approx([1.0, 1.0, 0.3 / 1.3])
    assert found[2] == [1.0, 1.0, 1.0]


def test_s_of_one_round_or_without_discount_is_the_verdict():
    assert discussion_returns([[1, 0.25]], 0.3) == [[1.0, 0.25]]
    assert discussion_returns([[0, 1], [1, 1]], 0.0) == [[0.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ([1, 0, 0], [0, 0, 0], -1.0),  # right to wrong with wrong peers: -a0
        ([1, 1, 1], [0, 1, 1], -2.0),  # right to wrong against right peers: -a1
        ([0, 1, 1], [1, 1, 1], 1.0),  # wrong to right with right peers: +a0
        ([0, 0, 0], [1, 0, 0], 2.0),  # wrong to right against wrong peers: +a1
        ([1, 1, 1], [1, 1, 1], 0.0),
        ([0, 1, 0], [1, 1, 0], 0.0),  # peers at exactly one half are neither
        ([0.5, 1, 1], [1, 1, 1], 0.0),  # nor is an answer
        ([0.4, 0.9, 0.6], [0.6, 1, 1], 1.0),
    ],
)
def test_changing_ones_own_mind(before, after, value):
    assert discussion_bonuses([before, after], BONUS, official_sign=False)[1][0] == value
    assert discussion_bonuses([before, after], BONUS, official_sign=True)[1][0] == value


@pytest.mark.parametrize(
    ("own", "peers", "later", "corrected"),
    [
        (1, 0, 1, 8.0),  # right, and the peers become right: a3
        (0, 0, 1, 4.0),  # wrong, and they become right all the same: a2
        (0, 1, 0, -8.0),  # wrong, and they become wrong: -a3
        (1, 1, 0, -4.0),  # right, and they become wrong all the same: -a2
        (1, 1, 1, 0.0),
        (0.5, 0, 1, 0.0),
    ],
)
def test_changing_the_minds_of_peers(own, peers, later, corrected):
    """The published code has the other sign."""
    table = [[own, peers, peers], [own, peers, peers], [own, later, later]]
    found = [discussion_bonuses(table, BONUS, official_sign=sign)[1][0] for sign in (False, True)]
    assert found == [corrected, -corrected]


def test_own_change_and_influence_add_up():
    # Round 1: agent 0 becomes right against wrong peers (a1 = 2), and both peers become right in round 2 (a3 = 8).
    table = [[0, 0, 0], [1, 0, 0], [1, 1, 1]]
    assert discussion_bonuses(table, BONUS, official_sign=False)[1] == [10.0, 0.0, 0.0]
    # Round 2: each peer became right where its peers' mean had been one half: nothing.
    assert discussion_bonuses(table, BONUS, official_sign=False)[2] == [0.0, 0.0, 0.0]


def test_the_first_round_the_end_and_lone_agents_have_no_bonus():
    assert discussion_bonuses([[1, 0, 0]], BONUS, official_sign=False) == [[0.0, 0.0, 0.0]]
    found = discussion_bonuses([[1, 0, 0], [1, 1, 1]], BONUS, official_sign=False)
    assert found[0] == [0.0, 0.0, 0.0]  # although all its peers become right
    assert discussion_bonuses([[0], [1], [0]], BONUS, official_sign=False) == [[0.0], [0.0], [0.0]]


def test_gae():
    # Deltas with gamma 1: 0 + 0.5 - 0.2 = 0.3, then 1 - 0.5 = 0.5. A(1) = 0.5, A(0) = 0.3 + 0.9 · 0.5 = 0.75.
    found = generalised_advantages([0.0, 1.0], [0.2, 0.5], gamma=1.0, gae_lambda=0.9)
    assert found == pytest.approx([0.75, 0.5])
    # gamma 0.5, lambda 0: one step alone: 0 + 0.25 - 0.2 and 1 - 0.5.
    assert generalised_advantages([0.0, 1.0], [0.2, 0.5], gamma=0.5, gae_lambda=0.0) == pytest.approx([0.05, 0.5])
    # lambda 1, gamma 1: the rewards still to come, less the value.
    assert generalised_advantages([1.0, 2.0, 3.0], [0.0, 1.0, 2.0], gamma=1.0, gae_lambda=1.0) == [6.0, 4.0, 1.0]
