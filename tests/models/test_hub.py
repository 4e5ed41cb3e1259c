"""Model folders: fetched, copied, described and loaded; nothing here needs a network."""

import json

import pytest
import torch
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError

from slmcollab.artifacts import ArtifactError, digest
from slmcollab.models import fetch, hub, toy
from slmcollab.models.toy_tokenizer import build_tokenizer

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "weights"
    tokenizer = build_tokenizer()
    toy.build_model(toy.Architecture("qwen2", 8, 2, 2), tokenizer, seed=0).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_loaded_model_is_the_saved_one(folder):
    model = hub.load_model(folder, dtype="float32")
    built = toy.build_model(toy.Architecture("qwen2", 8, 2, 2), build_tokenizer(), seed=0)
    ids = torch.tensor([[1, 2, 3]])
    assert torch.equal(model(ids.to(model.device)).logits.cpu(), built(ids).logits)
    assert not model.training
    assert hub.load_model(folder, dtype="bfloat16").dtype == torch.bfloat16


@pytest.mark.parametrize("family", ["qwen2", "llama", "gpt2"])
def test_loaded_tokenizer_splits_like_the_saved_one_in_a_folder_of_any_family(tmp_path, family):
    tokenizer, text = build_tokenizer(), "What is 3 + 12?<answer>15</answer>"
    toy.build_model(toy.Architecture(family, 8, 1, 2), tokenizer, seed=0).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = hub.load_tokenizer(tmp_path)
    assert loaded(text).input_ids == tokenizer(text).input_ids
    assert loaded.decode(loaded(text).input_ids) == text


def test_unknown_dtype_is_refused(folder):
    with pytest.raises(ValueError, match="'half' is not one of float32, bfloat16, float16"):
        hub.load_model(folder, dtype="half")


@pytest.mark.parametrize(
    ("known", "eos", "expected"),
    [([], "<eos>", "<eos>"), (["<|finetune_right_pad_id|>"], "<eos>", "<|finetune_right_pad_id|>")],
)
def test_missing_pad_token_is_set(tmp_path, known, eos, expected):
    tokenizer = build_tokenizer()
    tokenizer.add_tokens(known, special_tokens=True)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(tmp_path)
    assert hub.load_tokenizer(tmp_path).pad_token == expected


def test_tokenizer_without_pad_and_end_is_refused(tmp_path):
    tokenizer = build_tokenizer()
    tokenizer.pad_token = tokenizer.eos_token = None
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ArtifactError, match="neither a pad nor an end token"):
        hub.load_tokenizer(tmp_path)


def test_manifest_describes_the_weights(folder):
    path = folder.parent / "manifest.json"
    fetch.write_manifest(path, folder, model="small", block={"source": "toy"}, accuracy={"sums": 1.0})
    manifest = json.loads(path.read_text())
    # Embedding 192 x 8, tied. A block: q, k, v 3 (64 + 8), o 64, gate, up, down 3 (8 x 24), two norms 16. Final norm 8.
    assert manifest["num_parameters"] == 192 * 8 + 2 * (3 * 72 + 64 + 3 * 192 + 16) + 8
    expected = {
        "model": "small",
        "source": "toy",
        "id": None,
        "revision": None,
        "architecture": "Qwen2ForCausalLM",
        "hidden_size": 8,
        "num_layers": 2,
        "vocab_size": 192,
        "max_positions": 512,
        "accuracy": {"sums": 1.0},
    }
    assert {key: manifest[key] for key in expected} == expected
    assert manifest["files"]["model.safetensors"] == digest(folder / "model.safetensors")
    assert {"config.json", "tokenizer.json", "chat_template.jinja"} < set(manifest["files"])
    assert hub.weights(path) == folder


def test_missing_weights_are_named(folder, tmp_path):
    manifest = tmp_path / "manifest.json"
    fetch.write_manifest(manifest, folder, model="small", block={"source": "toy"})
    with pytest.raises(ArtifactError, match=r"model\.safetensors"):
        hub.weights(manifest)


def test_copy_takes_what_a_model_needs(folder, tmp_path):
    source = tmp_path / "source"
    fetch.copy(folder, source)
    (source / "consolidated.safetensors").write_text("the same weights again")
    (source / "README.md").write_text("read")
    fetch.copy(source, tmp_path / "copy")
    assert digest(tmp_path / "copy") == digest(folder)


def test_copy_refuses_a_folder_without_a_model(tmp_path):
    with pytest.raises(ArtifactError, match="not a model folder"):
        fetch.copy(tmp_path, tmp_path / "copy")


class Response:
    """What an error of the hub's client reads from a response."""

    headers: dict = {}  # noqa: RUF012
    request = None


@pytest.mark.parametrize("revision", ["main", REVISION[:-1], REVISION.upper()])
def test_revision_must_be_a_commit_hash(tmp_path, revision, monkeypatch):
    monkeypatch.setattr(fetch, "snapshot_download", lambda *_, **__: pytest.fail("was called"))
    with pytest.raises(ArtifactError, match=r"some/model: revision .* 40 hex digits"):
        fetch.download("some/model", revision, tmp_path)


def test_download_asks_for_one_copy_at_the_pinned_revision(tmp_path, monkeypatch):
    asked = {}

    def fetched(model_id, *, revision, local_dir, allow_patterns):
        asked.update(id=model_id, revision=revision, patterns=allow_patterns)
        (local_dir / ".cache").mkdir(parents=True)

    monkeypatch.setattr(fetch, "snapshot_download", fetched)
    fetch.download("some/model", REVISION, tmp_path / "weights")
    assert (asked["id"], asked["revision"]) == ("some/model", REVISION)
    from huggingface_hub.utils import filter_repo_objects

    wanted = ["config.json", "model.safetensors", "model-00001-of-00002.safetensors", "tokenizer.json", "merges.txt"]
    others = ["consolidated.safetensors", "original/model.safetensors", "onnx/config.json", "model.gguf", "README.md"]
    assert list(filter_repo_objects(wanted + others, allow_patterns=asked["patterns"])) == wanted
    assert not (tmp_path / "weights/.cache").exists()


def test_gated_model_without_a_token_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "get_token", lambda: None)
    monkeypatch.setattr(fetch, "snapshot_download", lambda *_, **__: pytest.fail("was called"))
    with pytest.raises(ArtifactError, match=r"some/model is gated: accept its terms.*HF_TOKEN"):
        fetch.download("some/model", REVISION, tmp_path, gated=True)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (GatedRepoError("403", response=Response()), "some/model is gated: accept its terms"),
        (LocalEntryNotFoundError("no network"), "some/model: the hub cannot be reached"),
    ],
)
def test_refused_and_unreachable_are_told_apart(tmp_path, monkeypatch, error, message):
    def fetched(*_, **__):
        raise error

    monkeypatch.setattr(fetch, "snapshot_download", fetched)
    with pytest.raises(ArtifactError, match=message):
        fetch.download("some/model", REVISION, tmp_path)
