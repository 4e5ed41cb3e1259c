"""Model folders: load what a manifest describes. Weights lie beside their manifest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoTokenizer,
    Mxfp4Config,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from slmcollab.artifacts import ArtifactError, digest, read_json
from slmcollab.snapshots import advice

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

CHEAP = 2**26  # bytes, of a file that is digested before it is loaded

_GENERIC = ("TokenizersBackend", "PreTrainedTokenizerFast")
_PAD_TOKENS = ["<|finetune_right_pad_id|>"]  # padding that a family keeps without naming it in its tokenizer's config


def load_model(folder: Path, *, dtype: str) -> PreTrainedModel:
    """Return the causal language model in `folder`, in evaluation mode, on the GPU if there is one."""
    return _load(AutoModelForCausalLM, folder, dtype)


def load_encoder(folder: Path, *, dtype: str) -> PreTrainedModel:
    """Return the model in `folder`, of any kind, without a head: its output has a `last_hidden_state`."""
    return _load(AutoModel, folder, dtype)


def auto_class(config: PreTrainedConfig) -> type:
    """Return the class that reads a model whole: one with a head over the vocabulary only where it was trained so."""
    trained = config.architectures or []
    is_causal = not trained or trained[0] in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()
    return AutoModelForCausalLM if is_causal else AutoModel


def quantization(config: PreTrainedConfig) -> dict[str, Any]:
    """Return what to load a model of this config with: MXFP4 weights (gpt-oss) are unpacked to the dtype asked for.

    Their kernels would be fetched from the hub, and results would depend on whether a GPU has them.
    """
    stored = getattr(config, "quantization_config", None) or {}
    # ASSUME: gpt-oss is unpacked from MXFP4 whatever kernels there are, so that every machine computes the same.
    is_mxfp4 = stored.get("quant_method") == "mxfp4"
    return {"quantization_config": Mxfp4Config(dequantize=True)} if is_mxfp4 else {}


def _load(reader: type, folder: Path, dtype: str) -> PreTrainedModel:
    if dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r} is not one of {', '.join(DTYPES)}")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    how = quantization(AutoConfig.from_pretrained(folder, local_files_only=True))
    model = reader.from_pretrained(folder, dtype=DTYPES[dtype], local_files_only=True, **how)
    return model.eval().to(device)


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer in `folder`; one without a pad token gets its family's, or pads with its end token.

    Since pad may equal end, lengths come from lists of ids, never from `ids != pad`.
    """
    # AutoTokenizer goes by the model's family first: in a qwen2 folder it would put Qwen's splitting rules in the place
    # of those in tokenizer.json, also where the folder says that tokenizer.json is all there is to it.
    config = Path(folder) / "tokenizer_config.json"
    is_generic = config.is_file() and read_json(config).get("tokenizer_class") in _GENERIC
    reader = PreTrainedTokenizerFast if is_generic else AutoTokenizer
    tokenizer = reader.from_pretrained(folder, local_files_only=True)
    if tokenizer.pad_token is None:
        known = tokenizer.get_vocab()
        tokenizer.pad_token = next((token for token in _PAD_TOKENS if token in known), tokenizer.eos_token)
    if tokenizer.pad_token is None:
        raise ArtifactError(f"{folder}: the tokenizer has neither a pad nor an end token")
    return tokenizer


def weights(manifest_path: Path) -> Path:
    """Return the folder of weights beside a manifest; raises ArtifactError where it lacks a file that this lists."""
    path = Path(manifest_path)
    folder, manifest = path.parent / "weights", read_json(path)
    if missing := [name for name in manifest["files"] if not (folder / name).is_file()]:
        what = f"{folder}: models.{manifest['model']} lacks {', '.join(missing)}, which its manifest lists"
        if manifest["source"] == "hub":
            what += f", of {manifest['id']} (revision {manifest['revision']}). {advice(path, '--force')}"
        raise ArtifactError(what)
    check_weights(folder, manifest)
    return folder


def check_weights(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise ArtifactError where a file of weights is not the one that its manifest lists.

    Files of gigabytes are told by their size alone: every job loads them.
    """
    for name, size in manifest.get("sizes", {}).items():
        file = folder / name
        if file.stat().st_size != size or (size <= CHEAP and digest(file) != manifest["files"][name]):
            raise ArtifactError(f"{file}: not the file that {folder.with_name('manifest.json')} lists")
