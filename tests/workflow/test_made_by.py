"""Errors name the rule that makes a file: the table of it is that of the workflow. And a job on a full disk."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from slmcollab.artifacts import read_jsonl
from slmcollab.made_by import advice, made_by


def jobs(checkout, *configs: str) -> list[tuple[str, list[str], list[str]]]:
    """Return (rule, outputs, logs) of each job of a grid, as a dry run in an empty folder lists them."""
    files = ["--configfile", *configs] if configs else []
    command = [sys.executable, "-m", "snakemake", "all", "--dry-run", "--cores", "1", "--directory", "runs/listed"]
    done = subprocess.run(
        [*command, *files], cwd=checkout.folder, env=checkout.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    found = []
    for rule, block in re.findall(r"^(?:local)?rule (\w+):\n((?: .*\n)+)", done.stdout + done.stderr, re.MULTILINE):
        lists = dict(re.findall(r"^ +(output|log): (.*?)(?: \(.*\))?$", block, re.MULTILINE))
        if "output" in lists:
            found.append((rule, lists["output"].split(", "), lists.get("log", "").split(", ")))
    return found


@pytest.mark.parametrize("configs", [(), ("workflow/config/tiny.yaml",)], ids=["paper", "tiny"])
def test_every_output_is_known_to_be_of_its_rule(clone, tmp_path, configs):
    listed = jobs(clone, *configs)
    assert len({rule for rule, _, _ in listed}) > 35
    wrong = []
    for rule, outputs, logs in listed:
        before = {output: (made_by(tmp_path / output) or [[]])[0] for output in outputs}
        for log in logs:
            (tmp_path / log).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / log).touch()
        for output in outputs:
            found = made_by(tmp_path / output)
            if rule not in before[output] or found != ([rule], Path(output)):
                wrong.append((rule, output, before[output], found))
        wrong += [(rule, log, found) for log in logs if (found := made_by(Path(log))) != ([rule], found and found[1])]
    assert wrong[:5] == []


def test_where_the_config_decides_all_rules_are_named(tmp_path):
    config = tmp_path / "results/models/toy/weights/config.json"
    rules = "download_model or train_toy_member or train_toy_model"
    what = "add `--forcerun results/models/toy/weights` to make it again"  # Snakemake knows no absolute path
    assert advice(config) == f"; made by rule {rules}: {what}"
    log = tmp_path / "results/logs/download_model/toy.log"
    log.parent.mkdir(parents=True)
    log.touch()
    assert advice(config) == f"; made by rule download_model: {what}"


@pytest.mark.parametrize(
    "path",
    ["workflow/published/slices_table1.csv", "config.yaml", "checkpoint-1/state.pt", "a: b", "data/own/train.jsonl"],
)
def test_nothing_is_said_of_what_no_rule_makes(path):
    assert advice(Path(path)) == ""


def test_a_job_on_a_full_disk_fails_leaves_nothing_and_is_made_later(clone):
    corpus = clone.run / "results/corpora/sums_copied.jsonl"
    target = str(corpus.relative_to(clone.run))
    command = ["bash", "-c", 'ulimit -f 512; exec "$@"', "bash", *clone.command(target)]  # kB a file
    done = subprocess.run(command, cwd=clone.folder, env=clone.environment(), capture_output=True, text=True)
    assert done.returncode != 0
    log = (clone.run / "results/logs/write_toy_corpus/sums_copied.log").read_text()
    assert "File too large" in log
    assert f"{target}: not written" in log
    assert list(corpus.parent.glob("*")) == []
    clone.snakemake(target)
    assert corpus.stat().st_size > 512 * 1024
    assert read_jsonl(corpus)
