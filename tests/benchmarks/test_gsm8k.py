"""GSM8K from local files and from the hub; nothing here needs a network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import datasets
import pytest

from slmcollab.artifacts import ArtifactError, write_jsonl
from slmcollab.benchmarks import gsm8k, hub

ROWS = {
    "train": [
        {"question": "Ann has 3 pens and buys 4. How many?", "answer": "3+4 = <<3+4=7>>7 pens.\n#### 7"},
        {"question": "How many metres?", "answer": "A lot.\n#### 2,125"},
    ],
    "test": [{"question": "How cold is it?", "answer": "Colder than 0.\n#### -3.5"}],
}
HUB = {"id": "openai/gsm8k", "name": "main", "revision": "740312add88f781978c0658806c59bc2815b9866"}
WORKFLOW = Path(gsm8k.__file__).parents[2]


def local_block(folder, rows=ROWS, **changed):
    for split in rows:
        write_jsonl(folder / f"{split}.jsonl", rows[split])
    return {"benchmark": "gsm8k", "num_train": 2, "num_test": 1, "source": {"path": str(folder)}} | changed


def test_local_files_give_problems_with_bare_gold_numbers(tmp_path):
    splits = gsm8k.load(local_block(tmp_path), 42)
    assert [problem.answer for problem in splits.train + splits.test] == ["7", "2125", "-3.5"]
    assert [problem.id for problem in splits.train + splits.test] == ["gsm8k/train/0", "gsm8k/train/1", "gsm8k/test/0"]
    system, user = splits.train[0].messages
    assert system["role"] == "system"
    assert "<answer>answer here</answer>" in system["content"]
    assert user == {"role": "user", "content": "Ann has 3 pens and buys 4. How many?"}
    assert splits.origin == {"source": {"path": str(tmp_path)}}


@pytest.mark.parametrize("split", ["train", "test"])
def test_another_number_of_rows_is_refused(tmp_path, split):
    with pytest.raises(ArtifactError, match=rf"gsm8k {split}: . rows, but benchmarks\.gsm8k\.num_{split} is 9"):
        gsm8k.load(local_block(tmp_path, **{f"num_{split}": 9}), 42)


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Why?", "answer": "Because."},
        {"question": "Why?", "answer": "#### ten"},
        {"question": "Why?", "answer": "#### ,"},
        {"question": "Why?", "answer": "#### 1.2.3"},
        {"question": "Why?", "answer": 7},
        {"question": " ", "answer": "#### 7"},
        {"input": "Why?", "answer": "#### 7"},
    ],
)
def test_malformed_row_is_named(tmp_path, row):
    block = local_block(tmp_path, ROWS | {"train": [ROWS["train"][0], row]})
    with pytest.raises(ArtifactError, match="gsm8k train row 1: "):
        gsm8k.load(block, 42)


def test_missing_local_file_is_named(tmp_path):
    block = local_block(tmp_path, {"train": ROWS["train"]})
    with pytest.raises(ArtifactError, match=r"test\.jsonl: no such file"):
        gsm8k.load(block, 42)


def test_hub_rows_are_asked_for_at_the_pinned_revision(tmp_path, monkeypatch):
    asked = []

    def stored(source, split, *, name=None):
        asked.append((source["id"], name, split, source["revision"]))
        return datasets.Dataset.from_list(ROWS[split])

    monkeypatch.setattr(hub, "read_hub", stored)
    splits = gsm8k.load(local_block(tmp_path, source=HUB), 42)
    assert asked == [("openai/gsm8k", "main", split, HUB["revision"]) for split in ("train", "test")]
    assert splits.train[1].answer == "2125"
    assert splits.origin == {"source": HUB}


def test_offline_with_an_empty_cache_fails_once_and_says_what_to_do(tmp_path):
    cell = json.dumps(local_block(tmp_path, source=HUB) | {"loader": "gsm8k", "data_seed": 42})
    outputs = [word for name in ("train", "test", "manifest") for word in (f"--{name}", str(tmp_path / "out" / name))]
    result = subprocess.run(
        [sys.executable, "-m", "slmcollab.steps.download_problems", "--cell", cell, *outputs],
        cwd=WORKFLOW,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert "openai/gsm8k (main, revision 740312add88f" in last
    assert last.startswith("slmcollab.artifacts.ArtifactError: benchmarks.gsm8k: ")
    assert last.endswith(f"`snakemake --profile slurm {tmp_path / 'out/manifest'}`")
    assert "Retrying" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_real_test_split():
    if "SLMCOLLAB_DATA" not in os.environ:
        pytest.skip("SLMCOLLAB_DATA, a folder with gsm8k_test.jsonl, is not set")
    lines = (Path(os.environ["SLMCOLLAB_DATA"]) / "gsm8k_test.jsonl").read_text(encoding="utf-8").splitlines()
    problems = [gsm8k._problem("gsm8k", "test", index, json.loads(line)) for index, line in enumerate(lines)]
    assert len(problems) == 1319
    assert problems[0].answer == "18"
    assert all(problem.answer.lstrip("-").replace(".", "", 1).isdigit() for problem in problems)
