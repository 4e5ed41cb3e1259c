"""Correlations by hand."""

import pytest

from slmcollab.supervision.agreement import agreement


def test_the_correlations_are_over_steps_of_both():
    """Reasoning (1, 2, 3)/4 against (1, 3, 2)/4: r = 1/2; action reversed: r = -1; s_del by hand below."""
    given = {"a": [(0.25, 0.0), (0.5, 0.5)], "b": [(0.75, 1.0)], "dropped later": [(1.0, 1.0)]}
    true = {"a": [(0.25, 1.0), (0.75, 0.5)], "b": [(0.5, 0.0)], "not scored": [(-1.0, -1.0)]}
    found = agreement(given, true)
    assert found["pearson_reasoning"] == pytest.approx(0.5)
    assert found["pearson_action"] == pytest.approx(-1.0)
    # s_del: given .125 .5 .875 (deviations -3 0 3), true .625 .625 .25 (deviations 1 1 -2): -9 / sqrt(18 * 6)
    assert found["pearson"] == pytest.approx(-9 / 108**0.5)
    assert found["num_steps"] == 3
    assert found["num_trajectories"] == 2


def test_one_that_never_varies_has_none():
    praise = {"a": [(1.0, 1.0), (1.0, 0.5)]}
    true = {"a": [(1.0, 1.0), (-1.0, 0.0)]}
    found = agreement(praise, true)
    assert found["pearson_reasoning"] is None
    assert found["pearson_action"] == pytest.approx(1.0)
    nothing = agreement({}, true)
    assert [nothing[name] for name in ("pearson_reasoning", "pearson_action", "pearson")] == 3 * [None]
    assert nothing["num_steps"] == 0


def test_other_numbers_of_steps_are_refused():
    with pytest.raises(ValueError, match="another number of steps"):
        agreement({"a": [(0.0, 0.0)]}, {"a": [(0.0, 0.0), (0.0, 0.0)]})
