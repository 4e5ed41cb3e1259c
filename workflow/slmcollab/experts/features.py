"""Files of pooled hidden states and of sentence embeddings: one per model and split, for all that uses them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from slmcollab.artifacts import ArtifactError, digest_text, replacing
from slmcollab.digests import digests

POOLINGS = ("last_token", "first_token", "sampled_token", "first_layer", "sampled_layer")
# prompt: the expert reads the prompt alone, in its own chat template, up to where its answer would start.
# completion: then its own greedy answer too, without the token that ended it.
SEQUENCES = ("prompt", "completion")
EMBEDDING = "embedding"  # the one tensor of a file of sentence embeddings
OVERFLOWS = ("refuse", "truncate")


def fit_prompts(
    prompts: Sequence[list[int]], problem_ids: Sequence[str], *, limit: int, overflow: str
) -> tuple[list[list[int]], list[bool]]:
    """Return prompts of at most `limit` tokens and which were cut: at the start, since the end is what is read.

    Raises ValueError, naming the first problem whose prompt is longer, where `overflow` is refuse.
    """
    if overflow not in OVERFLOWS:
        raise ValueError(f"extraction.overflow: {overflow!r} is not one of {', '.join(OVERFLOWS)}")
    long = [(i, len(prompt)) for i, prompt in zip(problem_ids, prompts, strict=True) if len(prompt) > limit]
    if long and overflow == "refuse":
        raise ValueError(
            f"problem {long[0][0]}: a prompt of {long[0][1]} tokens, where extraction.max_tokens and the expert's "
            f"positions allow {limit} ({len(long)} such prompts); extraction.overflow: truncate would cut their starts"
        )
    return [prompt[-limit:] for prompt in prompts], [len(prompt) > limit for prompt in prompts]


def make_header(
    manifest: dict[str, Any],
    expert: str,
    *,
    dtype: str,
    sequence: str,
    read: Sequence[list[int]],
    truncated: int,
    code: str,
    files: Sequence[Path] = (),
) -> dict[str, Any]:
    """Return what made a file of features; manifest: the expert's; read: the ids that it read of each problem.

    files: what the job read.
    """
    return {
        "expert": expert,
        "id": manifest["id"] or "",
        "revision": manifest["revision"] or "",
        "dtype": dtype,
        "sequence": sequence,
        "prompts": digest_prompts(read),
        "truncated": str(truncated),
        "code": code,
        **digests(*files),
    }


def digest_prompts(prompts: Sequence[list[int]]) -> str:
    """Return the sha256 over the ids of all prompts, in order."""
    return digest_text("\n".join(" ".join(map(str, prompt)) for prompt in prompts))


def write_features(
    path: Path, features: dict[str, Float[Tensor, "problem width"]], header: dict[str, Any], problem_ids: Sequence[str]
) -> None:
    """Write features and header; equal values give equal bytes. Raises ArtifactError where a feature is not finite."""
    for pooling, values in features.items():
        bad = [i for i, finite in zip(problem_ids, values.isfinite().all(-1).tolist(), strict=True) if not finite]
        if bad:
            raise ArtifactError(
                f"{path}: {pooling} of problem {bad[0]} and {len(bad) - 1} others is not finite; another "
                f"extraction.dtype may be wide enough"
            )
    # One entry of metadata: the format writes several in an order that changes from process to process.
    text = json.dumps({**header, "num_problems": str(len(problem_ids))}, sort_keys=True)
    with replacing(path) as temporary:
        save_file({name: values.contiguous() for name, values in features.items()}, temporary, {"header": text})


def read_features(path: Path, pooling: str) -> Float[Tensor, "problem width"]:
    """Return one pooling's features, in the order of the split's problems, in fp32."""
    with _open(path) as file:
        if pooling not in set(file.keys()):
            raise ArtifactError(f"{path}: no tensor {pooling!r}; there are {', '.join(sorted(file.keys()))}")
        return file.get_tensor(pooling)


def read_embedding(path: Path) -> Float[Tensor, "problem width"]:
    """Return the sentence embedding of each question, in the order of the split's problems, in fp32."""
    return read_features(path, EMBEDDING)


def read_header(path: Path) -> dict[str, Any]:
    """Return what made the features: expert, revision, dtype, layers, prompts, num_problems, truncated, digests."""
    with _open(path) as file:
        text = (file.metadata() or {}).get("header", "{}")
    try:
        header = json.loads(text)
    except ValueError as error:
        raise ArtifactError(f"{path}: its header is no JSON ({error})") from error
    if not (isinstance(header, dict) and {"expert", "id", "revision", "code", "truncated"} <= header.keys()):
        raise ArtifactError(f"{path}: the header does not say which expert the features are from")
    return header


def _open(path: Path) -> safe_open:
    try:
        return safe_open(path, framework="pt")
    except (OSError, SafetensorError) as error:
        raise ArtifactError(f"{path}: not a whole file of features ({error})") from error
