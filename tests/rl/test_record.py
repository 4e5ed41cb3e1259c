"""What a run's record says, and that each part of it tells one run from another."""

import pytest
import torch

from slmcollab.artifacts import digest, write_json
from slmcollab.experts.features import write_features
from slmcollab.rl.checkpoints import fingerprint
from slmcollab.rl.record import describe_run


@pytest.fixture
def run(tmp_path):
    """A policy of the hub's and one expert that was trained here."""
    write_json(tmp_path / "manifest.json", {"id": "lab/policy", "revision": "f" * 40})
    (tmp_path / "train.jsonl").write_text("{}\n")
    header = {"expert": "toy", "id": "", "revision": ""}
    write_features(tmp_path / "toy.safetensors", {"last_token": torch.ones(1, 2)}, header, ["p/0"])
    files = {"policy": tmp_path / "manifest.json", "problems": tmp_path / "train.jsonl"}
    cell = {"policy": "base", "experts": ["toy"]}
    return {"cell": cell, "code": "abc", "seed": 0, "features": [tmp_path / "toy.safetensors"], **files}


def test_a_record_names_models_inputs_and_packages(run):
    record = describe_run(**run)
    assert record["models"] == {
        "base": {"id": "lab/policy", "revision": "f" * 40},
        "toy": {"id": None, "revision": None},
    }
    assert record["inputs"] == {
        "policy": digest(run["policy"]),
        "problems": digest(run["problems"]),
        "features/toy": digest(run["features"][0]),
    }
    assert record["packages"]["trl"] == "1.16.0"


def test_every_part_of_a_run_is_in_its_fingerprint(run, tmp_path):
    (tmp_path / "other.jsonl").write_text("{}\n{}\n")
    others = [
        {"cell": run["cell"] | {"beta": 1}},
        {"code": "abd"},
        {"seed": 1},
        {"problems": tmp_path / "other.jsonl"},
    ]
    names = [fingerprint(describe_run(**(run | change))) for change in [{}, {}, *others]]
    assert names[0] == names[1]
    assert len(set(names)) == 5


def test_a_team_with_a_file_too_few_is_refused(run):
    with pytest.raises(ValueError, match="shorter"):
        describe_run(**(run | {"features": []}))
