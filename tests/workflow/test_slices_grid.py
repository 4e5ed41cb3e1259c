"""The grid of slices: which stages a system goes through, which it shares, and what each job's cell holds."""

import json

import pytest
import slices_cells as cells
import slices_grid as slices
import slices_results as shown
from test_config_check import PAPER


def grid(**changes):
    config = json.loads(json.dumps(PAPER))
    config["slices"]["grid"] |= changes
    return config


def test_systems_that_start_from_cl_share_its_stages_up_to_the_first_sampling():
    for system in ("cl", "cl_no_step_scores", "cl_constant_reward", "cl_distilled"):
        assert slices.distilled(PAPER, system) == slices.Stage("cl", "distilled")
        assert slices.sampled_at(PAPER, system, 1) == slices.Stage("cl", "round1")
        assert slices.models_of(PAPER, system) == ["qwen3-1.7b", "qwen3-4b", "qwen3-8b"]
    assert slices.sampled_at(PAPER, "cl_constant_reward", 2) == slices.Stage("cl_constant_reward", "round2")


@pytest.mark.parametrize(
    ("system", "stage", "expected"),
    [
        ("homo_mas", "teacher", None),
        ("cl", "round1", ("cl", "distilled")),
        ("cl", "eval", ("cl", "round1")),
        ("cl_no_step_scores", "eval", ("cl_no_step_scores", "round1")),
        ("cl_no_step_scores", "round1", ("cl", "distilled")),
        ("cl_distilled", "eval_sampled", ("cl", "distilled")),
        ("cl_no_distillation", "round1", None),
        ("cl_no_distillation", "eval", ("cl_no_distillation", "round1")),
        ("cl_no_training", "eval", None),
        ("homo_cl", "eval", ("homo_cl", "round1")),
        ("se_rl", "eval", ("se_rl", "round1")),
        ("qwen3_14b", "eval", None),
    ],
)
def test_a_stage_starts_with_the_adapters_of_the_stage_before(system, stage, expected):
    found = slices.before(PAPER, system, stage)
    assert (tuple(found) if found else None) == expected


def test_a_later_round_starts_with_the_adapters_of_the_round_before():
    config = grid()
    config["slices"]["refine"]["rounds"] = 3
    assert slices.before(config, "cl", "round3") == slices.Stage("cl", "round2")
    assert slices.before(config, "cl", "eval") == slices.Stage("cl", "round3")
    kinds = [(kind, stage.stage) for kind, stage in shown.learning(config, slices.TeamRun("musique", "cl", 0))]
    assert kinds[:2] == [("teacher", "teacher"), ("distilled", "distilled")]
    assert kinds[2:5] == [("sampled", "round1"), ("scored", "round1"), ("round", "round1")]
    assert len(kinds) == 2 + 3 * 3


def test_only_step_scores_need_an_evaluator():
    run = slices.TeamRun("musique", "cl_constant_reward", 0)
    assert [kind for kind, _ in shown.learning(PAPER, run)] == ["teacher", "distilled", "sampled", "round"]


def test_cells_hold_what_a_job_reads_and_no_more():
    answer = cells.answer_cell(PAPER, "math", "cl", "eval")
    assert (answer["protocol"]["temperature"], answer["samples"]) == (0, 1)
    assert cells.answer_cell(PAPER, "math", "cl", "eval_sampled")["protocol"]["temperature"] == 0.9
    assert cells.sample_cell(PAPER, "multipl_e", "cl", "round1")["protocol"]["max_new_tokens"] == 1536
    assert answer["sizes"] == {"qwen3-1.7b": 1.7, "qwen3-4b": 4.0, "qwen3-8b": 8.0}
    for cell in (answer, cells.distill_cell(PAPER, "math", "cl")):
        assert not {"scorer", "alpha", "evaluator"} & cell.keys()
    assert "save_every" not in cells.distill_cell(PAPER, "math", "cl")["training"]
    assert cells.refine_cell(PAPER, "math", "cl_clipped", "1")["training"]["clip"] == 0.2
    assert cells.refine_cell(PAPER, "math", "cl", "1")["training"]["clip"] is None
    assert cells.reward_cell(PAPER, "conifer", "cl_no_step_scores")["reward"] == "task"
    assert cells.answer_cell(PAPER, "math", "qwen3_14b", "eval")["protocol"]["actions"] is False


def test_a_cell_without_seeds_keeps_its_row():
    config = grid(fewer_seeds=[{"systems": ["homo_cl"], "benchmarks": ["math"], "seeds": []}])
    table = shown.table_cell(config)["cells"]
    assert [cell["seeds"] for cell in table if (cell["benchmark"], cell["method"]) == ("math", "homo_cl")] == [[]]
    assert not [run for run in slices.team_runs(config) if (run.benchmark, run.system) == ("math", "homo_cl")]


def test_the_paper_grid_of_slices():
    runs = slices.team_runs(PAPER)
    assert len(set(runs)) == len(runs)
    untrained = {run.seed for run in runs if run.system in ("qwen3_14b", "homo_mas", "cl_no_training")}
    assert untrained == {0}  # greedy answers of models that do not learn are the same for every seed
    assert {run.seed for run in runs if run.system == "cl"} == {0, 1, 2}


def test_a_run_says_whether_its_system_varies_between_seeds():
    varies = {run["method"]: run["varies"] for run in shown.claims_cell(PAPER)["runs"]}
    assert {system for system, other in varies.items() if not other} == {"qwen3_14b", "homo_mas", "cl_no_training"}


def test_figure3_shows_controls_of_cl_and_no_baseline():
    shown_there = {run.system for run in shown.figure3_runs(PAPER)}
    assert "cl_constant_reward" in shown_there
    assert "at_grpo_more_rounds" not in shown_there
    assert "at_grpo_more_rounds" in {run["method"] for run in shown.retention_cell(PAPER)["runs"]}


def test_figure4_and_the_budgets_table_have_the_same_models_and_sizes():
    figure, table = shown.figure4_cell(PAPER), shown.budgets_cell(PAPER)
    assert figure["sizes"] == table["sizes"]
    assert set(figure["models"]) == {model for run in table["runs"] for model in run["models"]}
