"""LoRA adapters: how one is put on a model, and its folder, the same bytes for the same weights."""

from dataclasses import dataclass
from pathlib import Path

from peft import LoraConfig, PeftConfig, PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel

from slmcollab.artifacts import ArtifactError, read_json, replacing, write_json

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"


@dataclass(frozen=True)
class LoraSettings:
    """dropout is a probability; target_modules names the model's layers that get LoRA, or is "all-linear"."""

    rank: int
    alpha: int | float
    dropout: float
    target_modules: list[str] | str

    def config(self, modules_to_save: list[str] | None = None) -> LoraConfig:
        """Return PEFT's config of these settings; modules_to_save are trained whole."""
        return LoraConfig(
            r=self.rank,
            lora_alpha=self.alpha,
            lora_dropout=self.dropout,
            target_modules=self.target_modules,
            modules_to_save=modules_to_save,
            task_type="CAUSAL_LM",
        )


def save_adapter(model: PeftModel, folder: Path, *, name: str) -> None:
    """Write what is trained of `model` to a new `folder`; name: the base model's."""
    with replacing(folder) as temporary:
        temporary.mkdir()
        write_adapter(model, temporary, name=name)


def write_adapter(model: PeftModel, folder: Path, *, name: str, adapter: str = "default") -> None:
    """Write what is trained of `model` in one of its adapters into `folder`, which is there already."""
    state = get_peft_model_state_dict(model, adapter_name=adapter, save_embedding_layers=False)
    config = model.peft_config[adapter].to_dict()
    config = {key: sorted(value) if isinstance(value, set) else value for key, value in config.items()}
    save_file({key: value.cpu().contiguous() for key, value in state.items()}, folder / WEIGHTS)
    # PEFT notes the path that the model was loaded from, which is another one on every machine.
    write_json(folder / CONFIG, config | {"base_model_name_or_path": name, "inference_mode": True})


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; raises ArtifactError where it is not whole."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise ArtifactError(f"{path}: not a whole file of weights ({error})") from error


def load_adapter(
    model: PreTrainedModel | PeftModel, folder: Path, *, name: str = "default", trainable: bool = False
) -> PeftModel:
    """Return `model` with the adapter that was written to `folder`, under a name, beside those that it has.

    Raises ArtifactError where the folder lacks a weight or holds one that the model has no place for.
    """
    weights, config = Path(folder) / WEIGHTS, Path(folder) / CONFIG
    if not weights.is_file() or not config.is_file() or "peft_type" not in read_json(config):
        raise ArtifactError(f"{folder}: not an adapter's folder: it needs {WEIGHTS} and {CONFIG}")
    state = read_weights(weights)
    try:
        described = PeftConfig.from_pretrained(str(folder))
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError(f"{config}: not the config of an adapter ({error!r})") from error
    described.inference_mode = not trainable
    if isinstance(model, PeftModel):
        model.add_adapter(name, described)
    else:
        model = get_peft_model(model, described, adapter_name=name)
    expected = get_peft_model_state_dict(model, adapter_name=name, save_embedding_layers=False)
    if state.keys() != expected.keys():
        missing, foreign = sorted(expected.keys() - state.keys()), sorted(state.keys() - expected.keys())
        raise ArtifactError(f"{weights}: weights missing: {missing}; weights without a place: {foreign}")
    try:
        set_peft_model_state_dict(model, state, adapter_name=name)
    except RuntimeError as error:
        raise ArtifactError(f"{weights}: weights of other shapes ({' '.join(str(error).split())})") from error
    return model
