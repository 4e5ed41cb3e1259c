"""Differences between two systems: hand-made numbers, seeds, and what is called a difference."""

import numpy as np
import pytest

from slmcollab.analysis.claims.comparisons import ABOVE, BELOW, SAME
from slmcollab.analysis.claims.verdicts import FAILS, HOLDS, UNDECIDED, NotRun, Part
from slmcollab.analysis.slices_claims.changes import ALONE, change, judged, mean_change, shown
from slmcollab.analysis.slices_claims.measures import Ratio
from slmcollab.analysis.slices_claims.sides import between_seeds, sides


def ratio(*pairs, names=None):
    names = names or [f"q{index}" for index in range(len(pairs))]
    return Ratio.of(dict(zip(names, pairs, strict=True)))


def plain(*values):
    return ratio(*((value, 1) for value in values))


def generator():
    return np.random.default_rng(0)


def test_a_ratio_is_sum_by_sum_and_its_mean_is_over_seeds():
    before = [ratio((1, 2), (0, 0), (3, 4)), ratio((1, 1), (0, 1), (0, 0))]  # 4/6 and 1/2
    after = [ratio((0, 1), (2, 2), (1, 1))]  # 3/4
    found = change(before, after, generator())
    assert found.before == pytest.approx((4 / 6 + 1 / 2) / 2)
    assert found.after == pytest.approx(3 / 4)
    assert (found.n_seeds, found.n, found.p_value, found.between) == (1, 3, None, None)


def test_a_seed_with_nothing_to_count_in_is_left_out():
    before = [ratio((0, 0), (0, 0)), ratio((1, 2), (0, 0))]
    found = change(before, [ratio((1, 1), (1, 1))] * 2, generator())
    assert (found.before, found.after, found.n_seeds) == (0.5, 1.0, 1)
    with pytest.raises(NotRun, match="no question to count this in"):
        change([ratio((0, 0))], [ratio((1, 1))], generator())


def test_plain_means_have_the_p_of_the_paired_permutation_test():
    # Ten questions, all right instead of wrong: 2 of 2^10 flips are as large.
    found = change([plain(*[0] * 10)], [plain(*[1] * 10)], generator())
    assert found.p_value == pytest.approx(2 / 1024)
    assert (found.difference, found.low, found.high, found.found) == (1.0, 1.0, 1.0, ABOVE)
    other = change([plain(*[1] * 10)], [plain(*[0] * 10)], generator())
    assert other.found == BELOW
    # Three questions: 2 of 8 flips, 0.25, whatever the interval says.
    assert change([plain(0, 0, 0)], [plain(1, 1, 1)], generator()).found == SAME


def test_seeds_that_differ_as_much_as_the_systems_are_noise():
    better, worse = plain(*[1] * 20), plain(*[0] * 20)
    found = change([worse, worse], [better, worse], generator())
    # Means over seeds 0 and 0.5; the seeds' own are 0, 0 and 1, 0: Welch's interval is 0.5 ± 12.7 · 0.5.
    assert found.p_value < 0.001
    assert found.between == pytest.approx((0.5 - 12.7062 * 0.5, 0.5 + 12.7062 * 0.5), abs=1e-3)
    assert found.found == SAME
    assert change([worse, worse], [better, better], generator()).found == ABOVE


def constant(*values):
    return plain(*values)._replace(fixed=True)


def test_seeds_are_tested_against_the_one_value_of_a_side_that_does_not_learn():
    # Differences 0.8, 0.9 and 1: mean 0.9, standard error 0.1 / sqrt 3, t(2) 4.30265: 0.9 ± 0.24841.
    before, seeds = np.array([0.0]), np.array([0.8, 0.9, 1.0])
    interval = pytest.approx((0.65159, 1.14841), abs=1e-5)
    assert between_seeds(before, seeds, (True, False)) == interval
    assert between_seeds(-seeds, before, (False, True)) == interval
    assert between_seeds(before, seeds[:1], (True, True)) == (0.8, 0.8)
    # Three equal seeds say the same as one; a side that varies has to have two.
    assert between_seeds(np.zeros(3), seeds, (True, False)) == interval
    assert between_seeds(before, seeds, (False, False)) is None
    assert between_seeds(before, seeds[:1], (True, False)) is None


def test_seeds_around_a_constant_can_be_noise():
    better, worse = plain(*[1] * 20), plain(*[0] * 20)
    found = change([constant(*[0] * 20)], [better, worse], generator())
    assert (found.p_value < 0.001, found.found, found.n_seeds) == (True, SAME, 1)
    assert found.between == pytest.approx((0.5 - 12.7062 * 0.5, 0.5 + 12.7062 * 0.5), abs=1e-3)
    part = judged(Part("a share", "points", ""), found, ABOVE)
    assert (part.verdict, part.reason) == (FAILS, "0.000 → 0.500, within noise")
    sure = judged(Part("a share", "points", ""), change([constant(*[0] * 20)], [better] * 2, generator()), ABOVE)
    assert (sure.verdict, sure.reason) == (HOLDS, "0.000 → 1.000, above")


def test_one_seed_of_a_side_that_varies_cannot_hold():
    better, worse = plain(*[1] * 20), plain(*[0] * 20)
    for before, after in (([constant(*[0] * 20)], [better]), ([worse], [better] * 3)):
        found = change(before, after, generator())
        part = judged(Part("a share", "points", ""), found, ABOVE)
        assert (part.verdict, part.measured, part.reason) == (UNDECIDED, 1.0, f"0.000 → 1.000, above{ALONE}")
        assert judged(part, found, BELOW).verdict == FAILS


def test_a_mean_over_quantities_is_tested_against_a_constant():
    # Means over both metrics: 5 and 7 against 0, so 6 ± 12.7062 · 1.
    one, two = ([plain(*[value] * 10) for value in values] for values in ((4.0, 6.0), (6.0, 8.0)))
    found = mean_change({"A": [([constant(*[0.0] * 10)], seeds) for seeds in (one, two)]}, generator())
    assert found.between == pytest.approx((6 - 12.7062, 6 + 12.7062), abs=1e-3)
    learnt = mean_change({"A": [([plain(*[0.0] * 10)], seeds) for seeds in (one, two)]}, generator())
    assert (learnt.between, learnt.found) == (None, ABOVE)


LANGUAGES = ("cpp", "py", "sh")


def translated(*values):
    """Return values of tasks t0, t1, ... in three languages, in the order of the names."""
    names = [f"{language} t{number}" for language in LANGUAGES for number in range(len(values) // 3)]
    found = ratio(*((value, 1) for value in values), names=names)
    return found._replace(tasks=tuple(name.split()[1] for name in names))


def test_translations_of_a_task_are_flipped_and_drawn_together():
    before, after = translated(*[0] * 6), translated(*[1] * 6)
    found = change([before], [after], generator())
    # Two tasks: 2 of 2^2 flips are as large. As six questions 2 of 2^6 were.
    assert (found.p_value, found.n, found.questions) == (0.5, 2, 6)
    alone = change([before._replace(tasks=())], [after._replace(tasks=())], generator())
    assert (alone.p_value, alone.n) == (2 / 64, 6)
    # Only t0 is better: of two draws of tasks none is t0 in 1/4; of six draws of questions none is in 1/64 < 0.025.
    half = translated(1, 0, 1, 0, 1, 0)
    found = change([before], [half], generator())
    assert (found.difference, found.low, found.high) == (0.5, 0.0, 1.0)
    alone = change([before._replace(tasks=())], [half._replace(tasks=())], generator())
    assert (alone.low, alone.high) == pytest.approx((1 / 6, 5 / 6))


def test_means_over_quantities_take_translations_together():
    before, after = translated(*[0] * 6), translated(*[1] * 6)
    found = mean_change({"A": [([before], [after])] * 2}, generator())
    assert (found.difference, found.p_value, found.n, found.questions) == (1.0, 0.5, 2, 6)
    # t0 gains 1 in three languages, t1 loses 1 in one: (3 - 1) / 4.
    names, tasks = ["a", "b", "c", "d"], ("t0", "t0", "t0", "t1")
    one, two = (ratio(*((value, 1) for value in values), names=names) for values in ([0] * 4, [1, 1, 1, -1]))
    found = mean_change({"A": [([one._replace(tasks=tasks)], [two._replace(tasks=tasks)])]}, generator())
    assert (found.difference, found.p_value) == (0.5, 1.0)


def test_the_interval_is_of_the_difference_on_the_same_questions():
    # Each question is 1 better; sides paired, so the interval is a point, although the questions differ widely.
    values = np.arange(50.0)
    found = change([plain(*values)], [plain(*values + 1)], generator())
    assert (found.low, found.high) == pytest.approx((1.0, 1.0))


def test_only_questions_that_all_runs_have_count():
    before, after = [ratio((1, 1), (0, 1), names=["a", "b"])], [ratio((1, 1), (0, 1), names=["c", "a"])]
    found, n = sides(before, after)
    assert n == 1
    assert [side.over.tolist() for side in found] == [[[1.0]], [[0.0]]]
    with pytest.raises(NotRun, match="no question that all runs have"):
        sides([ratio((1, 1), names=["a"])], [ratio((1, 1), names=["b"])])


def test_the_mean_over_quantities_weighs_each_the_same():
    # Benchmark A with two metrics, +10 and +20 on each of 4 questions; B with one, 0 on each of 2: (10 + 20 + 0) / 3.
    pairs = {
        "A": [([plain(0, 0, 0, 0)], [plain(10, 10, 10, 10)]), ([plain(5, 5, 5, 5)], [plain(25, 25, 25, 25)])],
        "B": [([plain(1, 3)], [plain(1, 3)])],
    }
    found = mean_change(pairs, generator())
    assert found.difference == pytest.approx(10)
    assert (found.before, found.after) == pytest.approx((7 / 3, 37 / 3))  # (0 + 5 + 2) / 3
    assert (found.low, found.high) == pytest.approx((10, 10))
    # Four questions of A differ, all upwards: 2 of 2^4 flips.
    assert found.p_value == pytest.approx(2 / 16)
    assert (found.n, found.n_seeds) == (6, 1)


def test_a_mean_over_quantities_keeps_the_spread_over_seeds():
    seeds = [plain(*[value] * 10) for value in (0.0, 10.0)]
    found = mean_change({"A": [([plain(*[0.0] * 10)] * 2, seeds)]}, generator())
    assert found.difference == pytest.approx(5)
    assert found.between == pytest.approx((5 - 12.7062 * 5, 5 + 12.7062 * 5), abs=1e-2)
    assert found.found == SAME


def test_a_part_says_from_what_to_what_and_scales_its_numbers():
    found = change([plain(*[0] * 10)] * 2, [plain(*[1] * 10)] * 2, generator())
    part = judged(Part("a share", "points", ""), found, ABOVE, 100.0, published=50.0)
    assert (part.verdict, part.measured, part.low, part.high, part.published) == (HOLDS, 100.0, 100.0, 100.0, 50.0)
    assert part.reason == "0.00 → 100.00, above"
    assert part.test.startswith("holds where above; above or below: the mean over seeds is")
    seen = shown(Part("a number", "%", ""), "why", measured=1.0)
    assert (seen.verdict, seen.beside, seen.test) == ("", True, "no rule: shown only")
