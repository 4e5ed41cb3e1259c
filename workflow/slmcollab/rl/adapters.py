"""A trained policy's files: LoRA and context adapter, nothing of the frozen policy."""

from pathlib import Path

from peft import PeftModel
from safetensors.torch import save_file
from torch import nn
from transformers import PreTrainedModel

from slmcollab.artifacts import ArtifactError, replacing
from slmcollab.models import adapters

ROUTER = "router.safetensors"


def save_adapter(policy: PeftModel, folder: Path, *, name: str, router: nn.Module | None = None) -> None:
    """Write LoRA, operator and router to `folder`, equal bytes for equal weights; name: the base policy's."""
    with replacing(folder) as temporary:
        temporary.mkdir()
        adapters.write_adapter(policy, temporary, name=name)
        if router is not None:
            save_file(router.state_dict(), temporary / ROUTER)


def load_adapter(policy: PreTrainedModel, folder: Path, router: nn.Module | None = None) -> PeftModel:
    """Return `policy`, to which its operator is attached, with the weights that `save_adapter` wrote, for evaluation.

    A router that was trained with it gets its weights too. Raises ArtifactError where the folder lacks a weight or
    holds one that the policy has no place for.
    """
    adapted = adapters.load_adapter(policy, folder)
    if router is not None:
        path = Path(folder) / ROUTER
        try:
            router.load_state_dict(adapters.read_weights(path))
        except RuntimeError as error:
            raise ArtifactError(f"{path}: not the weights of this router ({' '.join(str(error).split())})") from error
    return adapted.eval()
