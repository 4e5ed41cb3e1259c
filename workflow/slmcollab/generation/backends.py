"""From what a job is told about a team to members and the backend that speaks for them."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, read_json
from slmcollab.generation.engine import LocalBackend
from slmcollab.generation.requests import Backend, Member
from slmcollab.generation.server import ServerBackend
from slmcollab.generation.serving import serving_team, vllm_command
from slmcollab.models.hub import weights

READY_S = 1800.0  # for a server to load tens of gigabytes
MEMORY_SHARE = 0.9  # of a GPU's memory, for all servers on it


def read_members(cell: Mapping[str, Any], manifests: Sequence[Path], adapters: Sequence[Path] = ()) -> list[Member]:
    """Return the members of a team: slot, model and adapter, if any, and how much a token of it weighs.

    cell: slots, models, and sizes where the config fixes them; any other size is the manifest's number of parameters.
    adapters: no folder, or the one that has a folder for each slot. Raises ArtifactError where it lacks one.
    """
    members = []
    for slot, model, manifest in zip(cell["slots"], cell["models"], manifests, strict=True):
        size = cell["sizes"].get(model) or read_json(manifest, "num_parameters")["num_parameters"] / 1e9
        adapter = adapters[0] / slot if adapters else None
        if adapter is not None and not adapter.is_dir():
            raise ArtifactError(f"{adapter}: no such folder")
        members.append(Member(slot, model, weights(manifest), size, adapter))
    return members


@contextlib.contextmanager
def open_backend(members: Sequence[Member], settings: Mapping[str, Any], dtype: str) -> Iterator[Backend]:
    """Yield what answers for the members; settings: the config's block `generation`.

    backend local: in this process. server: a vLLM server for each base model is started, and stopped at the end.
    """
    if settings["backend"] == "local":
        yield LocalBackend(members, dtype=dtype, resident=settings["resident"], batch_size=settings["batch_size"])
        return
    share = MEMORY_SHARE / len({member.folder for member in members})
    command = partial(vllm_command, dtype=dtype, memory_share=share)
    with serving_team(members, command, ready_s=READY_S) as endpoints:
        yield ServerBackend(endpoints, concurrency=settings["batch_size"])
