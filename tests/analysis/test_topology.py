"""Shapes of trajectories: visits of slots, lengths as recorded."""

import pytest
from recorded import path, trajectory

from slmcollab.analysis.topology import KINDS, kind, topologies


@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        (["a1"], "short_linear"),
        (["a1", "a2"], "short_linear"),
        (["a1", "a1"], "short_linear"),
        (["a1", "a1", "a2"], "long_linear"),  # one visit each, but three recorded steps
        (["a1", "a2", "a3"], "long_linear"),
        (["a1", "a2", "a1"], "short_cyclic"),
        (["a1", "a2", "a2", "a1"], "short_cyclic"),
        (["a1", "a2", "a3", "a1", "a1"], "long_cyclic"),
    ],
)
def test_kind(slots, expected):
    assert kind(path(*slots)) == expected


def test_shares_and_lengths_by_hand():
    # Lengths 1, 2, 3 linear and 3, 4 cyclic: short linear 2 of 5 with mean 1.5, long linear 1 of 5, short cyclic 2 of 5
    # with mean 3.5; no long cyclic.
    runs = [["a1"], ["a1", "a2"], ["a1", "a2", "a3"], ["a1", "a2", "a1"], ["a1", "a2", "a3", "a1"]]
    found = topologies([path(*slots, problem=f"q{index}") for index, slots in enumerate(runs)])
    assert tuple(found) == KINDS
    assert [(one.count, one.share, one.mean_steps) for one in found.values()] == [
        (2, 0.4, 1.5),
        (1, 0.2, 3.0),
        (2, 0.4, 3.5),
        (0, 0.0, None),
    ]


def test_nothing_has_no_shape():
    with pytest.raises(ValueError, match="q0#0"):
        kind(trajectory())
    assert {(one.count, one.share) for one in topologies([]).values()} == {(0, None)}
