"""The data of Figure 4: what is grouped, what is refused, what is written."""

import numpy as np
import pytest

from slmcollab.analysis.attention import Dynamics
from slmcollab.report.figure4 import figure4_rows, group_runs


def run(seed=0, benchmark="sums", team="toy", method="hidden_state", experts=("a", "b")):
    return {"benchmark": benchmark, "team": team, "seed": seed, "method": method, "experts": list(experts)}


def measured(shares, reward):
    first, entropies = np.array(shares), np.linspace(1.0, 0.5, len(shares))
    return Dynamics(
        np.arange(1, len(shares) + 1), np.stack([first, 1 - first], 1), entropies, entropies / 2, np.array(reward)
    )


RISING, FLAT = measured([0.5, 0.25], [0.0, 0.5]), measured([0.5, 0.75], [0.25, 0.25])


def test_runs_are_grouped_in_the_order_of_their_first_run():
    groups = group_runs([run(1), run(1, team="other"), run(0)], [RISING, FLAT, FLAT])
    assert [(group.team, list(group.seeds)) for group in groups] == [("toy", [1, 0]), ("other", [1])]


@pytest.mark.parametrize(
    "second", [run(0), run(1, method="hidden_state_shuffled"), run(1, experts=("b", "a")), run(1, experts=("a", "c"))]
)
def test_runs_that_do_not_belong_together_are_refused(second):
    with pytest.raises(ValueError, match=r"sums.*toy"):
        group_runs([run(0), second], [RISING, RISING])


def test_no_runs_and_runs_without_history_are_refused():
    with pytest.raises(ValueError, match="no runs"):
        group_runs([], [])
    with pytest.raises(ValueError, match="shorter"):
        group_runs([run(0), run(1)], [RISING])


def test_correlations_that_exist_are_averaged():
    group = group_runs([run(0), run(1)], [RISING, FLAT])[0]
    # Entropy falls and reward rises: -1; a reward that never changes has no rank correlation.
    assert group.correlations == {0: pytest.approx(-1.0), 1: None}
    assert group.mean_correlation == pytest.approx(-1.0)


def test_rows_hold_every_seed_and_the_mean_unsmoothed():
    rows = list(figure4_rows(group_runs([run(0), run(1)], [RISING, FLAT])))
    found = {(row["seed"], row["step"], row["quantity"], row["expert"]): row["value"] for row in rows}
    # 3 series of seeds 0, 1 and mean; each 2 steps × (2 shares + 2 entropies + reward) and one correlation.
    assert len(rows) == len(found) == 3 * (2 * 5 + 1)
    assert found["0", "2", "attention_share", "a"] == "0.250000"
    assert found["0", "2", "attention_share", "b"] == "0.750000"
    assert found["mean", "2", "attention_share", "a"] == "0.500000"
    assert found["mean", "2", "reward", ""] == "0.375000"
    assert found["1", "1", "attention_entropy_prompt", ""] == "0.500000"
    assert found["0", "", "spearman_entropy_reward", ""] == "-1.000000"
    assert found["1", "", "spearman_entropy_reward", ""] == ""
    assert found["mean", "", "spearman_entropy_reward", ""] == "-1.000000"
    assert list(rows[0]) == ["benchmark", "team", "seed", "step", "quantity", "expert", "value"]
