"""Model folders: fetch or copy one, describe it in a manifest, load it. Weights lie beside their manifest."""

import shutil
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import get_token, snapshot_download
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

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
    "chat_template.jinja",
    "chat_template.json",
]
_PAD_TOKENS = ["<|finetune_right_pad_id|>"]  # padding that a family keeps without naming it in its tokenizer's config


def load_model(folder: Path, *, dtype: str) -> PreTrainedModel:
    """Return the causal language model in `folder`, in evaluation mode, on the GPU if there is one."""
    if dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r} is not one of {', '.join(DTYPES)}")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=DTYPES[dtype], local_files_only=True)
    return model.eval().to(device)


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer in `folder`; one without a pad token gets its family's, or pads with its end token.

    Since pad may equal end, lengths come from lists of ids, never from `ids != pad`.
    """
    # AutoTokenizer goes by the model's family first: in a qwen2 folder it would put Qwen's splitting rules in the place
    # of those in tokenizer.json, also where the folder says that tokenizer.json is all there is to it.
    config = Path(folder) / "tokenizer_config.json"
    is_generic = config.is_file() and read_json(config).get("tokenizer_class") == "TokenizersBackend"
    reader = PreTrainedTokenizerFast if is_generic else AutoTokenizer
    tokenizer = reader.from_pretrained(folder, local_files_only=True)
    if tokenizer.pad_token is None:
        known = tokenizer.get_vocab()
        tokenizer.pad_token = next((token for token in _PAD_TOKENS if token in known), tokenizer.eos_token)
    if tokenizer.pad_token is None:
        raise ArtifactError(f"{folder}: the tokenizer has neither a pad nor an end token")
    return tokenizer


def download(model_id: str, revision: str, folder: Path, gated: bool = False) -> None:
    """Fetch the weights, config and tokenizer of a hub model at a pinned commit into `folder`.

    Raises ArtifactError, saying what to do, where the revision is no full commit hash, a gated model's terms have not
    been accepted with a token, or the hub cannot be reached.
    """
    if len(revision) != 40 or set(revision) - set("0123456789abcdef"):
        raise ArtifactError(f"{model_id}: revision {revision!r} is not a commit hash of 40 hex digits")
    refused = ArtifactError(
        f"{model_id} is gated: accept its terms at https://huggingface.co/{model_id}, then log in with `hf auth login` "
        f"or set HF_TOKEN"
    )
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
        empty = AutoModelForCausalLM.from_config(config)
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


def weights(manifest_path: Path) -> Path:
    """Return the folder of weights beside a manifest; raises ArtifactError where it lacks a file that this lists."""
    folder = Path(manifest_path).parent / "weights"
    missing = [name for name in read_json(manifest_path)["files"] if not (folder / name).is_file()]
    if missing:
        raise ArtifactError(f"{folder}: {', '.join(missing)} missing, which {manifest_path} lists")
    return folder
