"""Which jobs the table of resources counts: all that run a model for the grid, each once, those for beside it too."""

import json

import results_grid as shown
import slices_jobs
import slices_results
from slices_grid import TeamRun
from test_config_check import PAPER

from slmcollab.report.slices_stages import Stages

GRID = {"benchmarks": ["b"], "methods": ["single", "hidden_state", "said"], "teams": ["t"], "seeds": [0, 1]}
CONFIG = {
    "grid": GRID,
    "teams": {"t": ["x", "y"]},
    "methods": {
        "single": {"operator": "none"},
        "hidden_state": {"operator": "hidden_state"},
        "said": {"operator": "hidden_state", "sequence": "completion"},
        "text": {"operator": "text"},
        "routing": {"operator": "routing", "encoder": "e"},
        "routing_hidden": {"operator": "routing_hidden"},
        "best_hidden": {"operator": "routing_hidden", "selection": "best"},
    },
    "adapter": {"m": 8, "context_position": "end"},
    "features": {"sequence": "prompt", "pooling": "last_token"},
    "text": {"answer_tokens": 8},
    "router": {"encoder": "mini", "selection": "learned"},
    "policy": {"model": "p", "dtype": "float32"},
    "numeric_threads": 1,
}
PROMPTS = [f"{expert}/b/{split}/prompt" for expert in "xy" for split in ("train", "test")]
TESTS = ["x/b/test", "y/b/test"]  # what the table of experts shows of every grid
BOTH = {*TESTS, "x/b/train", "y/b/train"}


def jobs(*methods):
    return shown.measured_jobs(CONFIG | {"grid": GRID | {"methods": list(methods)}})


def test_jobs_by_hand():
    runs = [f"b/{run}/seed{seed}" for run in ("single/none", "hidden_state/t", "said/t") for seed in (0, 1)]
    found = shown.measured_jobs(CONFIG)
    assert found["train_grpo"] == found["answer_problems"] == runs
    assert found["analyse_attention"] == runs[2:4]
    completions = [job.replace("/prompt", "/completion") for job in PROMPTS]
    assert sorted(found["extract_features"]) == sorted([*PROMPTS, *completions])
    assert sorted(found["generate_expert_answers"]) == sorted(BOTH)
    assert "embed_questions" not in found


def test_a_policy_alone_needs_no_expert():
    assert jobs("single").keys() == {"train_grpo", "answer_problems"}


def test_experts_are_read_as_the_method_says():
    assert jobs("hidden_state")["generate_expert_answers"] == TESTS
    assert set(jobs("text")["generate_expert_answers"]) == BOTH
    assert jobs("text")["extract_features"] == PROMPTS  # the probe's
    assert jobs("routing_hidden")["generate_expert_answers"] == TESTS
    assert set(jobs("best_hidden")["generate_expert_answers"]) == BOTH  # best alone on train


def test_an_encoder_embeds_both_splits():
    assert jobs("routing", "routing_hidden")["embed_questions"] == [
        *("e/b/train", "e/b/test"),
        *("mini/b/train", "mini/b/test"),
    ]


def test_the_cell_names_the_files_of_a_job():
    cell = slices_jobs.resources_cell(CONFIG | {"papers": ["musketeers"]})
    named = {"rule": "train_grpo", "job": cell["jobs"]["train_grpo"][0]}
    assert cell["log"].format(**named) == "results/logs/train_grpo/b/single/none/seed0.log"
    assert cell["resources"].format(**named) == "results/resources/train_grpo/b/single/none/seed0.resources.tsv"
    assert json.loads(json.dumps(cell)) == cell


def test_baselines_are_searched_trained_and_asked_by_rules_of_their_own():
    found = slices_jobs.measured_jobs(PAPER)
    assert [job for job in found["search_workflow"] if "math" in job] == [
        f"math/aflow/seed{seed}" for seed in (0, 1, 2)
    ]
    trained = {job.split("/")[1] for job in found["train_baseline"]}
    assert trained == {"magrpo", "maporl", "at_grpo"}
    assert "math/at_grpo/seed2" in found["train_baseline"]
    assert {"musique/mad/seed0/eval", "math/at_grpo_more_rounds/seed2/eval"} <= set(found["answer_with_baseline"])
    assert {job.split("/")[1] for job in found["answer_with_team"]} & {"mad", "aflow", "magrpo"} == set()
    assert "musique/cl/seed0/eval" in found["answer_with_team"]


def test_a_baseline_learns_in_a_stage_of_its_own():
    names = ("mad", "aflow", "maporl", "at_grpo_more_rounds")
    learned = {name: slices_jobs.learning(PAPER, TeamRun("math", name, 0)) for name in names}
    assert learned == {
        "mad": [],
        "aflow": [("searched", ("aflow", "search"))],
        "maporl": [("trained", ("maporl", "trained"))],
        "at_grpo_more_rounds": [("trained", ("at_grpo", "trained"))],
    }


def test_the_cell_of_budgets_names_the_same_jobs():
    cell = json.loads(json.dumps(slices_results.budgets_cell(PAPER)))
    runs = {(run["benchmark"], run["method"], run["seed"]): run for run in cell["runs"]}
    for name in ("qwen3_14b", "cl", "cl_no_step_scores", "se_rl", "aflow", "at_grpo", "at_grpo_more_rounds"):
        jobs = {}
        for rule, job in Stages(runs["math", name, 0], "").jobs(cell["jobs"]):
            jobs.setdefault(rule, []).append(job)
        of_one = {
            "benchmarks": ["math"],
            "systems": [name],
            "ablations": [],
            "controls": [],
            "sampled": [],
            "seeds": [0],
        }
        grid = {key: of_one.get(key, value) for key, value in PAPER["slices"]["grid"].items()}
        config = PAPER | {"slices": PAPER["slices"] | {"grid": grid}}
        expected = slices_jobs.measured_jobs(config)
        answered = {"answer_with_team", "answer_with_baseline"}
        assert jobs == {rule: found for rule, found in expected.items() if rule not in answered}
