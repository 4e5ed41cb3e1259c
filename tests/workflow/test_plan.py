"""What a user sees before anything runs: the paper grid's plan, refused configs, and what a job is started with."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checkout import REPOSITORY, planned_within
from hypothesis import HealthCheck, given, reject, settings
from test_config_check import TINY, checked, mutations

JOBS = {
    "download_model": 14,
    "download_problems": 1,
    "download_team_problems": 5,
    "generate_problems": 3,
    "extract_features": 64,  # 8 experts × 4 benchmarks × 2 splits, shared by teams, methods and seeds
    "generate_expert_answers": 24,  # the default team's 3 × 4 × 2, shared by text and routing
    "embed_questions": 8,
    "train_grpo": 120,  # 4 benchmarks × (hidden_state on 4 teams + 6 other methods) × 3 seeds
    "answer_problems": 120,
    "score_answers": 120,
    "sample_trajectories": 75,  # 5 benchmarks × 3 seeds × (the teacher, and the rounds of cl, w/o PD, homo_cl, se_rl)
    "qualify_trajectories": 15,
    "distill_team": 30,  # cl, whose controls share it, and homo_cl
    "score_steps": 60,
    "reward_steps": 90,  # cl, homo_cl, se_rl, w/o PD, w/o SLS, constant
    "refine_team": 90,
    "answer_with_team": 120,  # 5 benchmarks × (7 systems that learn × 3 seeds + 3 that do not)
    "search_workflow": 15,  # 5 benchmarks × 3 seeds
    "train_baseline": 45,  # of magrpo, maporl and at_grpo
    "answer_with_baseline": 120,  # of all seven, and of at_grpo in more rounds
    "score_team": 240,
    "make_musketeers_table1": 1,
    "make_slices_table1": 1,
    "make_table1": 1,
}
STAND_IN_CONDA = """#!/bin/sh
case "$*" in
  --version) echo conda 24.11.1 ;;
  "info --json") echo '{"conda_prefix": "/nonexistent", "platform": "linux-64", "conda_version": "24.11.1"}' ;;
  "config --get channel_priority --json") echo '{"get": {"channel_priority": "strict"}}' ;;
  *) exit 1 ;;
esac
"""


def dry_run(folder: Path, *arguments: str, path: str = "") -> str:
    command = [sys.executable, "-m", "snakemake", "--profile", "slurm", "--dry-run", "results/table1.csv", *arguments]
    environment = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr


def job_counts(output: str) -> dict[str, int]:
    table = output[output.rindex("Job stats:") :]
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE) if name != "total"}


@pytest.mark.alone
def test_the_paper_grid_is_planned_in_a_clean_clone_without_slurm_and_conda(clone):
    with planned_within(8):
        output = dry_run(clone.folder, "--sdm", "env-modules")
    assert job_counts(output) == JOBS
    for rule in ("train_grpo", "extract_features", "answer_problems"):
        asked = re.search(rf"^ *rule {rule}:\n(?: .*\n)*? +resources: (.*)$", output, re.MULTILINE)[1]
        assert "gpu=1" in asked.split(", ")
        assert re.search(r"mem_mb=\d{5}.*runtime=\d+", asked), asked


@pytest.mark.parametrize(
    ("profile", "trainings"), [("slurm", 150), ("workflow/profiles/tiny", 8), ("workflow/profiles/small", 2)]
)
def test_everything_of_each_scale_is_planned(clone, profile, trainings):
    command = [sys.executable, "-m", "snakemake", "all", "--dry-run", "--profile", profile, "--sdm", "env-modules"]
    done = subprocess.run(command, cwd=clone.folder, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    counts = job_counts(done.stdout + done.stderr)
    assert (counts["train_grpo"], counts["write_claims"]) == (trainings, 1)
    if "tiny" in profile:  # the demo is to take half an hour
        assert sum(counts.values()) <= 250


def test_the_gpu_model_of_a_site_reaches_every_rule_that_asks_for_a_gpu():
    rules = "".join(file.read_text() for file in sorted((REPOSITORY / "workflow/rules").glob("*.smk")))
    asking = [
        name
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", rules, re.MULTILINE)
        if "        gpu=1,\n" in body
    ]
    profile = (REPOSITORY / "workflow/profiles/slurm/profile.yaml").read_text()
    named = re.search(r"\?for rule in \((.*)\):", profile)[1]
    assert sorted(re.findall(r'"(\w+)"', named)) == sorted(asking)


def test_every_job_of_a_group_takes_the_gpu_or_a_turn():
    """Else Snakemake asks for the time of those that it thinks run side by side, which the plugin runs one by one."""
    rules = "".join(file.read_text() for file in sorted((REPOSITORY / "workflow/rules").glob("*.smk")))
    profile = (REPOSITORY / "workflow/profiles/slurm/profile.yaml").read_text()
    block = re.search(r"^groups:\n((?:  .*\n)+)", profile, re.MULTILINE)[1]
    members = re.findall(r"^  (\w+): \w+$", block, re.MULTILINE)
    taken = {
        name: set(re.findall(r"^        (gpu|turn)=1,$", body, re.MULTILINE))
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", rules, re.MULTILINE)
        if name in members
    }
    assert len(taken) == len(members) > 5
    assert all(taken.values()), taken
    assert taken["analyse_attention"] == {"gpu", "turn"}  # else it runs beside the scores of its own answers


def test_downloads_run_where_the_network_is():
    rules = "".join(file.read_text() for file in sorted((REPOSITORY / "workflow/rules").glob("*.smk")))
    online = {
        name: body
        for name, body in re.findall(r"^rule (\w+):\n((?:    .*\n|\n)+)", rules, re.MULTILINE)
        if "HF_HUB_OFFLINE=0" in body
    }
    assert set(online) == {"download_model", "download_problems"}
    assert all("    localrule: True\n" in body for body in online.values())


def test_the_paper_grid_is_planned_with_conda_environments(clone, tmp_path):
    conda = tmp_path / "bin/conda"
    conda.parent.mkdir()
    conda.write_text(STAND_IN_CONDA)
    conda.chmod(conda.stat().st_mode | stat.S_IXUSR)
    assert job_counts(dry_run(clone.folder, path=str(conda.parent))) == JOBS


def test_jobs_are_offline_with_a_fixed_hash_seed_and_get_more_at_the_second_attempt(clone):
    step = clone.folder / "workflow/slmcollab/steps/generate_problems.py"
    step.write_text(
        "import os\nprint(os.environ['HF_HUB_OFFLINE'], os.environ['PYTHONHASHSEED'])\nraise SystemExit(3)\n"
    )
    output = clone.snakemake("results/data/toy_sums/train.jsonl", "--retries", "1", fails=True)
    assert re.findall(
        r"^(?:local)?rule generate_problems:\n(?: .*\n)*? +resources: .*?mem_mb=(\d+)", output, re.MULTILINE
    ) == [
        "8000",
        "16000",
    ]
    assert (clone.run / "results/logs/generate_problems/toy_sums.log").read_text() == "1 0\n"


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["--config", "grpo={'lerning_rate': 1}"], ["grpo.lerning_rate", "learning_rate"]),
        (["--config", "data_seed=-3"], ["data_seed", "-3"]),
        (["--config", "numeric_threads=true"], ["numeric_threads"]),
        (["--directory", "runs/small"], ["runs/small is for workflow/config/small.yaml"]),
    ],
)
def test_a_refused_config_is_one_line_and_no_traceback(clone, given, names):
    output = clone.snakemake("--dry-run", "all", *given, fails=True)
    lines = [
        line
        for line in output.splitlines()
        if line and not line.startswith(("Using profile", "Config file", "Creating specified"))
    ]
    assert len(lines) == 1
    assert all(name in lines[0] for name in names), lines


@pytest.mark.parametrize("run", ["single/toy", "hidden_state/none"])
def test_a_run_that_no_method_has_is_refused_before_any_job(clone, run):
    output = clone.snakemake("--dry-run", f"results/musketeers/toy_sums/{run}/seed0/scores.json", fails=True)
    method, team = run.split("/")
    assert f"method {method} runs with team" in output
    assert f"not with {team}" in output


@pytest.mark.slow
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutations(checked(TINY)[0]))
def test_snakemake_plans_or_refuses_a_mutated_config(clone, config):
    try:
        text = yaml.safe_dump(config, allow_unicode=True)
    except yaml.YAMLError:
        reject()  # no file can say this
    (clone.folder / "config.yaml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "all", "--cores", "1", "--quiet", "rules", "reason"]
    done = subprocess.run(command, cwd=clone.folder, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    refused = checked(yaml.safe_load(text))[1]
    assert (done.returncode != 0) == bool(refused)
    assert all(line in done.stderr for line in refused)
