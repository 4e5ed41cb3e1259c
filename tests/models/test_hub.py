"""Model folders: fetched, copied, described and loaded; nothing here needs a network."""

import json

import httpx2
import pytest
import torch
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

from slmcollab import snapshots
from slmcollab.artifacts import ArtifactError, digest
from slmcollab.models import fetch, hub, toy
from slmcollab.models.toy_tokenizer import build_tokenizer

NUM_TOKENS = len(build_tokenizer())
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
    # Embedding, 8 wide, tied. A block: q, k, v 3 (64 + 8), o 64, gate, up, down 3 (8 x 24), two norms 16. Final norm 8.
    assert manifest["num_parameters"] == NUM_TOKENS * 8 + 2 * (3 * 72 + 64 + 3 * 192 + 16) + 8
    expected = {
        "model": "small",
        "source": "toy",
        "id": None,
        "revision": None,
        "architecture": "Qwen2ForCausalLM",
        "hidden_size": 8,
        "num_layers": 2,
        "vocab_size": NUM_TOKENS,
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
    with pytest.raises(ArtifactError, match=r"weights: models\.small lacks .*model\.safetensors.* manifest lists$"):
        hub.weights(manifest)
    block = {"source": "hub", "id": "some/model", "revision": "abc"}
    fetch.write_manifest(manifest, folder, model="small", block=block)
    with pytest.raises(ArtifactError, match=r"some/model \(revision abc\)\. Fetch it .*slurm --force .*json`"):
        hub.weights(manifest)
    with pytest.raises(ArtifactError, match=r"none\.json: no such file$"):
        hub.weights(tmp_path / "none.json")


def test_copy_takes_what_a_model_needs(folder, tmp_path):
    source = tmp_path / "source"
    fetch.copy(folder, source)
    (source / "consolidated.safetensors").write_text("the same weights again")
    (source / "README.md").write_text("read")
    fetch.copy(source, tmp_path / "copy")
    assert digest(tmp_path / "copy") == digest(folder)


def test_copy_refuses_a_folder_without_a_model(tmp_path):
    with pytest.raises(ArtifactError, match=r"not a whole model folder, config\.json, model\.safetensors"):
        fetch.copy(tmp_path, tmp_path / "copy")


class Response:
    """What an error of the hub's client reads from a response."""

    headers: dict = {}  # noqa: RUF012
    request = None


@pytest.mark.parametrize("revision", ["main", REVISION[:-1], REVISION.upper()])
def test_revision_must_be_a_commit_hash(tmp_path, revision, monkeypatch):
    monkeypatch.setattr(snapshots, "cached", lambda *_, **__: pytest.fail("was called"))
    with pytest.raises(ArtifactError, match=r"some/model: revision .* 40 hex digits"):
        fetch.download("some/model", revision, tmp_path)


def test_download_asks_for_one_copy_at_the_pinned_revision(folder, tmp_path, monkeypatch):
    asked = {}

    def fetched(model_id, revision, *, kind, files, folder):
        asked.update(id=model_id, revision=revision, kind=kind, patterns=files)
        fetch.copy(whole, folder)
        (folder / ".cache").mkdir()

    whole = folder
    monkeypatch.setattr(snapshots, "cached", lambda *_, **__: None)
    monkeypatch.setattr(snapshots, "fetch", fetched)
    fetch.download("some/model", REVISION, tmp_path / "weights")
    assert (asked["id"], asked["revision"], asked["kind"]) == ("some/model", REVISION, "model")
    from huggingface_hub.utils import filter_repo_objects

    wanted = ["config.json", "model.safetensors", "model-00001-of-00002.safetensors", "tokenizer.json", "merges.txt"]
    others = ["consolidated.safetensors", "original/model.safetensors", "onnx/config.json", "model.gguf", "README.md"]
    assert list(filter_repo_objects(wanted + others, allow_patterns=asked["patterns"])) == wanted
    assert not (tmp_path / "weights/.cache").exists()


def test_what_a_model_folder_lacks(folder, tmp_path):
    fetch.copy(folder, tmp_path / "whole")
    assert fetch.lacking(tmp_path / "whole") == []
    (tmp_path / "whole/model.safetensors").rename(tmp_path / "whole/model-00001-of-00002.safetensors")
    assert fetch.lacking(tmp_path / "whole") == ["model.safetensors"]
    parts = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (tmp_path / "whole/model.safetensors.index.json").write_text(json.dumps(parts))
    assert fetch.lacking(tmp_path / "whole") == ["model-00002-of-00002.safetensors"]
    assert fetch.lacking(tmp_path / "none") == ["config.json", "model.safetensors", "tokenizer.json"]


@pytest.mark.parametrize("stored", [True, False])
def test_gated_model_needs_a_token_only_where_it_is_not_cached(folder, tmp_path, monkeypatch, stored):
    monkeypatch.setattr(fetch, "get_token", lambda: None)
    monkeypatch.setattr(snapshots, "cached", lambda *_, **__: folder if stored else None)
    monkeypatch.setattr(snapshots, "fetch", lambda *_, **__: pytest.fail("was called"))
    if stored:
        fetch.download("some/model", REVISION, tmp_path / "copy", gated=True)
        assert digest(tmp_path / "copy") == digest(folder)
    else:
        with pytest.raises(ArtifactError, match=r"some/model is gated: accept its terms.*HF_TOKEN"):
            fetch.download("some/model", REVISION, tmp_path / "copy", gated=True)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (GatedRepoError("403", response=Response()), "some/model is gated: accept its terms"),
        (LocalEntryNotFoundError("no network"), r"some/model \(revision 0123456\w+\) is not in the local cache and"),
        (httpx2.ConnectError("no route"), r"the hub did not deliver it \(ConnectError: no route\)"),
    ],
)
def test_refused_and_unreachable_are_told_apart(tmp_path, monkeypatch, error, message):
    def fetched(*_, **__):
        raise error

    monkeypatch.setattr(snapshots.HfApi, "repo_info", lambda *_, **__: None)
    monkeypatch.setattr(snapshots, "cached", lambda *_, **__: None)
    monkeypatch.setattr(snapshots, "snapshot_download", fetched)
    with pytest.raises(ArtifactError, match=message):
        fetch.download("some/model", REVISION, tmp_path)


def bert_folder(folder):
    sizes = {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = AutoConfig.for_model("bert", vocab_size=NUM_TOKENS, max_position_embeddings=32, **sizes)
    AutoModel.from_config(config).save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)
    return folder


def test_an_encoder_is_described_and_loaded_without_a_head(tmp_path):
    folder = bert_folder(tmp_path / "weights")
    fetch.write_manifest(tmp_path / "manifest.json", folder, model="mini", block={"source": "path"})
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    # Embeddings of tokens, 32 positions and 2 types, 8 wide, and a norm 16. Block: q, k, v, o 4 (64 + 8),
    # up 8 x 16 + 16, down 16 x 8 + 8, two norms 32. Pooler 64 + 8.
    assert manifest["num_parameters"] == (NUM_TOKENS + 34) * 8 + 16 + 4 * 72 + 144 + 136 + 32 + 72
    assert (manifest["architecture"], manifest["hidden_size"], manifest["max_positions"]) == ("BertModel", 8, 32)
    encoder = hub.load_encoder(folder, dtype="float32")
    assert type(encoder).__name__ == "BertModel"
    assert not encoder.training


def test_a_causal_model_can_be_an_encoder(folder):
    encoder = hub.load_encoder(folder, dtype="float32")
    ids = torch.tensor([[1, 2, 3]], device=encoder.device)
    whole = hub.load_model(folder, dtype="float32")(ids, output_hidden_states=True)
    assert torch.equal(encoder(ids).last_hidden_state, whole.hidden_states[-1])


def mxfp4_folder(folder):
    """A gpt-oss whose every stored weight of its two experts is 1 or -3, times 2 to the power of -4."""
    sizes = {"hidden_size": 32, "intermediate_size": 32, "head_dim": 16, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "num_local_experts": 2, "num_experts_per_tok": 1}
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    config = AutoConfig.for_model("gpt_oss", vocab_size=16, **sizes, **heads, **ids)
    AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    for name in [name for name in tensors if name.endswith(("gate_up_proj", "down_proj"))]:
        rows = tensors.pop(name).shape[2]
        # E2M1, two in a byte, the low half first: 0010 is 1, 1101 is -3. A scale of 123 is 2 to the power of 123 - 127.
        tensors[f"{name}_blocks"] = torch.full((2, rows, 1, 16), 0b1101_0010, dtype=torch.uint8)
        tensors[f"{name}_scales"] = torch.full((2, rows, 1), 123, dtype=torch.uint8)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    stored = json.loads((folder / "config.json").read_text())
    stored["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}
    (folder / "config.json").write_text(json.dumps(stored))
    return folder


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_mxfp4_weights_are_unpacked(tmp_path, dtype):
    model = hub.load_model(mxfp4_folder(tmp_path), dtype=dtype)
    experts = model.model.layers[0].mlp.experts
    for weights, rows in ((experts.gate_up_proj, 64), (experts.down_proj, 32)):
        assert weights.dtype == getattr(torch, dtype)
        assert weights.shape == (2, 32, rows)
        # Stored by output, used by input: an input's weights are alike, 1 / 16 for even ones and -3 / 16 for odd ones.
        assert torch.equal(weights[1, :, 0].float().cpu(), torch.tensor([1, -3]).repeat(16) / 16)
    assert model(torch.tensor([[3, 4]], device=model.device)).logits.isfinite().all()


def test_only_mxfp4_asks_for_unpacking(folder, tmp_path):
    config = AutoConfig.from_pretrained(mxfp4_folder(tmp_path))
    assert hub.quantization(config)["quantization_config"].dequantize
    config.quantization_config = {"quant_method": "bitsandbytes"}
    assert hub.quantization(config) == {}
    assert hub.quantization(AutoConfig.from_pretrained(folder)) == {}


def test_mxfp4_manifest_counts_weights_and_not_bytes(tmp_path):
    folder = mxfp4_folder(tmp_path / "weights")
    fetch.write_manifest(tmp_path / "manifest.json", folder, model="moe", block={"source": "path"})
    unpacked = sum(parameter.numel() for parameter in hub.load_model(folder, dtype="bfloat16").parameters())
    assert json.loads((tmp_path / "manifest.json").read_text())["num_parameters"] == unpacked
