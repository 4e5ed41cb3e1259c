"""How rows are drawn and how splits are stored."""

import pytest

from slmcollab.artifacts import ArtifactError, Problem, digest_text, read_json, read_problems
from slmcollab.benchmarks.splits import Splits, draw, tasks_of, write_splits

BLOCK = {"benchmark": "toy", "num_train": 2, "num_test": 2, "num_dev": 1, "data_seed": 7}


def problem(id_, question, task=None):
    return Problem(id_, question, [], None, {} if task is None else {"task": task})


def three():
    train = [problem("0", "a", "x"), problem("1", "b", ["x", "y"])]
    return Splits(
        train, [problem("2", "a", "z"), problem("3", "c", ["y"])], "a rule", {"source": {}}, [problem("4", "b", "w")]
    )


def test_draw_cuts_one_shuffled_order():
    rows = draw(range(100), {"test": 10, "dev": 5, "train": 20}, 42, "toy", "splits")
    assert {name: len(part) for name, part in rows.items()} == {"test": 10, "dev": 5, "train": 20}
    assert len({*rows["test"], *rows["dev"], *rows["train"]}) == 35
    assert all(part == sorted(part) for part in rows.values())
    fewer = draw(range(100), {"test": 10, "dev": 5, "train": 3}, 42, "toy", "splits")
    assert (fewer["test"], fewer["dev"]) == (rows["test"], rows["dev"])
    assert set(fewer["train"]) < set(rows["train"])
    assert draw(range(100), {"test": 10}, 43, "toy", "splits")["test"] != rows["test"]


def test_draw_takes_a_task_once():
    task_of = {row: "abcab"[row % 5] for row in range(50)}
    rows = draw(range(50), {"test": 1, "train": 2}, 42, "toy", task_of=task_of)
    assert {task_of[row] for part in rows.values() for row in part} == set("abc")
    only = draw(range(50), {"test": 1}, 42, "toy", task_of=task_of, taken=["a", "b", "q"])
    assert task_of[only["test"][0]] == "c"
    with pytest.raises(ArtifactError, match=r"benchmarks\.toy: num_test 4 asked for, but there are 3 rows"):
        draw(range(50), {"test": 4}, 42, "toy", task_of=task_of)


def test_tasks_of():
    assert tasks_of(problem("0", "a")) == set()
    assert tasks_of(problem("0", "a", "xy")) == {"xy"}
    assert tasks_of(problem("0", "a", ["x", "y"])) == {"x", "y"}


def test_three_splits_are_written_and_counted(tmp_path):
    paths = {name: tmp_path / f"{name}.jsonl" for name in ("train", "dev", "test")}
    write_splits(three(), BLOCK, **paths, manifest=tmp_path / "manifest.json")
    assert [item.id for item in read_problems(paths["dev"])] == ["4"]
    manifest = read_json(tmp_path / "manifest.json")
    assert {name: manifest[f"num_{name}"] for name in paths} == {"train": 2, "dev": 1, "test": 2}
    assert manifest["overlap"] == 1
    # test asks a, which train asks, and c of task y, which train has; dev asks b, which train asks
    assert manifest["overlaps"]["questions"] == {"train_dev": 1, "train_test": 1, "dev_test": 0}
    assert manifest["overlaps"]["tasks"] == {"train_dev": 0, "train_test": 1, "dev_test": 0}
    assert manifest["ids"] == {"train": digest_text("0\n1\n"), "dev": digest_text("4\n"), "test": digest_text("2\n3\n")}
    assert set(manifest["sha256"]) == set(paths)


def test_two_splits_are_stored_as_ever(tmp_path):
    splits = Splits(three().train, three().test, "a rule", {"source": {}})
    paths = {name: tmp_path / name for name in ("train", "test", "manifest")}
    write_splits(splits, BLOCK, **paths)
    keys = {"benchmark", "rule", "data_seed", "num_train", "num_test", "overlap", "sha256", "source"}
    assert set(read_json(paths["manifest"])) == keys
    assert set(read_json(paths["manifest"])["sha256"]) == {"train", "test"}


def test_wrong_sizes_and_a_dev_without_file_are_refused(tmp_path):
    paths = {name: tmp_path / name for name in ("train", "test", "manifest")}
    with pytest.raises(ArtifactError, match=r"benchmarks\.toy\.num_dev: 1 problems and no file"):
        write_splits(three(), BLOCK, **paths)
    with pytest.raises(ArtifactError, match=r"benchmarks\.toy\.num_dev: 3 asked for, 1 there"):
        write_splits(three(), BLOCK | {"num_dev": 3}, **paths, dev=tmp_path / "dev")
