"""One small run of every rule of slices: what an edit reruns, what a killed job leaves, that a rebuild is the same."""

import json
import re
import shutil
import signal

import jsonschema
import pytest
import yaml
from behind import NOTED, split_files, unnoticed
from checkout import REPOSITORY, Checkout, copy_checkout
from halting import KILL_ALL, halting

pytestmark = pytest.mark.slow
CONFIG = REPOSITORY / "tests/workflow/micro_slices.yaml"
RUNS = "results/slices/toy_gsm_hard"
SCHEMA = yaml.safe_load((REPOSITORY / "workflow/schemas/provenance.schema.yaml").read_text())


@pytest.fixture(scope="session")
def finished_slices(tmp_path_factory) -> Checkout:
    """A checkout with a finished micro grid of slices; do not change it, copy it (fixture `slices`)."""
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("slices") / "slmcollab"), (CONFIG,))
    checkout.snakemake("all")
    return checkout


@pytest.fixture
def slices(finished_slices, tmp_path) -> Checkout:
    return Checkout(shutil.copytree(finished_slices.folder, tmp_path / "moved", symlinks=True), (CONFIG,))


def planned(checkout: Checkout, *arguments: str) -> set[str]:
    """Return the rules that would run, but for those that only collect."""
    output = checkout.snakemake("all", "--dry-run", *arguments)
    return set(re.findall(r"^(?:local)?rule (\w+):", output, re.MULTILINE)) - {"all", "write_run_record"}


def edit(checkout: Checkout, module: str, old: str, new: str) -> None:
    file = checkout.folder / "workflow/slmcollab" / module
    text = file.read_text()
    assert old in text, f"{module} no longer holds {old!r}"
    file.write_text(text.replace(old, new, 1))


TABLES = {
    *("make_slices_table1", "make_table1", "write_roles_table", "write_retention_table", "write_overlap_table"),
    *("write_funnel_table", "write_budgets_table", "write_slices_claims", "write_resources_table"),
    *("plot_slices_figure3", "plot_slices_figure4", "plot_slices_figure5"),
}


def test_nothing_is_left_to_do(slices):
    assert planned(slices) == set()


def test_every_stage_left_its_records(finished_slices):
    run = finished_slices.run / RUNS
    calls = {path.parent.relative_to(run).as_posix() for path in run.rglob("calls.parquet")}
    assert calls >= {"homo_mas/seed0/teacher", "cl/seed0/round1", "cl/seed0/eval", "cl/seed0/eval_sampled"}
    training = json.loads((run / "cl/seed0/round1/training.json").read_text())
    assert set(training["slots"]) == {"a1", "a2", "a3"}
    assert training["before"]["stage"] == "distilled"
    evaluation = json.loads((run / "cl/seed0/round1/evaluation.json").read_text())
    assert evaluation["step_scorer"] == "oracle"
    assert evaluation["num_trajectories"] == round(0.2 * 40)
    assert evaluation["num_scored"] + evaluation["num_dropped"] == 8
    assert evaluation["num_calls"] == 8 + evaluation["num_retries"]
    assert not (run / "cl_no_step_scores/seed0/round1/step_scores.jsonl").exists()


def test_what_is_behind_table1_is_checked_to_the_byte_and_has_its_form(slices):
    record = json.loads((slices.run / "results/table1.provenance.json").read_text())
    jsonschema.validate(record, SCHEMA)
    others = ("slices/*.html", "slices/*.tex", "slices/table_*", "slices/claims.csv", "slices/figure*")
    by_the_way = ("*/cl/seed0/eval_sampled/*",)
    assert split_files(slices.run, (*NOTED, *others, *by_the_way)) == (set(), set(), set())
    assert unnoticed(slices.run) == []


def test_a_comment_reruns_nothing_and_a_grader_what_it_grades(slices):
    edit(slices, "scoring/gsm_hard.py", "\nimport", "\n# A comment.\nimport")
    assert planned(slices) == set()
    edit(slices, "scoring/gsm_hard.py", "1e-3", "2e-3")
    # No trajectory is sampled and no step is scored again for its own sake: they follow what is learned from grades.
    assert "qualify_trajectories" in planned(slices)
    sampled = slices.snakemake("all", "--dry-run", "--until", "sample_trajectories")
    assert "seed0/round1/calls.parquet" in sampled
    assert "seed0/teacher/calls.parquet" not in sampled


def test_an_edit_of_a_figure_redraws_it_alone(slices):
    edit(slices, "report/slices_figure5_drawing.py", "def ", "UNUSED = 1\n\n\ndef ")
    assert planned(slices) == {"plot_slices_figure5"}


def test_an_edit_of_the_loss_trains_again_and_samples_no_teacher(slices):
    edit(slices, "supervision/losses.py", "from jaxtyping", "UNUSED = 1\nfrom jaxtyping")
    found = planned(slices)
    assert {"distill_team", "refine_team", "answer_with_team"} <= found
    assert not found & {"qualify_trajectories", "train_toy_member", "write_lessons", "generate_team_problems"}


def test_a_clip_concerns_refinement_alone(slices):
    changed = slices.folder / "clip.yaml"
    changed.write_text("slices: {refine: {clip: null}}\n")
    again = Checkout(slices.folder, (CONFIG, changed))
    assert planned(again) == {"refine_team", "answer_with_team", "score_team", *TABLES}


def test_an_edit_of_a_method_concerns_its_row_alone(slices):
    edit(slices, "teams/mad.py", "\nSETTINGS", "\nUNUSED = 1\nSETTINGS")
    found = slices.planned("all")
    assert found["answer_with_baseline"] == {f"{RUNS}/mad/seed0/eval/calls.parquet"}
    assert found["score_team"] == {f"{RUNS}/mad/seed0/eval/scores.json"}
    assert set(found) == {
        "answer_with_baseline",
        "score_team",
        *TABLES - {"plot_slices_figure3", "plot_slices_figure5"},
    }


def test_an_edit_of_a_prompt_concerns_the_methods_that_show_it(slices):
    prompt = slices.folder / "workflow/prompts/toy_marl.txt"
    prompt.write_text(prompt.read_text() + "\n")
    found = slices.planned("all")
    assert found["train_baseline"] == {f"{RUNS}/magrpo/seed0/trained/adapters"}
    assert "search_workflow" not in found
    assert found["answer_with_baseline"] == {f"{RUNS}/magrpo/seed0/eval/calls.parquet"}


def test_an_edit_of_the_search_does_not_train_again(slices):
    edit(slices, "search/tree.py", "\ndef ", "\nUNUSED = 1\n\n\ndef ")
    found = slices.planned("all")
    assert "train_baseline" not in found
    assert found["search_workflow"] == {f"{RUNS}/aflow/seed0/search/workflow.json"}


def kill_all(slices: Checkout, target: str, step: str, moment: str) -> None:
    """Make a target, and kill Snakemake and all its jobs when a step has such a checkpoint."""
    with halting(slices.folder / "workflow", step, moment, KILL_ALL):
        assert slices.start(target, "--nolock", start_new_session=True).wait() == -signal.SIGKILL


def test_a_killed_training_of_policies_goes_on_and_ends_with_the_same_weights(slices, finished_slices):
    target = f"{RUNS}/magrpo/seed0/trained/adapters"
    shutil.rmtree(slices.run / target)
    log = slices.run / "results/logs/train_baseline/toy_gsm_hard/magrpo/seed0.log"
    kill_all(slices, target, "train_baseline", "*/checkpoint-2/complete.json")
    slices.snakemake(target, "--nolock")
    assert re.findall(r"^iteration (\d):", log.read_text(), re.MULTILINE) == ["3", "4", "5", "6"]
    for name in ("adapters/a1/adapter_model.safetensors", "history.csv", "calls.parquet"):
        made, before = (checkout.run / RUNS / "magrpo/seed0/trained" / name for checkout in (slices, finished_slices))
        assert made.read_bytes() == before.read_bytes(), name


def test_a_rebuild_gives_the_same_bytes(slices, finished_slices, warm):
    """And so does a warm `python`, on which long grids of other tests rest."""
    shutil.rmtree(slices.run / "results/slices")  # a table that is there would be up to date without its runs
    warmly = Checkout(slices.folder, slices.configs, (warm,))
    warmly.snakemake("results/slices/table1.csv", "results/slices/table_roles.csv", "--cores", "1")
    for name in ("table1.csv", "table_roles.csv"):
        made, before = (checkout.run / "results/slices" / name for checkout in (slices, finished_slices))
        assert made.read_bytes() == before.read_bytes()
    for name in ("eval/calls.parquet", "eval/answers.jsonl", "round1/rewards.jsonl"):
        made, before = (checkout.run / RUNS / "cl/seed0" / name for checkout in (slices, finished_slices))
        assert made.read_bytes() == before.read_bytes(), name


def test_a_killed_sampling_goes_on_and_ends_with_the_same_records(slices, finished_slices):
    target = f"{RUNS}/cl/seed0/round1/calls.parquet"
    stage = slices.run / "checkpoints/slices/toy_gsm_hard/cl/seed0/round1"
    (slices.run / target).unlink()
    kill_all(slices, target, "sample_trajectories", "*/wave-0000/complete.json")
    assert [wave.name for wave in stage.glob("*/wave-*")] == ["wave-0000"]
    slices.snakemake(target, "--nolock")
    assert (slices.run / target).read_bytes() == (finished_slices.run / target).read_bytes()
    assert not stage.exists()
