"""Rows with random numbers of their own: worked out by hand on vocabularies of three and four tokens."""

import math

import pytest
import torch

from slmcollab.generation.sampling import inverse_cdf, nucleus, seeded_sampler


def of(*probabilities):
    return torch.tensor([probabilities], dtype=torch.float64)


def token(weights, u):
    return inverse_cdf(weights, torch.tensor([u], dtype=torch.float64)).item()


@pytest.mark.parametrize(
    ("u", "expected"), [(0.0, 0), (0.19, 0), (0.2, 1), (0.69, 1), (0.71, 2), (0.99, 2), (1 - 2**-53, 2)]
)
def test_inverse_cdf_cuts_the_unit_interval_in_the_order_of_the_tokens(u, expected):
    """Weights 0.2, 0.5, 0.3: [0, 0.2) is token 0, [0.2, 0.7) token 1, [0.7, 1) token 2."""
    assert token(of(0.2, 0.5, 0.3), u) == expected


@pytest.mark.parametrize(("u", "expected"), [(0.0, 1), (0.39, 1), (0.41, 3), (1 - 2**-53, 3)])
def test_weights_need_not_sum_to_1_and_tokens_without_weight_are_skipped(u, expected):
    """Weights 0, 0.2, 0, 0.3, 0 sum to 0.5: token 1 has [0, 0.4), token 3 has [0.4, 1)."""
    assert token(of(0.0, 0.2, 0.0, 0.3, 0.0), u) == expected


def test_an_impossible_token_is_not_returned_where_rounding_eats_the_rest():
    """u = 1, which rounding of u times the sum can give, passes every sum: the last possible token is taken."""
    assert token(of(0.3, 0.7, 0.0), 1.0) == 1
    assert token(of(0.0, 0.0, 1.0, 0.0), 1.0) == 2


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [
        (1.0, [0.1, 0.4, 0.2, 0.3]),
        (0.95, [0.1, 0.4, 0.2, 0.3]),  # 0.4 + 0.3 + 0.2 = 0.9 does not reach it
        (0.9, [0.0, 0.4, 0.2, 0.3]),  # reaches it exactly
        (0.7, [0.0, 0.4, 0.0, 0.3]),
        (0.69, [0.0, 0.4, 0.0, 0.3]),
        (0.4, [0.0, 0.4, 0.0, 0.0]),
        (0.01, [0.0, 0.4, 0.0, 0.0]),
        (1e-9, [0.0, 0.4, 0.0, 0.0]),
    ],
)
def test_nucleus_is_the_smallest_set_that_reaches_top_p(top_p, kept):
    assert nucleus(of(0.1, 0.4, 0.2, 0.3), top_p).tolist() == [kept]


@pytest.mark.parametrize("top_p", [0.9, 0.7])
def test_nucleus_of_probabilities_that_went_through_fp32_logits(top_p):
    """As above: rounding in softmax(log p) must not let in a token after the sum has reached top_p."""
    logits = of(0.1, 0.4, 0.2, 0.3).log().float()
    assert (nucleus(logits.double().softmax(-1), top_p) > 0).sum() == {0.9: 3, 0.7: 2}[top_p]


def test_of_equally_probable_tokens_the_first_are_kept():
    assert nucleus(of(0.25, 0.25, 0.25, 0.25), 0.5).tolist() == [[0.25, 0.25, 0.0, 0.0]]


def test_equals_beside_more_probable_ones_are_kept_from_the_first_on():
    """0.4 and two of the 0.2 reach 0.7."""
    assert nucleus(of(0.2, 0.2, 0.4, 0.2), 0.7).tolist() == [[0.2, 0.2, 0.4, 0.0]]


def test_a_set_larger_than_most_and_a_small_one_side_by_side():
    """150 of 200 equal tokens reach 0.75; in the other row one of 0.8 does."""
    flat, peaked = torch.full((200,), 1 / 200, dtype=torch.float64), torch.full((200,), 0.2 / 199, dtype=torch.float64)
    peaked[120] = 0.8
    kept = nucleus(torch.stack([flat, peaked]), 0.75) > 0
    assert kept[0].tolist() == [True] * 150 + [False] * 50
    assert kept[1].nonzero().flatten().tolist() == [120]


LOGITS = torch.tensor([[math.log(0.2), math.log(0.5), math.log(0.3)]])


def numbers(seed, count=50):
    return torch.rand(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).tolist()


def drawn(seeds, rows, steps=50, temperature=1.0, top_p=1.0, num_tokens=50):
    """Return the tokens of `rows`, which are the only ones that go on."""
    pick = seeded_sampler(seeds, temperature, top_p, num_tokens=num_tokens)
    steps = [pick(LOGITS.expand(len(rows), -1), rows).tolist() for _ in range(steps)]
    return [list(row) for row in zip(*steps, strict=True)]


def test_each_row_takes_the_token_of_its_own_next_number():
    """Probabilities 0.2, 0.5, 0.3, as in the first test."""
    expected = [[0 if u < 0.2 else 1 if u < 0.7 else 2 for u in numbers(seed)] for seed in (7, 8)]
    assert drawn([7, 8], [0, 1]) == expected
    assert expected[0] != expected[1]
    assert {token for row in expected for token in row} == {0, 1, 2}


def test_tokens_depend_on_neither_the_company_nor_the_place_nor_the_budget():
    alone = drawn([7], [0])[0]
    assert drawn([5, 7, 6], [0, 1, 2])[1] == alone
    assert drawn([7, 5, 6], [0])[0] == alone
    assert drawn([5, 6, 7], [2, 0])[0] == alone
    assert drawn([7], [0], steps=20, num_tokens=20)[0] == alone[:20]


def test_equal_seeds_give_equal_rows():
    first, second = drawn([9, 9], [0, 1])
    assert first == second


def test_temperature_comes_before_top_p():
    """At T = 1/2 the squares 0.04, 0.25, 0.09 of 0.38 count: 0.658 for token 1, below 0.65 of nothing but itself.

    So top_p = 0.65 leaves token 1 alone, while at T = 1 it leaves 0.5 and 0.3.
    """
    assert set(drawn([3], [0], temperature=0.5, top_p=0.65)[0]) == {1}
    assert set(drawn([3], [0], temperature=1.0, top_p=0.65)[0]) == {1, 2}


def test_temperature_0_takes_the_first_of_the_most_probable():
    pick = seeded_sampler([1, 2], 0.0, 0.5, num_tokens=1)
    assert pick(torch.tensor([[0.0, 2.0, 1.0, 2.0], [3.0, 3.0, 3.0, 0.0]]), [0, 1]).tolist() == [1, 0]


def test_shares_of_many_rows_are_the_probabilities():
    """10,000 draws: a share's standard deviation is at most 0.005."""
    pick = seeded_sampler(range(10_000), 1.0, 1.0, num_tokens=1)
    tokens = pick(LOGITS.expand(10_000, -1), list(range(10_000)))
    shares = torch.bincount(tokens, minlength=3) / 10_000
    torch.testing.assert_close(shares, torch.tensor([0.2, 0.5, 0.3]), atol=0.02, rtol=0)


@pytest.mark.parametrize(("temperature", "top_p"), [(-0.1, 1.0), (1.0, 0.0), (1.0, 1.1)])
def test_what_is_no_temperature_or_share_is_refused(temperature, top_p):
    with pytest.raises(ValueError, match=r"temperature -0.1|top_p"):
        seeded_sampler([1], temperature, top_p, num_tokens=1)
