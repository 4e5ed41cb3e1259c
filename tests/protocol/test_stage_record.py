"""The record of a stage says what it came from, and files that do not belong together are refused."""

import pytest

from slmcollab.artifacts import ArtifactError, digest, write_json
from slmcollab.protocol.record import SampledFiles, TeamFiles, describe_stage


@pytest.fixture
def files(tmp_path):
    for name in ("m1.json", "m2.json"):
        write_json(tmp_path / name, {"id": f"hub/{name}", "revision": "abc", "num_parameters": 5})
    for name in ("problems", "prompt", "calls", "trajectories", "rewards"):
        (tmp_path / name).write_text(f"{name}\n")
    adapters = tmp_path / "adapters"
    (adapters / "a1").mkdir(parents=True)
    (adapters / "a1/weights").write_text("1\n")
    write_json(tmp_path / "training.json", {"stage": "distilled", "outputs": {"adapters": digest(adapters)}})
    paths = {name: tmp_path / name for name in ("problems", "prompt")}
    manifests = [tmp_path / "m1.json", tmp_path / "m2.json"]
    return TeamFiles(manifests, **paths, start=[adapters], before=[tmp_path / "training.json"])


CELL = {"models": ["one", "two"], "stage": "round1"}


def test_a_record_names_settings_inputs_models_and_packages(files, tmp_path):
    record = describe_stage(CELL, "code", 3, files, {"calls": tmp_path / "calls"})
    assert (record["cell"], record["code"], record["seed"]) == (CELL, "code", 3)
    assert set(record["inputs"]) == {"manifest/one", "manifest/two", "problems", "prompt", "start", "calls"}
    assert record["inputs"]["start"] == digest(tmp_path / "adapters")
    assert record["models"]["two"] == {"id": "hub/m2.json", "revision": "abc"}
    assert set(record["packages"]) == {"torch", "transformers", "trl", "peft"}


def test_adapters_of_another_training_are_refused(files, tmp_path):
    assert files.read_before()["stage"] == "distilled"
    (tmp_path / "adapters/a1/weights").write_text("2\n")
    with pytest.raises(ArtifactError, match=r"adapters: not the adapters that .*training\.json records"):
        files.read_before()


def sampled(tmp_path, files):
    record = describe_stage(CELL, "code", 0, files)
    outputs = {name: digest(tmp_path / name) for name in ("calls", "trajectories")}
    write_json(tmp_path / "run.json", record | {"outputs": outputs})
    write_json(tmp_path / "counts.json", {"rewarded": 1})
    names = {"calls": "calls", "trajectories": "trajectories", "sampling": "run.json", "rewards": "rewards"}
    return SampledFiles(**{key: tmp_path / name for key, name in names.items()}, counts=tmp_path / "counts.json")


def test_refinement_learns_from_what_its_own_adapters_said(files, tmp_path):
    found = sampled(tmp_path, files)
    assert found.read_records(files.start)["rewards"] == {"rewarded": 1}
    (tmp_path / "adapters/a1/weights").write_text("2\n")
    with pytest.raises(ArtifactError, match=r"run\.json: sampled with other adapters"):
        found.read_records(files.start)
    with pytest.raises(ArtifactError, match=r"run\.json: sampled with other adapters"):
        found.read_records([])


@pytest.mark.parametrize("name", ["calls", "trajectories"])
def test_calls_and_trajectories_of_another_sampling_are_refused(files, tmp_path, name):
    found = sampled(tmp_path, files)
    (tmp_path / name).write_text("other\n")
    with pytest.raises(ArtifactError, match=rf"{name}: not what .*run\.json records"):
        found.read_records(files.start)
