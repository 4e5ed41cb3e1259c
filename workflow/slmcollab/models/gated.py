"""Gated models of the hub: no token, no job. Standard library only until a model is gated: the workflow imports it."""

from collections.abc import Mapping
from typing import Any


def refusals(models: Mapping[str, dict[str, Any]]) -> list[str]:
    """Return one line for each gated model that cannot be fetched, with what to do; none where a token is stored.

    models: model name -> its block, of those that a run would fetch. One that is in the local cache needs no token.
    Whether the token's owner has accepted the terms only the hub knows. Without huggingface_hub nothing is said: the
    job that fetches has it, and refuses by itself.
    """
    gated = {name: block for name, block in models.items() if block.get("gated", False)}
    if not gated:
        return []
    try:
        from huggingface_hub import get_token
    except ImportError:
        return []
    if get_token() is not None:
        return []
    from slmcollab import snapshots

    return [
        f"models.{name}: {advice(block['id'])}"
        for name, block in gated.items()
        if snapshots.cached(block["id"], block["revision"], kind="model") is None
    ]


def advice(model_id: str) -> str:
    """Return what to do about a gated model."""
    return (
        f"{model_id} is gated: accept its terms on its hub page, https://huggingface.co/{model_id}, then log in with "
        f"`hf auth login` or set HF_TOKEN"
    )
