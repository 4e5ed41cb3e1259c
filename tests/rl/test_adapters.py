"""A trained policy, written and read back."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from slmcollab.artifacts import ArtifactError
from slmcollab.generation.greedy import generate_greedy
from slmcollab.models.adapters import CONFIG, WEIGHTS
from slmcollab.rl.adapters import load_adapter, save_adapter


@pytest.fixture
def trained(build):
    trainer = build(max_steps=3, learning_rate=0.05)
    trainer.train()
    return trainer


def logits(model, prompts):
    with torch.no_grad():
        return [model(input_ids=torch.tensor([prompt])).logits for prompt in prompts]


def test_reloaded_policy_answers_alike_in_another_object(trained, load, tokenizer, tmp_path):
    save_adapter(trained.model, tmp_path / "adapter", name="toy")
    fresh = load(seed=9)  # another initial adapter, so that every weight has to come from the file
    untrained = logits(fresh.model, fresh.decided_prompts())
    reloaded = load_adapter(fresh.model, tmp_path / "adapter")
    assert not reloaded.training
    expected = logits(trained.model.eval(), fresh.decided_prompts())
    for new, old, before in zip(logits(reloaded, fresh.decided_prompts()), expected, untrained, strict=True):
        assert torch.equal(new, old)
        assert not torch.allclose(new, before, atol=0.01)
    options = {"max_new_tokens": 6, "batch_size": 4}
    assert generate_greedy(reloaded, tokenizer, fresh.decided_prompts(), **options) == generate_greedy(
        trained.model, tokenizer, fresh.decided_prompts(), **options
    )


def test_folder_holds_the_trained_weights_and_their_config_only(trained, tmp_path, trained_weights):
    folder = tmp_path / "adapter"
    save_adapter(trained.model, folder, name="toy")
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, WEIGHTS]
    assert len(load_file(folder / WEIGHTS)) == len(trained_weights(trained))
    config = json.loads((folder / CONFIG).read_text())
    assert config["base_model_name_or_path"] == "toy"
    assert config["target_modules"] == ["o_proj", "q_proj", "up_proj", "v_proj"]
    assert str(tmp_path) not in (folder / CONFIG).read_text()


def test_equal_weights_give_equal_bytes(trained, tmp_path):
    for name in ("once", "again"):
        save_adapter(trained.model, tmp_path / name, name="toy")
    for name in (CONFIG, WEIGHTS):
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state.pop(next(name for name in state if "queries" in name)), "weights missing: .*queries"),
        (lambda state: state.pop(next(name for name in state if "lora_A" in name)), "weights missing: .*lora_A"),
        (lambda state: state.update(extra=torch.zeros(1)), r"without a place: \['extra'\]"),
    ],
)
def test_a_missing_or_foreign_weight_is_an_error(trained, load, tmp_path, change, message):
    folder = tmp_path / "adapter"
    save_adapter(trained.model, folder, name="toy")
    state = load_file(folder / WEIGHTS)
    change(state)
    save_file(state, folder / WEIGHTS)
    with pytest.raises(ArtifactError, match=message):
        load_adapter(load().model, folder)


def test_weights_of_a_policy_with_context_do_not_fit_one_without(trained, load, tmp_path):
    save_adapter(trained.model, tmp_path / "adapter", name="toy")
    with pytest.raises((ArtifactError, ValueError), match="context_adapter"):
        load_adapter(load("none").model, tmp_path / "adapter")


def test_a_folder_without_an_adapter_is_named(load, tmp_path):
    with pytest.raises(ArtifactError, match=f"{tmp_path}: not an adapter's folder"):
        load_adapter(load().model, tmp_path)


def test_a_learned_router_is_kept_with_the_policy_and_decides_alike_when_reloaded(build, load, tmp_path):
    loaded = load("routing")
    trainer = build(loaded=loaded, max_steps=3, learning_rate=0.05)
    trainer.train()
    save_adapter(trainer.model, tmp_path / "adapter", name="toy", router=loaded.learned_router)
    fresh = load("routing", seed=9)
    embeddings = fresh.routing.embeddings
    assert not torch.allclose(fresh.routing.router(embeddings), loaded.routing.router(embeddings), atol=0.01)
    load_adapter(fresh.model, tmp_path / "adapter", fresh.learned_router)
    assert torch.equal(fresh.routing.router(embeddings), loaded.routing.router(embeddings))
    assert fresh.decided_prompts() == loaded.decided_prompts()
