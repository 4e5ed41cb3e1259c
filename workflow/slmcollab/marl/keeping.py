"""Checkpoints of a team in training: weights and optimisers of all slots, the history and the calls up to there."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from slmcollab.artifacts import ArtifactError, digest, read_json, replacing, write_json
from slmcollab.checkpoints import MARKER
from slmcollab.generation.calls import Call, read_calls, write_calls
from slmcollab.marl.policies import Policies

STATE, CALLS = "state.pt", "calls.parquet"


def keep(folder: Path, policies: Policies, history: Sequence[Mapping[str, Any]], calls: Sequence[Call]) -> None:
    """Write a checkpoint after as many iterations as the history has rows, and remove those before it.

    folder: named after the run's fingerprint, so that no other run reads what is in it.
    """
    made = folder / f"checkpoint-{len(history)}"
    with replacing(made) as temporary:
        temporary.mkdir()
        torch.save({"policies": policies.state(), "history": list(history)}, temporary / STATE)
        write_calls(temporary / CALLS, calls)
        digests = {name: digest(temporary / name) for name in (STATE, CALLS)}
        write_json(temporary / MARKER, {"fingerprint": folder.name, "files": digests})
    for other in folder.glob("checkpoint-*"):
        if other != made:
            shutil.rmtree(other)


def resume(folder: Path, policies: Policies) -> tuple[list[dict[str, Any]], list[Call]]:
    """Set the policies to the last whole checkpoint, if there is one; return the history and calls up to there."""
    for path in sorted(folder.glob("checkpoint-*"), key=lambda path: -int(path.name.rpartition("-")[2])):
        if _is_whole(path, folder.name):
            state = torch.load(path / STATE, map_location="cpu", weights_only=True)
            policies.load(state["policies"])
            return state["history"], read_calls(path / CALLS)
    return [], []


def _is_whole(path: Path, fingerprint: str) -> bool:
    try:
        marker = read_json(path / MARKER)
        made = {name: digest(path / name) for name in (STATE, CALLS)}
    except ArtifactError:
        return False
    return marker == {"fingerprint": fingerprint, "files": made}
