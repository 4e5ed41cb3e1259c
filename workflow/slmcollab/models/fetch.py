"""Make a model folder: fetch or copy its files, and describe them in a manifest."""

import shutil
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import get_token
from huggingface_hub.errors import GatedRepoError
from transformers import AutoConfig

from slmcollab import snapshots
from slmcollab.artifacts import ArtifactError, digest, read_json, write_json
from slmcollab.models import hub
from slmcollab.models.gated import advice

# One copy of the weights: repositories also hold consolidated, ONNX, Flax, GGUF and "original/" ones.
_FILES = [
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "model-*.safetensors",
    "model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "chat_template.jinja",
    "chat_template.json",
]
_TOKENIZERS = {"tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt"}  # any one will do


def download(model_id: str, revision: str, folder: Path, gated: bool = False) -> None:
    """Copy the weights, config and tokenizer of a hub model at a pinned commit to `folder`: from the cache or the hub.

    Raises ArtifactError, saying what to do, where the revision is no full commit hash, a gated model's terms have not
    been accepted with a token, or the model is not in the cache and the hub does not deliver it.
    """
    if len(revision) != 40 or set(revision) - set("0123456789abcdef"):
        raise ArtifactError(f"{model_id}: revision {revision!r} is not a commit hash of 40 hex digits")
    stored = snapshots.cached(model_id, revision, kind="model", files=_FILES)
    if stored is not None and not lacking(stored):
        copy(stored, folder)
        return
    refused = ArtifactError(advice(model_id))
    if gated and get_token() is None:
        raise refused
    try:
        snapshots.fetch(model_id, revision, kind="model", files=_FILES, folder=folder)
    except GatedRepoError as error:
        raise refused from error
    shutil.rmtree(Path(folder) / ".cache", ignore_errors=True)  # the client's notes of when it fetched what
    if missing := lacking(folder):
        raise ArtifactError(f"{model_id} (revision {revision}): the hub has no {', '.join(missing)}")


def copy(source: Path, folder: Path) -> None:
    """Copy a local model's config, weights and tokenizer files to `folder`."""
    source, folder = Path(source), Path(folder)
    if missing := lacking(source):
        raise ArtifactError(f"{source}: not a whole model folder, {', '.join(missing)} missing")
    folder.mkdir(parents=True, exist_ok=True)
    for file in {file for pattern in _FILES for file in source.glob(pattern)}:
        shutil.copyfile(file, folder / file.name)


def lacking(folder: Path) -> list[str]:
    """Return the files that a model folder lacks: config, weights (every part that its index lists), a tokenizer."""
    names = {file.name for file in Path(folder).glob("*") if file.is_file()}
    index = "model.safetensors.index.json"
    parts = set(read_json(Path(folder) / index)["weight_map"].values()) if index in names else {"model.safetensors"}
    tokenizer = set() if names & _TOKENIZERS else {"tokenizer.json"}
    return sorted(({"config.json"} | parts | tokenizer) - names)


def write_manifest(path: Path, folder: Path, *, model: str, block: dict[str, Any], **measured: Any) -> None:
    """Describe the weights in `folder`: where they are from, their shape, each file's sha256, what was measured."""
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    text = config.get_text_config()
    with torch.device("meta"):
        empty = hub.auto_class(config).from_config(config)
    manifest = {
        "model": model,
        "source": block["source"],
        "id": block.get("id", block.get("path")),
        "revision": block.get("revision"),
        "architecture": type(empty).__name__,
        "hidden_size": text.hidden_size,
        "num_layers": text.num_hidden_layers,
        "vocab_size": text.vocab_size,
        "max_positions": text.max_position_embeddings,
        "num_parameters": sum(parameter.numel() for parameter in empty.parameters()),  # a tied one counts once
        "files": {file.name: digest(file) for file in sorted(Path(folder).iterdir())},
        "sizes": {file.name: file.stat().st_size for file in sorted(Path(folder).iterdir())},
    }
    write_json(path, manifest | measured)
