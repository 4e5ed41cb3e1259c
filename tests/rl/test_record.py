"""What a run's record says, and that each part of it tells one run from another."""

from dataclasses import replace

import pytest
import torch

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json
from slmcollab.checkpoints import fingerprint
from slmcollab.experts.features import write_features
from slmcollab.rl.exposed import ExpertFiles
from slmcollab.rl.record import check_run, describe_run, describe_training

HEADER = {"expert": "toy", "id": "", "revision": "", "code": "abc", "truncated": "2"}


@pytest.fixture
def run(tmp_path):
    """A policy of the hub's and one expert that was trained here."""
    write_json(tmp_path / "manifest.json", {"id": "lab/policy", "revision": "f" * 40})
    (tmp_path / "train.jsonl").write_text("{}\n")
    write_features(tmp_path / "toy.safetensors", {"last_token": torch.ones(1, 2)}, HEADER, ["p/0"])
    write_json(tmp_path / "toy.json", {"id": None, "revision": None})
    read = {"policy": tmp_path / "manifest.json", "problems": tmp_path / "train.jsonl"}
    cell = {"policy": "base", "experts": ["toy"]}
    files = ExpertFiles([tmp_path / "toy.json"], [tmp_path / "toy.safetensors"], [], [], [])
    return {"cell": cell, "code": "abc", "seed": 0, "files": files, **read}


def test_a_record_names_models_inputs_and_packages(run):
    record = describe_run(**run)
    assert record["models"] == {
        "base": {"id": "lab/policy", "revision": "f" * 40},
        "toy": {"id": None, "revision": None},
    }
    assert record["inputs"] == {
        "policy": digest(run["policy"]),
        "problems": digest(run["problems"]),
        "manifest/toy": digest(run["files"].manifests[0]),
        "features/toy": digest(run["files"].features[0]),
    }
    assert record["features"] == {"toy": {"code": "abc", "prompts_truncated": 2}}
    assert record["packages"]["trl"] == "1.16.0"


def test_a_record_of_another_run_is_refused_and_what_differs_is_named(tmp_path):
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter/weights").write_text("1")
    record = {"cell": {"beta": 0.1}, "code": "abc", "seed": 0, "outputs": {"adapter": digest(tmp_path / "adapter")}}
    write_json(tmp_path / "run.json", record)
    check_run(tmp_path / "run.json", {"beta": 0.1}, "abc", 0, tmp_path / "adapter")
    with pytest.raises(ArtifactError, match=r"run\.json: a run with another cell and seed than"):
        check_run(tmp_path / "run.json", {"beta": 0.2}, "abc", 1, tmp_path / "adapter")
    (tmp_path / "adapter/weights").write_text("2")
    with pytest.raises(ArtifactError, match=r"run\.json: a run with another adapter than"):
        check_run(tmp_path / "run.json", {"beta": 0.1}, "abc", 0, tmp_path / "adapter")


def test_a_record_says_what_the_kl_is_measured_against_and_counts_the_router(load):
    zero_rows = {"reference": "policy without LoRA, zero context rows", "num_trainable": 7}
    assert describe_training(7, load()) == describe_training(7, load("prefix")) == zero_rows
    bare = {"reference": "policy without LoRA", "num_trainable": 7}
    assert describe_training(7, load("none")) == describe_training(7, load("text")) == bare
    # 10 wide embeddings to 8 to 3 experts: 10·8 + 8 + 8·3 + 3 = 115
    assert describe_training(7, load("routing")) == bare | {"num_trainable": 122}
    assert describe_training(7, load("routing", selection="uniform")) == bare


def test_every_part_of_a_run_is_in_its_fingerprint(run, tmp_path):
    (tmp_path / "other.jsonl").write_text("{}\n{}\n")
    # The same model of the hub and the same expert, but other contents.
    write_json(tmp_path / "other.json", {**read_json(run["policy"]), "files": {"model.safetensors": "0" * 64}})
    write_features(tmp_path / "other.safetensors", {"last_token": torch.zeros(1, 2)}, HEADER, ["p/0"])
    others = [
        {"cell": run["cell"] | {"beta": 1}},
        {"code": "abd"},
        {"seed": 1},
        {"problems": tmp_path / "other.jsonl"},
        {"policy": tmp_path / "other.json"},
        {"files": replace(run["files"], features=[tmp_path / "other.safetensors"])},
        {"files": replace(run["files"], answers=[tmp_path / "other.jsonl"])},
        {"files": replace(run["files"], embedding=[tmp_path / "other.safetensors"])},
    ]
    names = [fingerprint(describe_run(**(run | change))) for change in [{}, {}, *others]]
    assert names[0] == names[1]
    assert len(set(names)) == 1 + len(others)


def test_a_routers_encoder_is_named_too(run, tmp_path):
    encoder = HEADER | {"expert": "sentences", "id": "lab/sentences", "revision": "a" * 40, "truncated": "3"}
    write_features(tmp_path / "e.safetensors", {"embedding": torch.ones(1, 2)}, encoder, ["p/0"])
    files = replace(run["files"], embedding=[tmp_path / "e.safetensors"])
    record = describe_run(**(run | {"files": files}))
    assert record["models"]["sentences"] == {"id": "lab/sentences", "revision": "a" * 40}
    assert record["features"]["embedding"]["prompts_truncated"] == 3
    assert record["inputs"]["embedding"] == digest(tmp_path / "e.safetensors")


@pytest.mark.parametrize("kind", ["manifests", "features", "answers", "expert_scores"])
def test_a_team_with_a_file_too_few_is_refused(run, kind):
    two = {**run["cell"], "experts": ["toy", "other"]}
    files = replace(run["files"], manifests=2 * run["files"].manifests, features=2 * run["files"].features)
    files = replace(files, **{kind: [run["problems"]]})
    with pytest.raises((ValueError, ArtifactError), match=r"shorter|features"):
        describe_run(**(run | {"cell": two, "files": files}))
