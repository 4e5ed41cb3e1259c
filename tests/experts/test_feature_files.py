"""Feature files: what is written is read, equal bytes, and what is refused."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from slmcollab.artifacts import ArtifactError, digest
from slmcollab.experts import features

PACKAGE = str(Path(__file__).parents[2] / "workflow")
HEADER = {
    "expert": "small",
    "id": "",
    "revision": "",
    "code": "c0",
    "truncated": "0",
    "dtype": "float32",
    "sequence": "prompt",
}


def write(path, last=((1.0, 2.0), (3.0, 4.0))):
    values = {"last_token": torch.tensor(last), "first_layer": torch.zeros(2, 2)}
    features.write_features(path, values, HEADER, ["a/0", "a/1"])
    return path


def test_what_is_written_is_read(tmp_path):
    path = write(tmp_path / "prompt.safetensors")
    assert features.read_features(path, "last_token").tolist() == [[1, 2], [3, 4]]
    assert features.read_header(path) == {**HEADER, "num_problems": "2"}


def test_a_header_that_names_no_expert_is_refused(tmp_path):
    features.write_features(tmp_path / "a", {"last_token": torch.ones(1, 2)}, {"expert": "small"}, ["x"])
    with pytest.raises(ArtifactError, match="does not say which expert"):
        features.read_header(tmp_path / "a")


def test_bytes_are_the_same_in_every_process(tmp_path):
    program = (
        "import sys, torch; from slmcollab.experts.features import write_features;"
        "write_features(sys.argv[1], {n: torch.ones(1, 2) for n in 'ab'}, {c: c for c in 'abcdefgh'}, ['x'])"
    )
    for index in range(3):
        command = [sys.executable, "-c", program, tmp_path / str(index)]
        subprocess.run(command, check=True, env={"PYTHONPATH": PACKAGE})
    assert len({digest(tmp_path / str(index)) for index in range(3)}) == 1


def test_unknown_pooling_is_refused_and_the_known_ones_named(tmp_path):
    with pytest.raises(ArtifactError, match=r"no tensor 'mean'; there are first_layer, last_token"):
        features.read_features(write(tmp_path / "prompt.safetensors"), "mean")


def test_cut_and_missing_files_are_refused(tmp_path):
    path = write(tmp_path / "prompt.safetensors")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ArtifactError, match=r"prompt\.safetensors: not a whole file"):
        features.read_features(path, "last_token")
    with pytest.raises(ArtifactError, match=r"absent: not a whole file"):
        features.read_header(tmp_path / "absent")


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_features_that_are_not_finite_are_refused_by_name(tmp_path, bad):
    with pytest.raises(ArtifactError, match="last_token of problem a/1"):
        write(tmp_path / "prompt.safetensors", last=((1.0, 2.0), (bad, 4.0)))
    assert not list(tmp_path.iterdir())


def test_long_prompts_are_refused_with_the_first_ones_id():
    prompts = [[1, 2], [1, 2, 3, 4], [1, 2, 3, 4, 5]]
    with pytest.raises(ValueError, match=r"problem b: a prompt of 4 tokens, where .* allow 3 \(2 such prompts\)"):
        features.fit_prompts(prompts, ["a", "b", "c"], limit=3, overflow="refuse")


def test_long_prompts_lose_their_start():
    prompts = [[1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]]
    assert features.fit_prompts(prompts, list("abcd"), limit=3, overflow="truncate") == (
        [[1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]],
        [False, False, True, True],
    )


def test_unknown_overflow_is_refused():
    with pytest.raises(ValueError, match=r"extraction\.overflow: 'cut' is not one of refuse, truncate"):
        features.fit_prompts([[1]], ["a"], limit=3, overflow="cut")


def test_header_says_what_was_read_by_what():
    manifest, read = {"id": None, "revision": None, "num_layers": 2}, [[1], [2]]
    about = {"dtype": "float32", "sequence": "prompt", "truncated": 0, "code": "c0"}
    header = features.make_header(manifest, "small", read=read, **about)
    assert header == HEADER | {"prompts": features.digest_prompts([[1], [2]]), "digests": {}}


def test_an_embedding_is_read_by_its_own_name(tmp_path):
    rows = torch.tensor([[0.6, 0.8]])
    features.write_features(tmp_path / "a", {"embedding": rows}, HEADER, ["x"])
    assert torch.equal(features.read_embedding(tmp_path / "a"), rows)
    with pytest.raises(ArtifactError, match="no tensor 'embedding'"):
        features.read_embedding(write(tmp_path / "prompt.safetensors"))


def test_digest_tells_prompts_apart():
    digests = {features.digest_prompts(prompts) for prompts in ([[1, 2], [3]], [[1], [2, 3]], [[12], [3]], [[1, 2, 3]])}
    assert len(digests) == 4
