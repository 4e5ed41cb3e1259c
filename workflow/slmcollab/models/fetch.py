"""Make a model folder: fetch or copy its files, and describe them in a manifest."""

import shutil
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import get_token, snapshot_download
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError
from transformers import AutoConfig

from slmcollab.artifacts import ArtifactError, digest, write_json
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


def download(model_id: str, revision: str, folder: Path, gated: bool = False) -> None:
    """Fetch the weights, config and tokenizer of a hub model at a pinned commit into `folder`.

    Raises ArtifactError, saying what to do, where the revision is no full commit hash, a gated model's terms have not
    been accepted with a token, or the hub cannot be reached.
    """
    if len(revision) != 40 or set(revision) - set("0123456789abcdef"):
        raise ArtifactError(f"{model_id}: revision {revision!r} is not a commit hash of 40 hex digits")
    refused = ArtifactError(advice(model_id))
    if gated and get_token() is None:
        raise refused
    try:
        snapshot_download(model_id, revision=revision, local_dir=folder, allow_patterns=_FILES)
    except GatedRepoError as error:
        raise refused from error
    except LocalEntryNotFoundError as error:
        raise ArtifactError(f"{model_id}: the hub cannot be reached; fetch models where there is a network") from error
    shutil.rmtree(Path(folder) / ".cache", ignore_errors=True)  # the client's notes of when it fetched what


def copy(source: Path, folder: Path) -> None:
    """Copy a local model's config, weights and tokenizer files to `folder`."""
    source, folder = Path(source), Path(folder)
    files = sorted({file for pattern in _FILES for file in source.glob(pattern)})
    names = {file.name for file in files}
    if "config.json" not in names or not any(name.endswith(".safetensors") for name in names):
        raise ArtifactError(f"{source}: not a model folder (no config.json, or no model*.safetensors)")
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, folder / file.name)


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
    }
    write_json(path, manifest | measured)
