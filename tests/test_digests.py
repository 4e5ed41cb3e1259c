"""Records name what a job read and wrote by path, and a run is the same run wherever these lie."""

import pytest

from slmcollab.artifacts import ArtifactError, digest
from slmcollab.checkpoints import fingerprint
from slmcollab.digests import digests, with_outputs


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adapters/a1").mkdir(parents=True)
    for name in ("problems", "adapters/a1/weights", "adapters/a1/.hidden", "adapters/config"):
        (tmp_path / name).write_text(f"{name}\n")
    return tmp_path.relative_to(tmp_path)


def test_files_of_folders_are_named_one_by_one_without_the_hidden_ones(files):
    found = digests(files / "problems", files / "adapters")["digests"]
    assert found == {name: digest(files / name) for name in ("problems", "adapters/a1/weights", "adapters/config")}
    assert digests() == {"digests": {}}


def test_a_missing_file_is_named(files):
    with pytest.raises(ArtifactError, match=r"^absent: no such file"):
        digests(files / "absent")


def test_what_was_written_comes_to_what_was_read(files):
    record = {"seed": 3, **digests(files / "problems")}
    made = with_outputs(record, {"adapters": files / "adapters"})
    assert made["outputs"] == {"adapters": digest(files / "adapters")}
    assert list(made["digests"]) == ["problems", "adapters/a1/weights", "adapters/config"]
    assert (made["seed"], list(record["digests"])) == (3, ["problems"])


def test_where_files_lie_is_not_in_a_fingerprint():
    run = {"seed": 3, "inputs": {"problems": "aa"}}
    assert fingerprint(run | {"digests": {"here": "aa"}}) == fingerprint(run | {"digests": {"there": "aa"}})
    assert fingerprint(run) != fingerprint(run | {"inputs": {"problems": "bb"}})
