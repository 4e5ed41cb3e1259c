"""Every reader refuses a file that is not whole, every writer renames a whole one into place."""

import json
import math
import os
from pathlib import Path

import pytest

from slmcollab import artifacts
from slmcollab.artifacts import ArtifactError, Problem

PROBLEMS = [
    Problem("sums/0", "What is 1 + 1?", [{"role": "user", "content": "What is 1 + 1?"}], "2"),
    Problem("logic/1", "P\u2028Q\u0085?", [{"role": "user", "content": "¬P"}], None, {"premises": ["(P ∧ Q)"], "n": 3}),
]


def test_problems_survive_storage_with_none_answers_and_unusual_line_ends(tmp_path):
    artifacts.write_problems(tmp_path / "deep" / "test.jsonl", PROBLEMS)
    assert artifacts.read_problems(tmp_path / "deep" / "test.jsonl") == PROBLEMS
    lines = (tmp_path / "deep" / "test.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 3
    assert lines[2] == b""
    assert json.loads(lines[1])["answer"] is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 0}\n{"id": 1, "te', "cut"),
        (b'{"id": 0}', "cut"),
        (b"", "empty"),
        (b'{"id": 0}\n\n{"id": 1}\n', "not JSON lines"),
        (b"\xff\xfe\n", "no text"),
        (b'{"id": 0}\n3\n', "no JSON object"),
    ],
)
def test_jsonl_that_is_not_whole_is_refused_by_name(tmp_path, content, message):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=message) as caught:
        artifacts.read_jsonl(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"\xff"])
def test_json_that_is_not_whole_is_refused_by_name(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="not a whole JSON file"):
        artifacts.read_json(path)


@pytest.mark.parametrize("read", [artifacts.read_json, artifacts.read_jsonl, artifacts.read_problems, artifacts.digest])
def test_missing_file_is_named(tmp_path, read):
    with pytest.raises(ArtifactError, match=r"^\S*gone\.json: no such file$"):
        read(tmp_path / "gone.json")


@pytest.mark.parametrize("row", [{"id": "a"}, {"id": "a", "question": "", "messages": [], "answer": None, "gold": 1}])
def test_rows_that_are_no_problems_are_refused(tmp_path, row):
    artifacts.write_jsonl(tmp_path / "rows.jsonl", [row])
    with pytest.raises(ArtifactError, match="not a file of problems"):
        artifacts.read_problems(tmp_path / "rows.jsonl")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_json_lacks_are_not_written(tmp_path, value):
    with pytest.raises(ValueError, match="JSON"):
        artifacts.write_json(tmp_path / "a.json", {"a": value})
    with pytest.raises(ValueError, match="JSON"):
        artifacts.write_jsonl(tmp_path / "a.jsonl", [{"a": value}])
    assert list(tmp_path.iterdir()) == []


def test_json_has_sorted_keys_whatever_the_order_of_insertion(tmp_path):
    artifacts.write_json(tmp_path / "a.json", {"b": 1, "a": "é"})
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n "a": "é",\n "b": 1\n}\n'


def fail_while_replacing(path: Path) -> None:
    with artifacts.replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("killed")


def test_failed_writer_leaves_the_old_file_and_nothing_else(tmp_path):
    artifacts.write_text(tmp_path / "a.txt", "old\n")
    with pytest.raises(RuntimeError, match="killed"):
        fail_while_replacing(tmp_path / "a.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old\n"


def write_folder(path: Path, names: list[str]) -> None:
    with artifacts.replacing(path) as temporary:
        temporary.mkdir()
        for name in names:
            (temporary / name).write_text(name)


def test_folder_is_replaced_whole(tmp_path):
    write_folder(tmp_path / "adapter", ["a", "b"])
    write_folder(tmp_path / "adapter", ["c"])
    assert [path.name for path in tmp_path.iterdir()] == ["adapter"]
    assert [path.name for path in (tmp_path / "adapter").iterdir()] == ["c"]


def test_remains_of_a_killed_process_of_the_same_number_do_not_mix_in(tmp_path):
    remains = tmp_path / f".adapter.{os.getpid()}.tmp"
    remains.mkdir()
    (remains / "stale").write_text("stale")
    write_folder(tmp_path / "adapter", ["c"])
    assert [path.name for path in (tmp_path / "adapter").iterdir()] == ["c"]


def test_digest_of_file_and_folder(tmp_path):
    (tmp_path / "a").write_bytes(b"a\n")
    # sha256sum of "a\n", and of the line that names it: "a", a zero byte, that sum, a newline
    assert artifacts.digest(tmp_path / "a") == "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"
    assert artifacts.digest(tmp_path) == "441fdc8138fdf733155ed753f33dd23322c078fe71b3c661784a20f239b36531"


def test_digest_of_folder_sees_names_and_contents_but_nothing_hidden(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_text("1")
    before = artifacts.digest(tmp_path)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "lock").write_text("x")
    (tmp_path / ".a.tmp").write_text("x")
    assert artifacts.digest(tmp_path) == before
    (tmp_path / "sub" / "a").rename(tmp_path / "sub" / "b")
    renamed = artifacts.digest(tmp_path)
    (tmp_path / "sub" / "b").write_text("2")
    assert len({before, renamed, artifacts.digest(tmp_path)}) == 3


def test_a_file_that_its_writer_kept_to_the_owner_gets_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    with artifacts.replacing(tmp_path / "folder") as folder:
        folder.mkdir()
        (folder / "weights").touch(mode=0o600)
    assert (tmp_path / "folder/weights").stat().st_mode == (tmp_path / "plain").stat().st_mode
