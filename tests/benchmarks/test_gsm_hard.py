"""GSM-Hard from a local file and from the hub, and its published split."""

import json
import os
import shutil
from pathlib import Path

import datasets
import pytest

from slmcollab.artifacts import ArtifactError, read_json, write_jsonl
from slmcollab.benchmarks import gsm_hard, hub

ROWS = [
    {"input": f"Ann has {index} pens. How many?", "code": "", "target": target}
    for index, target in enumerate([7.0, -2905.0, 14.000000000000002, 0, 5739.333333333333, 1.5])
]
HUB = {"id": "reasoning-machines/gsm-hard", "revision": "960448f73503112d4226baeb8eb41d3fb5ae2506"}
PUBLISHED = Path(gsm_hard.__file__).parents[2] / "splits" / "gsm_hard.json"


def local_block(folder, rows=ROWS, **changed):
    write_jsonl(folder / "train.jsonl", rows)
    sizes = {"num_train": 3, "num_dev": 1, "num_test": 2}
    return {"benchmark": "gsm_hard", **sizes, "source": {"path": str(folder)}} | changed


def test_splits_part_the_rows(tmp_path):
    splits = gsm_hard.load(local_block(tmp_path), 42)
    problems = [*splits.train, *splits.dev, *splits.test]
    assert sorted(problem.id for problem in problems) == [f"gsm_hard/{index}" for index in range(6)]
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (3, 1, 2)
    golds = {problem.id: problem.answer for problem in problems}
    assert [golds[f"gsm_hard/{index}"] for index in range(4)] == ["7.0", "-2905.0", "14.000000000000002", "0.0"]
    one = problems[0]
    assert one.messages == [{"role": "user", "content": f"{one.question}\n\n{gsm_hard.INSTRUCTION}"}]
    assert splits.origin == {"source": {"path": str(tmp_path)}}
    assert [problem.id for problem in gsm_hard.load(local_block(tmp_path, num_train=0, num_dev=0), 42).test] == [
        problem.id for problem in splits.test
    ]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"input": " ", "target": 1.0}, "input is missing or not a text"),
        ({"question": "Why?", "target": 1.0}, "input is missing"),
        ({"input": "Why?", "target": "1"}, "target is missing or not a number"),
        ({"input": "Why?", "target": True}, "target"),
        ({"input": "Why?"}, "target"),
    ],
)
def test_malformed_row_is_named(tmp_path, row, fault):
    with pytest.raises(ArtifactError, match=f"gsm_hard row 6: {fault}"):
        gsm_hard.load(local_block(tmp_path, [*ROWS, row]), 42)


def test_too_few_rows_are_refused(tmp_path):
    with pytest.raises(ArtifactError, match=r"benchmarks\.gsm_hard: num_test 2, num_dev 1, num_train 4 asked for"):
        gsm_hard.load(local_block(tmp_path, num_train=4), 42)


def test_hub_rows_are_asked_for_at_the_pinned_revision_and_counted(tmp_path, monkeypatch):
    asked, rows = [], [ROWS[0]] * 1319

    def stored(source, split, *, name=None):
        asked.append((source["id"], name, split, source["revision"]))
        return datasets.Dataset.from_list(rows)

    monkeypatch.setattr(hub, "read_hub", stored)
    block = local_block(tmp_path, source=HUB, num_test=132, num_dev=100, num_train=1087)
    assert len(gsm_hard.load(block, 42).train) == 1087
    assert asked == [(HUB["id"], None, "train", HUB["revision"])]
    rows.pop()
    with pytest.raises(ArtifactError, match=r"gsm-hard \(960448f\w+\) train: 1318 rows, 1319 are published"):
        gsm_hard.load(block, 42)


def test_published_ids_follow_from_the_rule():
    published = read_json(PUBLISHED)
    rows = gsm_hard.split_rows(gsm_hard.NUM_ROWS, {"test": 132, "dev": 100, "train": 1087}, published["data_seed"])
    assert published["ids"] == {name: [f"gsm_hard/{row}" for row in rows[name]] for name in ("test", "dev")}
    assert published["data_seed"] == 42


def test_real_rows(tmp_path):
    if "SLMCOLLAB_DATA" not in os.environ:
        pytest.skip("SLMCOLLAB_DATA, a folder with gsmhard.jsonl, is not set")
    shutil.copy(Path(os.environ["SLMCOLLAB_DATA"]) / "gsmhard.jsonl", tmp_path / "train.jsonl")
    block = {"benchmark": "gsm_hard", "source": {"path": str(tmp_path)}, "num_test": 132, "num_dev": 100}
    splits = gsm_hard.load(block | {"num_train": 1087}, 42)
    assert [problem.id for problem in splits.test] == json.loads(PUBLISHED.read_text())["ids"]["test"]
    assert len({problem.question for problem in [*splits.train, *splits.dev, *splits.test]}) == 1319
