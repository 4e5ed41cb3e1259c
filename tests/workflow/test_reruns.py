"""Rerun exactness: what a change makes Snakemake plan after a finished run, each case beside its opposite."""

import dataclasses
import os
import random
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from halting import KILL, halting

RUNS = "results/musketeers/toy_sums"
TABLES = {"make_musketeers_table1", "make_table1"}
AFTER_TRAINING = {"answer_problems", "score_answers", "write_claims", "write_resources_table"}
FIGURES = {"plot_figure4", "plot_figure6a", "plot_figure6b"}
AFTER_HIDDEN_STATE = {*AFTER_TRAINING, *TABLES, *FIGURES, "analyse_attention", "make_table2"}
HIDDEN_STATE = [f"{RUNS}/hidden_state/toy/seed{seed}" for seed in (0, 1)]
FILES = 40  # opened or renamed by a training after its first checkpoint, at the least
ABLATIONS = [f"{RUNS}/hidden_state_{name}/toy/seed0" for name in ("m2", "first_token")]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, f"{old!r} is no longer in {file}"
    file.write_text(text.replace(old, new, 1))


def changed(checkout, tmp_path, **blocks):
    """Return the checkout with these config blocks on top of the micro grid."""
    extra = tmp_path / "extra.yaml"
    extra.write_text(yaml.safe_dump(blocks))
    return dataclasses.replace(checkout, configs=(*checkout.configs, extra))


def times(folder: Path) -> dict[str, int]:
    return {str(file.relative_to(folder)): file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}


def test_a_finished_run_has_nothing_to_do_even_in_a_moved_checkout(checkout):
    assert checkout.planned("all") == {}


def test_comments_and_docstrings_rerun_nothing(checkout):
    for file in (checkout.folder / "workflow/slmcollab").rglob("*.py"):
        if text := file.read_text():
            _, _, code = text.removeprefix('"""').partition('"""')
            code = re.sub(r'^    """[A-Z]', r'    """In other words, x', code, flags=re.MULTILINE)
            file.write_text(f'"""Another docstring."""\n# a comment\n\n{code}\n\n# another\n')
    commented = ("Snakefile", "config.yaml", "workflow/rules/*.smk", "workflow/schemas/*.yaml", "workflow/*/tiny.yaml")
    for file in [file for pattern in commented for file in checkout.folder.glob(pattern)]:
        file.write_text(f"# a comment\n{file.read_text()}# another\n")
    assert checkout.planned("all") == {}


def test_touching_every_file_reruns_nothing(checkout):
    for file in [
        *checkout.folder.rglob("workflow/**/*"),
        *checkout.run.glob("results/**/*"),
        *checkout.folder.glob("envs/*"),
        checkout.folder / "config.yaml",
        checkout.folder / "Snakefile",
    ]:
        os.utime(file)
    assert checkout.planned("all") == {}


def test_an_edit_of_the_adapter_reruns_its_trainings_but_no_feature_and_not_single(checkout):
    edit(
        checkout.folder / "workflow/slmcollab/context/hidden_state.py",
        "return ContextTokens(",
        "1 + 1\n        return ContextTokens(",
    )
    planned = checkout.planned("all")
    assert set(planned) == {"train_grpo", *AFTER_HIDDEN_STATE}
    assert planned["train_grpo"] == {f"{run}/adapter" for run in [*HIDDEN_STATE, *ABLATIONS]}
    assert planned["score_answers"] == {f"{run}/scores.json" for run in [*HIDDEN_STATE, *ABLATIONS]}


@pytest.mark.parametrize("block", [{"router": {"entropy_bonus": 0.5}}, {"text": {"answer_tokens": 4}}], ids=str)
def test_a_setting_of_routing_reruns_what_routes(checkout, tmp_path, block):
    planned = changed(checkout, tmp_path, **block).planned("all")
    assert set(planned) == {"train_grpo", *AFTER_TRAINING, *TABLES}
    assert planned["train_grpo"] == {f"{RUNS}/routing/toy/seed0/adapter"}


def test_another_budget_of_experts_answers_reruns_them_and_who_reads_them(checkout, tmp_path):
    planned = changed(checkout, tmp_path, expert_answers={"max_new_tokens": 3}).planned("all")
    assert planned["train_grpo"] == {f"{RUNS}/routing/toy/seed0/adapter"}
    assert {"generate_expert_answers", "score_expert_answers", "write_expert_table"} <= set(planned)
    assert "extract_features" not in planned


def test_an_edit_of_a_metric_of_experts_retrains_nothing(checkout):
    (checkout.folder / "workflow/slmcollab/report/expert_table.py").open("a").write("\nEDITED = True\n")
    assert set(checkout.planned("all")) == {"write_expert_table"}


def test_an_edit_of_a_grader_reruns_trainings_and_scores_but_neither_data_nor_features(checkout):
    (checkout.folder / "workflow/slmcollab/scoring/exact.py").open("a").write("\nEDITED = True\n")
    planned = checkout.planned("all")
    assert set(planned) == {"train_grpo", "score_expert_answers", "write_expert_table", *AFTER_HIDDEN_STATE}
    assert len(planned["train_grpo"]) == 7


def test_an_edit_of_another_grader_reruns_nothing(checkout):
    (checkout.folder / "workflow/slmcollab/scoring/number.py").open("a").write("\nEDITED = True\n")
    assert checkout.planned("all") == {}


def test_an_edit_of_the_figure_redraws_it_alone(checkout):
    (checkout.folder / "workflow/slmcollab/report/figure4_drawing.py").open("a").write("\nEDITED = True\n")
    assert set(checkout.planned("all")) == {"plot_figure4"}


def test_a_new_seed_adds_only_its_own_jobs(checkout, tmp_path):
    planned = changed(checkout, tmp_path, grid={"seeds": [0, 1, 2]}).planned("all")
    assert set(planned) == {"train_grpo", *AFTER_HIDDEN_STATE}
    assert planned["train_grpo"] == {f"{RUNS}/single/none/seed2/adapter", f"{RUNS}/hidden_state/toy/seed2/adapter"}


def test_a_new_team_adds_only_its_own_jobs(checkout, tmp_path):
    planned = changed(
        checkout, tmp_path, grid={"teams": ["toy", "pair"]}, teams={"pair": ["toy_math", "toy_naive"]}
    ).planned("all")
    assert planned["train_grpo"] == {f"{RUNS}/hidden_state/pair/seed{seed}/adapter" for seed in (0, 1)}
    assert planned["extract_features"] == {
        f"results/experts/toy_naive/toy_sums/{split}/prompt.safetensors" for split in ("train", "test")
    }
    assert planned["train_toy_model"] == {"results/models/toy_naive/weights"}
    assert "generate_problems" not in planned


def test_a_new_pooling_recomputes_no_feature(checkout, tmp_path):
    ablations = ["hidden_state_m2", "hidden_state_first_token", "hidden_state_first_layer"]
    planned = changed(checkout, tmp_path, grid={"ablations": ablations}).planned("all")
    assert set(planned) == {"train_grpo", "make_table2", *AFTER_TRAINING}
    assert planned["train_grpo"] == {f"{RUNS}/hidden_state_first_layer/toy/seed{seed}/adapter" for seed in (0, 1)}


def test_swapping_two_values_reruns_the_cells_that_hold_them(checkout, tmp_path):
    grid = {"ablations": ["hidden_state_first_token"]}  # m2 would be the base itself, and is refused
    planned = changed(checkout, tmp_path, adapter={"num_heads": 4, "m": 2}, grid=grid).planned("all")
    assert planned["train_grpo"] == {f"{run}/adapter" for run in [*HIDDEN_STATE, ABLATIONS[1]]}
    assert "extract_features" not in planned


def test_another_interval_of_checkpoints_reruns_nothing(checkout, tmp_path):
    assert changed(checkout, tmp_path, grpo={"save_every": 1}).planned("all") == {}


def test_the_order_of_config_keys_does_not_matter(checkout, tmp_path):
    text = yaml.safe_load((checkout.folder / "config.yaml").read_text())
    backwards = {
        key: dict(reversed(value.items())) if isinstance(value, dict) else value
        for key, value in reversed(text.items())
    }
    (checkout.folder / "config.yaml").write_text(yaml.safe_dump(backwards, sort_keys=False))
    assert checkout.planned("all") == {}


def test_a_removed_seed_is_not_averaged_from_stale_files(checkout, tmp_path):
    narrowed = changed(checkout, tmp_path, grid={"seeds": [0]})
    assert set(narrowed.planned("all")) == {*TABLES, *FIGURES, "make_table2", "write_claims", "write_resources_table"}
    narrowed.snakemake("all")
    assert set(pd.read_csv(checkout.run / "results/musketeers/table2.csv")["n_seeds"]) == {1}
    assert (checkout.run / f"{RUNS}/single/none/seed1/scores.json").exists()
    before = pd.read_csv(checkout.run / "results/table1.csv")
    assert set(before["n_seeds"]) == {1}
    assert before["std"].isna().all()


def test_one_seed_again_in_one_call_leaves_the_other_seeds_alone(checkout):
    again = f"{RUNS}/hidden_state/toy/seed1"
    before, table = times(checkout.run / "results"), (checkout.run / "results/table1.csv").read_bytes()
    checkout.snakemake("results/table1.csv", "--forcerun", f"{again}/adapter")
    after = times(checkout.run / "results")
    redone = {name for name in before if before[name] != after[name] and not name.startswith(("logs/", "resources/"))}
    own = {
        f"{again}/{name}".removeprefix("results/")
        for name in ("run.json", "history.csv", "answers.jsonl", "answering.json", "scores.json")
    }
    others = {name for name in redone if "/adapter/" in name and not name.startswith(again.removeprefix("results/"))}
    assert not others
    assert {name for name in redone if "/adapter/" not in name} == own | {
        "musketeers/table1.csv",
        "musketeers/table1.html",
        "musketeers/table1.tex",
        "table1.csv",
        "table1.html",
        "table1.provenance.json",
    }
    assert (checkout.run / "results/table1.csv").read_bytes() == table


def test_one_seed_forced_alone_ends_byte_equal_so_that_the_tables_have_nothing_to_do(checkout):
    again = f"{RUNS}/hidden_state/toy/seed1/scores.json"
    checkout.snakemake(again, "--forcerun", "train_grpo")
    assert checkout.planned("all") == {}


def test_one_seed_of_a_fresh_run_pulls_in_only_what_it_needs(checkout):
    shutil.rmtree(checkout.run)
    planned = checkout.planned(f"{RUNS}/hidden_state/toy/seed1/scores.json")
    assert planned["train_grpo"] == {f"{RUNS}/hidden_state/toy/seed1/adapter"}
    assert {rule: len(jobs) for rule, jobs in planned.items()} == {
        "write_toy_corpus": 5, "train_toy_model": 3, "generate_problems": 1, "extract_features": 4,
        "train_grpo": 1, "answer_problems": 1, "score_answers": 1,
    }  # fmt: skip


def test_a_run_that_was_lost_after_it_was_scored_is_noticed(checkout):
    lost = checkout.run / f"{RUNS}/hidden_state/toy/seed1"
    for name in ("run.json", "history.csv"):
        (lost / name).unlink()
    shutil.rmtree(lost / "adapter")
    assert checkout.planned("tables")["train_grpo"] == {f"{RUNS}/hidden_state/toy/seed1/adapter"}


def test_a_deleted_picture_is_redrawn_without_training(checkout):
    picture = checkout.run / "results/musketeers/figure4.png"
    kept = picture.read_bytes()
    picture.unlink()
    assert set(checkout.planned("figures")) == {"plot_figure4"}
    checkout.snakemake("figures")
    assert picture.read_bytes() == kept


def test_rebuilt_tables_and_figures_are_byte_equal(checkout):
    results = checkout.run / "results"
    names = [
        "table1.csv",
        "table1.provenance.json",
        *(f"musketeers/{name}" for name in ("table1.tex", "table2.csv", "table2.tex", "claims.csv")),
        *(f"musketeers/{name}" for name in ("table_probe.csv", "table_experts.csv")),
        *(
            f"musketeers/{figure}.{end}"
            for figure in ("figure4", "figure6a", "figure6b")
            for end in ("pdf", "png", "csv")
        ),
    ]
    kept = {name: (results / name).read_bytes() for name in names}
    checkout.snakemake(
        "all", "--forcerun", *TABLES, *FIGURES, "make_table2", "write_claims", "write_probe_table", "write_expert_table"
    )
    assert kept == {name: (results / name).read_bytes() for name in names}


def test_every_file_of_a_run_is_a_declared_output_a_log_or_a_measurement(finished):
    results = finished.run / "results"
    summary = finished.snakemake("all", "--summary")
    declared = [finished.run / line.split("\t")[0] for line in summary.splitlines() if line.startswith("results/")]
    folders = tuple(f"{path}/" for path in declared if path.is_dir())
    strays = [
        file
        for file in results.rglob("*")
        if file.is_file()
        and file not in declared
        and not str(file).startswith(folders)
        and file.relative_to(results).parts[0] not in ("logs", "resources")
        and file.name != ".snakemake_timestamp"
    ]
    assert strays == []
    assert not (finished.run / "checkpoints").exists() or not any((finished.run / "checkpoints").rglob("checkpoint-*"))


@pytest.mark.slow
def test_a_killed_training_started_again_ends_with_the_same_weights(checkout, tmp_path):
    """SIGKILL at a random moment after a checkpoint, then Snakemake again, against a run that nobody disturbed."""
    longer = changed(checkout, tmp_path, grpo={"max_steps": 40, "save_every": 5})
    target = f"{RUNS}/hidden_state/toy/seed1"
    names = ["history.csv", "run.json", "adapter/adapter_model.safetensors"]
    longer.snakemake(f"{target}/history.csv")
    undisturbed = {name: (checkout.run / target / name).read_bytes() for name in names}

    with halting(
        checkout.folder / "workflow", "train_grpo", "*/checkpoint-5/complete.json", KILL, files=random.randrange(FILES)
    ):
        longer.snakemake(f"{target}/history.csv", "--forcerun", "train_grpo", fails=True)
    assert not (checkout.run / target / "history.csv").exists()

    longer.snakemake(f"{target}/history.csv")
    log = checkout.run / "results/logs/train_grpo" / Path(target).relative_to("results/musketeers")
    steps = re.findall(r"^step (\d+)/40", log.with_suffix(".log").read_text(), re.MULTILINE)
    assert int(steps[0]) > 5, "the second start goes on from a checkpoint"
    assert undisturbed == {name: (checkout.run / target / name).read_bytes() for name in names}
