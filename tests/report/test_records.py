"""What a file names: of every record in it, at any depth, but never of a model's vocabulary."""

import json

import pytest
import torch

from slmcollab.artifacts import ArtifactError, digest, write_json
from slmcollab.digests import digests, with_outputs
from slmcollab.experts.features import write_features
from slmcollab.report.records import find, read_record, reading, tell

RUN = {"code": "c1", "inputs": {"problems": "11"}, "digests": {"a/problems.jsonl": "11"}}


def test_a_key_is_found_at_any_depth():
    content = json.loads('{"a": [{"k": 1}, {"b": {"k": {"k": 2}}}], "k": null}')
    assert list(find(content, "k")) == [1, {"k": 2}, None]


def test_all_records_in_a_file_are_told_of():
    scores = {
        "provenance": {"run": RUN, "code": {"answers": "c2", "scores": "c3"}, "digests": {"a/answers.jsonl": "22"}}
    }
    told = tell("a/scores.json", scores)
    assert told.digests == {"a/answers.jsonl": "22", "a/problems.jsonl": "11"}
    assert sorted(told.codes) == ["c1", "c2", "c3"]
    assert told.unnamed == []


def test_a_manifest_names_the_files_beside_it():
    manifest = {"architecture": "Toy", "model": "toy", "files": {"model.bin": "33"}}
    assert tell("models/toy/manifest.json", manifest).digests == {"models/toy/weights/model.bin": "33"}


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ({"digests": {}}, ["inputs/problems"]),
        ({"digests": {"a/problems.jsonl": "12"}}, ["inputs/problems"]),
        ({"outputs": {"calls": "44"}}, ["outputs/calls"]),
        ({"inputs": {}}, []),
    ],
)
def test_a_label_without_a_path_is_told(changes, labels):
    assert tell("run.json", {"before": [RUN | changes]}).unnamed == labels


def test_a_label_of_a_folder_needs_every_file_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adapters = (tmp_path / "made/adapters").relative_to(tmp_path)
    for name in ("a1/weights", "a-1/weights", "config"):
        (adapters / name).parent.mkdir(parents=True, exist_ok=True)
        (adapters / name).write_text(name)
    record = with_outputs({"code": "c1"}, {"adapters": adapters})
    assert record["outputs"] == {"adapters": digest(adapters)}
    assert tell("run.json", record).unnamed == []
    for name in record["digests"]:
        fewer = {path: sha256 for path, sha256 in record["digests"].items() if path != name}
        assert tell("run.json", record | {"digests": fewer}).unnamed == ["outputs/adapters"]


@pytest.mark.parametrize("own", [[], "x", 3, None])
def test_what_is_no_object_holds_no_record(own):
    for content in ({"provenance": own}, {"record": own}, own):
        assert tell("a.json", content) == ({}, [], [], None, [])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"digests": [["a", "b"]]}, r"\[\['a', 'b'\]\] is no object of texts"),
        ({"digests": {"a": 3}}, "a is 3, no text"),
        ({"code": None}, "code is None, no text"),
        ({"code": {"scores": []}}, r"scores is \[\], no text"),
        ({"inputs": {"problems": {}}}, r"problems is \{\}, no text"),
    ],
)
def test_a_record_of_another_form_is_refused(changes, told):
    with pytest.raises(TypeError, match=told):
        tell("run.json", RUN | changes)


@pytest.mark.parametrize("header", [b"", b"\xff" * 8, b"\x02" + bytes(7) + b"[]"])
def test_a_file_that_is_none_of_tensors_is_refused(tmp_path, header):
    (tmp_path / "toy.safetensors").write_bytes(header)
    with pytest.raises(ArtifactError, match=r"toy\.safetensors: not a whole file of tensors"):
        read_record(tmp_path, "toy.safetensors")


def test_an_error_of_reading_names_the_file_and_one_that_does_is_passed_on(tmp_path):
    path = tmp_path / "a.json"
    with pytest.raises(ArtifactError, match=r"a\.json: not a record \(KeyError: 'x'\)$"), reading(path, "a record"):
        {}["x"]
    with pytest.raises(ArtifactError, match=r"^b: cut$"), reading(path, "a record"):
        raise ArtifactError("b: cut")


def test_a_record_is_a_json_file_or_the_header_of_features_and_no_file_of_a_model(tmp_path):
    (tmp_path / "weights").mkdir()
    write_json(tmp_path / "weights/tokenizer.json", {"digests": 7, "code": 8})
    write_json(tmp_path / "run.json", RUN)
    (tmp_path / "text.txt").write_text("{}")
    header = {
        "expert": "toy",
        "id": "",
        "revision": "",
        "code": "c4",
        "truncated": "0",
        **digests(tmp_path / "text.txt"),
    }
    write_features(tmp_path / "toy.safetensors", {"last_token": torch.ones(1, 2)}, header, ["x"])
    assert read_record(tmp_path, "weights/tokenizer.json") == {}
    assert read_record(tmp_path, "text.txt") == {}
    assert read_record(tmp_path, "run.json") == RUN
    told = tell("toy.safetensors", read_record(tmp_path, "toy.safetensors"))
    assert (told.codes, told.digests) == (["c4"], header["digests"])
