"""Which runs the grid holds, which are left out, and what tables and figures find in it."""

import copy
from pathlib import Path

import grid
import pytest
import results_grid as shown
import yaml

CONFIG = {
    "grid": {"benchmarks": ["b1", "b2"], "methods": ["single", "hidden_state", "prefix"], "teams": ["t", "u"],
             "ablations": ["m2", "first"], "seeds": [0, 1]},
    "teams": {"t": ["x", "y"], "u": ["y", "z"], "unused": ["q"]},
    "methods": {
        "single": {"operator": "none"},
        "prefix": {"operator": "prefix", "benchmarks": ["b2"]},
        "hidden_state": {"operator": "hidden_state"},
        "m2": {"operator": "hidden_state", "m": 2, "teams": ["t"]},
        "first": {"operator": "hidden_state", "pooling": "first_token", "teams": ["t"], "benchmarks": ["b1"]},
        "shuffled": {"operator": "hidden_state", "shuffled": True},
    },
    "adapter": {"m": 8, "latent_dim": 4, "num_heads": 2, "context_position": "end"},
    "features": {"sequence": "prompt", "pooling": "last_token"},
    "policy": {"model": "p", "dtype": "float32"},
    "numeric_threads": 1,
    "claims": {"gain": "b1"},
}  # fmt: skip


def changed(**blocks):
    config = copy.deepcopy(CONFIG)
    for block, values in blocks.items():
        config[block] |= values
    return config


def test_a_method_runs_with_the_grids_teams_or_its_own_and_without_one_where_it_reads_no_expert():
    runs = {run[:3] for run in grid.runs(CONFIG)}
    assert runs == {
        ("b1", "single", "none"), ("b2", "single", "none"), ("b2", "prefix", "none"),
        ("b1", "hidden_state", "t"), ("b1", "hidden_state", "u"), ("b2", "hidden_state", "t"),
        ("b2", "hidden_state", "u"), ("b1", "m2", "t"), ("b2", "m2", "t"), ("b1", "first", "t"),
    }  # fmt: skip
    assert len(grid.runs(CONFIG)) == 2 * len(runs)


def test_the_first_entry_that_matches_a_cell_decides_on_its_seeds():
    fewer = [
        {"teams": ["u"], "benchmarks": ["b1"], "seeds": [1]},
        {"teams": ["u"], "seeds": []},
        {"methods": ["single"], "seeds": [0, 7]},
    ]
    config = changed(grid={"fewer_seeds": fewer})
    assert grid.seeds_of(config, "b1", "hidden_state", "u") == [1]
    assert grid.seeds_of(config, "b2", "hidden_state", "u") == []
    assert grid.seeds_of(config, "b1", "single", "none") == [0]  # 7 is no seed of the grid
    assert grid.seeds_of(config, "b1", "hidden_state", "t") == [0, 1]
    assert grid.seeds_of(config, "b1", "prefix", "none") == []


def test_a_cell_that_is_not_run_stays_in_table_1_without_seeds():
    cells = {(c["benchmark"], c["method"], c["team"]): c["seeds"] for c in shown.table_cell(CONFIG)["cells"]}
    assert cells["b1", "prefix", "none"] == []
    assert cells["b2", "prefix", "none"] == [0, 1]
    assert len(cells) == 2 * (1 + 2 + 1)
    assert {run.method for run in shown.table_runs(CONFIG)} == {"single", "hidden_state", "prefix"}


def test_table_2_and_figure_6b_find_the_methods_that_differ_in_one_key():
    assert shown.variants(CONFIG, "pooling") == {"last_token": "hidden_state", "first_token": "first"}
    assert shown.variants(CONFIG, "m") == {8: "hidden_state", 2: "m2"}
    rows = shown.table2_cell(CONFIG)["rows"]
    assert [(row["benchmark"], row["team"], row["pooling"], row["seeds"]) for row in rows] == [
        ("b1", "t", "last_token", [0, 1]),
        ("b1", "t", "first_token", [0, 1]),
    ]
    points = shown.figure6b_cell(CONFIG)["points"]
    assert [(point["benchmark"], point["m"], point["method"]) for point in points] == [
        ("b1", 2, "m2"), ("b1", 8, "hidden_state"), ("b2", 2, "m2"), ("b2", 8, "hidden_state"),
    ]  # fmt: skip
    assert len(shown.figure6b_runs(CONFIG)) == 8


def test_a_cell_holds_the_blocks_that_its_operator_uses_with_the_methods_overrides():
    cell = grid.run_cell(CONFIG, "b1", "first", "t")
    assert cell["adapter"]["m"] == 8
    assert cell["features"] == {"sequence": "prompt", "pooling": "first_token", "shuffled": False}
    assert cell["experts"] == ["x", "y"]
    assert not {"text", "router"} & cell.keys()
    alone = grid.run_cell(CONFIG, "b1", "single", "none")
    assert not {"adapter", "features", "text", "router"} & alone.keys()
    assert "features" not in grid.run_cell(CONFIG, "b2", "prefix", "none")


@pytest.mark.parametrize(("method", "team"), [("single", "t"), ("hidden_state", "none"), ("prefix", "t")])
def test_a_run_with_a_team_that_its_operator_cannot_have_is_refused(method, team):
    with pytest.raises(ValueError, match=f"method {method} runs with team"):
        grid.run_cell(CONFIG, "b1", method, team)


def test_only_experts_of_runs_are_shown():
    assert shown.experts_shown(CONFIG) == [("b1", "x"), ("b1", "y"), ("b1", "z"), ("b2", "x"), ("b2", "y"), ("b2", "z")]


def test_what_is_harder_is_not_what_the_policy_solves_alone_and_all_that_claims_name_is_run():
    """A17 compares attention on the gain benchmark with that on harder ones; Figure 6a shows arithmetic and logic."""
    config = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text("utf-8"))
    claims = config["claims"]
    assert claims["harder"]
    assert not set(claims["harder"]) & {claims["gain"], *claims["saturated"]}
    assert {claims["gain"], *claims["lower_alone"]} == {"arithmetic", "logic"}
    measured = {(run.benchmark, run.team) for run in shown.attention_runs(config)}
    assert {(name, claims["team"]) for name in (claims["gain"], *claims["harder"], *claims["lower_alone"])} <= measured
