"""Without a network: what lacks a model or a data set says so at once; with a filled cache nothing asks for one."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
import yaml
from checkout import REPOSITORY, Checkout
from no_network import REASON, attempts, permitted, without_network

from slmcollab.artifacts import read_json, read_jsonl
from slmcollab.experts.features import read_header
from slmcollab.models import toy
from slmcollab.models.toy_tokenizer import build_tokenizer

CONFIG = yaml.safe_load((REPOSITORY / "config.yaml").read_text())
MODEL, DATA = CONFIG["models"]["llama-3.2-3b-instruct"], CONFIG["benchmarks"]["gsm8k"]["source"]
OTHER = "0" * 40  # a commit that nobody asked for
CARD = """---
configs:
- config_name: main
  data_files: [{split: train, path: main/train-*}, {split: test, path: main/test-*}]
- config_name: socratic
  data_files: socratic/*
---
"""
# A module that Python imports when a job starts: it notes how many seconds the job wants to sleep.
SLEEPS = """\
import time

sleep = time.sleep


def noted(seconds):
    with open({file!r}, "a") as file:
        file.write(f"{{seconds}}\\n")
    sleep(seconds)


time.sleep = noted
time.sleep(0)
"""
SMALL = {
    "benchmarks": {
        "gsm8k": {"num_train": 3, "num_test": 2},
        **{name: {"num_train": 6, "num_test": 4} for name in ("arithmetic", "logic", "algorithmic")},
    }
}


def run(clone: Checkout, cache: Path, *arguments: str) -> tuple[subprocess.CompletedProcess, int]:
    """Run the workflow without a network; return what came of it and how often something asked for one."""
    if not permitted():
        pytest.skip(REASON)
    counters = cache.with_name("counters")
    secret = {
        "HF_TOKEN",
        "HF_TOKEN_PATH",
        "HUGGING_FACE_HUB_TOKEN",
        "HF_HUB_OFFLINE",
        "HF_HUB_CACHE",
        "HF_DATASETS_CACHE",
    }
    environment = {name: value for name, value in clone.environment().items() if name not in secret}
    environment |= {"HF_HOME": str(cache)}
    words = [sys.executable, "-m", "snakemake", "--cores", "2", "--keep-going", *arguments]
    command = without_network(words, counters)
    done = subprocess.run(command, cwd=clone.folder, env=environment, capture_output=True, text=True, timeout=900)
    return done, attempts(counters)


def log(clone: Checkout, name: str) -> str:
    return (clone.folder / "results/logs" / f"{name}.log").read_text()


def fill_models(cache: Path) -> None:
    """Lay down a model in the layout of the hub's cache, files as links to blobs."""
    folder = cache / "hub" / f"models--{MODEL['id'].replace('/', '--')}"
    snapshot, blobs, tokenizer = folder / "snapshots" / MODEL["revision"], folder / "blobs", build_tokenizer()
    toy.build_model(toy.Architecture("qwen2", 8, 2, 2), tokenizer, seed=0).save_pretrained(blobs)
    tokenizer.save_pretrained(blobs)
    snapshot.mkdir(parents=True)
    for file in blobs.iterdir():
        (snapshot / file.name).symlink_to(os.path.relpath(file, snapshot))


def fill_data(cache: Path) -> None:
    """Lay down two commits of a data set, the one that nobody asked for last; the other lacks a configuration."""
    folder = cache / "hub" / f"datasets--{DATA['id'].replace('/', '--')}" / "snapshots"
    for revision, start in ((DATA["revision"], 0), (OTHER, 50)):
        (folder / revision / "main").mkdir(parents=True)
        (folder / revision / "README.md").write_text(CARD)
        for split, count in (("train", 3), ("test", 2)):
            rows = [{"question": f"What is {start + n} + 1?", "answer": f"#### {start + n + 1}"} for n in range(count)]
            pandas.DataFrame(rows).to_parquet(folder / revision / "main" / f"{split}-00000-of-00001.parquet")


def test_without_network_and_cache_each_download_fails_at_once_and_names_what_fetches_it(clone, tmp_path):
    targets = ["results/models/qwen3-1.7b/manifest.json", "results/data/gsm8k/manifest.json"]
    (clone.folder / "workflow/sitecustomize.py").write_text(SLEEPS.format(file=str(tmp_path / "slept")))
    done, asked = run(clone, tmp_path / "cache", *targets, "--retries", "2")
    slept = [float(line) for line in (tmp_path / "slept").read_text().splitlines()]
    assert slept.count(0) == 2  # by the two downloads, when they started
    assert sum(slept) < 1  # the hub's client would wait half a minute between its tries
    assert done.returncode != 0
    assert asked > 0  # it was tried, once: no second attempt
    assert len(re.findall(r"^(?:local)?rule download_\w+:", done.stdout + done.stderr, re.MULTILINE)) == 2
    model = CONFIG["models"]["qwen3-1.7b"]
    for key, file, what in (
        ("models.qwen3-1.7b", "download_model/qwen3-1.7b", f"{model['id']} (revision {model['revision']})"),
        ("benchmarks.gsm8k", "download_problems/gsm8k", f"{DATA['id']} (main, revision {DATA['revision']})"),
    ):
        said = log(clone, file)
        assert f"{key}: {what} is not in the local cache and the hub did not deliver it (ConnectError" in said
        assert "Retrying" not in said
        command = re.search(r"Fetch it where there is internet access: `(.*)`", said)[1]
        plan = [sys.executable, "-m", *shlex.split(command), "--sdm", "env-modules", "--dry-run"]
        planned = subprocess.run(plan, cwd=clone.folder, env=clone.environment(), capture_output=True, text=True)
        assert planned.returncode == 0, planned.stderr
        assert f"rule {file.partition('/')[0]}:" in planned.stdout + planned.stderr


def test_one_command_fetches_all_that_the_grid_needs(clone):
    """Targets come before --until, which takes all that follows it."""
    words = "snakemake --profile slurm all --until download_model download_problems download_team_problems"
    plan = [sys.executable, "-m", *words.split(), "--sdm", "env-modules", "--dry-run", "--quiet", "rules"]
    done = subprocess.run(plan, cwd=clone.folder, env=clone.environment(), capture_output=True, text=True)
    counts = dict(re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE))
    of_hub = sum(block["source"] == "hub" for block in CONFIG["models"].values())
    assert (int(counts["download_model"]), int(counts["download_problems"])) == (of_hub, 1)
    assert counts["total"] == str(of_hub + 1 + int(counts["download_team_problems"]))


def test_with_a_filled_cache_nothing_asks_for_a_network(clone, tmp_path):
    """A gated model without a token, a data set at the pinned commit, problems of Reasoning Gym, and a job on both."""
    fill_models(tmp_path / "cache")
    fill_data(tmp_path / "cache")
    (clone.folder / "small.yaml").write_text(yaml.safe_dump(SMALL | {"extraction": {"dtype": "float32"}}))
    features = "results/experts/llama-3.2-3b-instruct/gsm8k/test/prompt.safetensors"
    targets = [features, *(f"results/data/{name}/manifest.json" for name in ("arithmetic", "logic", "algorithmic"))]
    done, asked = run(clone, tmp_path / "cache", *targets, "--configfile", "small.yaml")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert asked == 0
    questions = [row["question"] for row in read_jsonl(clone.folder / "results/data/gsm8k/train.jsonl")]
    assert questions == ["What is 0 + 1?", "What is 1 + 1?", "What is 2 + 1?"]
    manifest = read_json(clone.folder / "results/models/llama-3.2-3b-instruct/manifest.json")
    assert (manifest["id"], manifest["revision"], manifest["hidden_size"]) == (MODEL["id"], MODEL["revision"], 8)
    assert int(read_header(clone.folder / features)["num_problems"]) == 2


def test_the_toy_grid_asks_for_no_network(finished):
    """Every rule of the musketeers' grid, as the fixture ran them: where it may, without a network."""
    if not finished.counters.exists():
        pytest.skip(REASON)
    assert attempts(finished.counters) == 0
