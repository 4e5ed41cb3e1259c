"""A trained policy's files: LoRA and context adapter, nothing of the frozen policy."""

from pathlib import Path

from peft import PeftConfig, PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import PreTrainedModel

from slmcollab.artifacts import ArtifactError, read_json, replacing, write_json

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"
ROUTER = "router.safetensors"


def save_adapter(policy: PeftModel, folder: Path, *, name: str, router: nn.Module | None = None) -> None:
    """Write LoRA, operator and router to `folder`, equal bytes for equal weights; name: the base policy's."""
    state = get_peft_model_state_dict(policy, save_embedding_layers=False)
    config = policy.peft_config["default"].to_dict()
    config = {key: sorted(value) if isinstance(value, set) else value for key, value in config.items()}
    with replacing(folder) as temporary:
        temporary.mkdir()
        save_file({key: value.cpu().contiguous() for key, value in state.items()}, temporary / WEIGHTS)
        if router is not None:
            save_file(router.state_dict(), temporary / ROUTER)
        # PEFT notes the path that the policy was loaded from, which is another one on every machine.
        write_json(temporary / CONFIG, config | {"base_model_name_or_path": name, "inference_mode": True})


def load_adapter(policy: PreTrainedModel, folder: Path, router: nn.Module | None = None) -> PeftModel:
    """Return `policy`, to which its operator is attached, with the weights that `save_adapter` wrote, for evaluation.

    A router that was trained with it gets its weights too. Raises ArtifactError where the folder lacks a weight or
    holds one that the policy has no place for.
    """
    weights, config = Path(folder) / WEIGHTS, Path(folder) / CONFIG
    if not weights.is_file() or "peft_type" not in read_json(config):
        raise ArtifactError(f"{folder}: not an adapter's folder")
    adapted = get_peft_model(policy, PeftConfig.from_pretrained(str(folder)))
    state, expected = load_file(weights), get_peft_model_state_dict(adapted, save_embedding_layers=False)
    if state.keys() != expected.keys():
        missing, foreign = sorted(expected.keys() - state.keys()), sorted(state.keys() - expected.keys())
        raise ArtifactError(f"{weights}: weights missing: {missing}; weights without a place: {foreign}")
    set_peft_model_state_dict(adapted, state)
    if router is not None:
        router.load_state_dict(load_file(Path(folder) / ROUTER))
    return adapted.eval()
