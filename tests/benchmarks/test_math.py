"""MATH from local files and from the hub, and its published test ids."""

import os
import shutil
from pathlib import Path

import pytest

from slmcollab.artifacts import ArtifactError, read_json, write_jsonl
from slmcollab.benchmarks import hub, math

HUB = {"id": "HuggingFaceH4/MATH-500", "revision": "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"}
TRAIN_HUB = {"id": "EleutherAI/hendrycks_math", "revision": "21a5633873b6a120296cce3e2df9d5550074f4a3"}
PUBLISHED = Path(math.__file__).parents[2] / "splits" / "math.json"


def solved(problem, box="2"):
    return {"problem": problem, "level": "Level 3", "type": "Algebra", "solution": f"It is $\\boxed{{{box}}}$."}


TEST = [
    {"problem": "Compute $1+1$.", "solution": "$\\boxed{2}$.", "answer": "2", "subject": "Prealgebra", "level": 1},
    {"problem": "Compute $2+2$.", "solution": "$\\boxed{4}$.", "answer": "4", "subject": "Prealgebra", "level": 1},
]
TRAIN = [solved(f"Compute ${index}$.", rf"\frac{{{index}}}{{2}}") for index in range(5)] + [
    solved("compute  $1+1$."),  # in test, but for spaces and case
    solved("Compute $3$."),  # a repeat
]


def local_block(folder, train=TRAIN, test=TEST, **changed):
    write_jsonl(folder / "train.jsonl", train)
    write_jsonl(folder / "test.jsonl", test)
    sizes = {"num_train": 4, "num_dev": 1, "num_test": len(test)}
    return {"benchmark": "math", **sizes, "source": {"path": str(folder)}} | changed


def test_no_problem_is_in_two_splits_or_twice_in_one(tmp_path):
    splits = math.load(local_block(tmp_path), 42)
    assert [problem.id for problem in splits.test] == ["math/test/0", "math/test/1"]
    drawn = [problem.question for problem in [*splits.train, *splits.dev]]
    assert sorted(drawn) == [f"Compute ${index}$." for index in range(5)]
    assert (len(splits.train), len(splits.dev)) == (4, 1)
    with pytest.raises(ArtifactError, match=r"num_dev 1, num_train 5 asked for, but there are 5 rows"):
        math.load(local_block(tmp_path, num_train=5), 42)


def test_gold_answers_are_the_row_s_or_the_last_box(tmp_path):
    splits = math.load(local_block(tmp_path), 42)
    assert [problem.answer for problem in splits.test] == ["2", "4"]
    golds = {problem.question: problem.answer for problem in [*splits.train, *splits.dev]}
    assert golds["Compute $4$."] == r"\frac{4}{2}"
    one = splits.test[0]
    assert one.messages == [{"role": "user", "content": f"Compute $1+1$.\n\n{math.INSTRUCTION}"}]
    assert one.metadata == {"level": 1, "subject": "Prealgebra", "task": "compute$1+1$."}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"problem": "Why?", "solution": "Because."}, "no answer, and no box in the solution"),
        ({"problem": " ", "solution": r"\boxed{2}"}, "problem is missing or not a text"),
        ({"problem": "Why?", "answer": "2"}, "solution is missing or not a text"),
    ],
)
def test_malformed_row_is_named(tmp_path, row, fault):
    with pytest.raises(ArtifactError, match=f"math/train/7: {fault}"):
        math.load(local_block(tmp_path, train=[*TRAIN, row]), 42)


def test_hub_rows_come_from_two_data_sets_and_seven_configurations(tmp_path, monkeypatch):
    asked, short = [], []

    def stored(source, split, *, name=None):
        asked.append((source["id"], name, split, source["revision"]))
        if split == "test":
            return [{**TEST[0], "problem": f"Test {index}"} for index in range(500)]
        return [solved(f"{name} {index}") for index in range(math.NUM_TRAIN[name] - len(short))]

    monkeypatch.setattr(hub, "read_hub", stored)
    block = local_block(tmp_path, source=HUB, train_source=TRAIN_HUB, num_train=7000, num_dev=500)
    splits = math.load(block, 42)
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (7000, 500, 500)
    trained = [(TRAIN_HUB["id"], name, "train", TRAIN_HUB["revision"]) for name in math.NUM_TRAIN]
    assert asked == [(HUB["id"], None, "test", HUB["revision"]), *trained]
    assert splits.origin == {"source": HUB, "train_source": TRAIN_HUB}
    short.append(1)
    with pytest.raises(ArtifactError, match=r"\(algebra, 21a5633\w+\) train: 1743 rows, 1744 are published"):
        math.load(block, 42)


def test_published_ids_follow_from_the_rule():
    published = read_json(PUBLISHED)
    assert published["ids"] == {"test": [f"math/test/{index}" for index in range(math.NUM_TEST)]}
    assert sum(math.NUM_TRAIN.values()) == 7500


def test_real_rows(tmp_path):
    if "SLMCOLLAB_DATA" not in os.environ:
        pytest.skip("SLMCOLLAB_DATA, a folder with math500.jsonl, is not set")
    block = local_block(tmp_path, num_test=500)
    shutil.copy(Path(os.environ["SLMCOLLAB_DATA"]) / "math500.jsonl", tmp_path / "test.jsonl")
    splits = math.load(block, 42)
    assert len(splits.test) == 500
    assert len({problem.metadata["task"] for problem in splits.test}) == 500
