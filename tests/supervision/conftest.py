"""A team of three tiny models of two families, on disk, and recorded collaborations of theirs."""

import gc
from dataclasses import replace

import pytest
import torch

from slmcollab.artifacts import Problem
from slmcollab.generation.requests import Member
from slmcollab.models import toy
from slmcollab.models.adapters import LoraSettings
from slmcollab.models.hub import load_model
from slmcollab.models.toy_tokenizer import build_tokenizer
from slmcollab.protocol.prompt import Prompt
from slmcollab.protocol.response import Fields, serialise
from slmcollab.protocol.trajectory import TERMINATED, Step, Trajectory
from slmcollab.supervision.examples import Example
from slmcollab.supervision.trainer import RewardWeightedTrainer, TrainingSettings
from slmcollab.supervision.training import adapt

SLOTS = ("a1", "a2", "a3")
SETTINGS = TrainingSettings(
    epochs=2,
    batch_size=4,
    micro_batch_size=2,
    learning_rate=5e-3,
    max_tokens=200,
    lora=LoraSettings(rank=4, alpha=8, dropout=0.0, target_modules="all-linear"),
    dtype="float32",
    save_every=10**6,
)


@pytest.fixture(scope="session", autouse=True)
def collect_less():
    """Each training collects all garbage: let it not walk through what the imports made."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def tokenizer():
    return build_tokenizer()


@pytest.fixture(scope="session")
def members(tokenizer, tmp_path_factory):
    """Two members share a model: it is loaded once."""
    folders = {}
    for name, architecture in {"wide": "qwen2", "old": "gpt2"}.items():
        model = toy.build_model(toy.Architecture(architecture, 32, 2, 4), tokenizer, seed=0)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for weight in model.parameters():
                weight += 0.1 * torch.randn(weight.shape, generator=generator)
        folders[name] = tmp_path_factory.mktemp(name)
        model.save_pretrained(folders[name])
        tokenizer.save_pretrained(folders[name])
    names = dict(zip(SLOTS, ("wide", "old", "wide"), strict=True))
    return [Member(slot, name, folders[name], 1.0) for slot, name in names.items()]


@pytest.fixture(scope="session")
def prompt():
    return Prompt(
        {
            "user": "$question",
            "history": "$steps",
            "step": "$speaker: $response",
            "complaint": "No: $problem",
            "no_action": "an action!",
        }
    )


@pytest.fixture(scope="session")
def problems():
    return [
        Problem(f"p/{i}", f"{i} + 1?", [{"role": "user", "content": f"What is {i} + 1?"}], str(i + 1)) for i in range(4)
    ]


def make_step(slot, reasoning="r", answer="", action="continue", target=None, **more):
    text = serialise(Fields(reasoning, answer, action, target))
    return Step(slot, text, reasoning, answer, action, target, **more)


@pytest.fixture(scope="session")
def step():
    return make_step


@pytest.fixture(scope="session")
def trajectories(problems):
    """a1 hands off to a2, which terminates; then the other way round."""
    found = []
    for index, problem in enumerate(problems):
        first, second = ("a1", "a2") if index % 2 == 0 else ("a2", "a1")
        steps = (
            make_step(first, f"{index} up", "", "handoff", second),
            make_step(second, "a1 is right", problem.answer, "terminate"),
        )
        found.append(Trajectory(problem.id, 0, steps, TERMINATED))
    return found


@pytest.fixture(scope="session")
def make_examples():
    """Return a function that makes examples of different lengths with the rewards given."""

    def make(rewards):
        asked = [[{"role": "user", "content": "abc"[: 1 + i % 3]}] for i in range(len(rewards))]
        said = ["xyz"[i % 3] * (1 + i % 4) for i in range(len(rewards))]
        return [
            Example(read, text, None, reward, f"p#{i}", 0)
            for i, (read, text, reward) in enumerate(zip(asked, said, rewards, strict=True))
        ]

    return make


@pytest.fixture(scope="session")
def settings():
    return SETTINGS


@pytest.fixture
def build(members, tokenizer, tmp_path):
    """Return a function that makes a trainer of rows; changes are those of TrainingSettings."""

    def make(rows, member=members[0], folder=tmp_path / "run", seed=0, **changes):
        chosen = replace(SETTINGS, **changes)
        model = adapt(load_model(member.folder, dtype="float32"), member, chosen, seed)
        return RewardWeightedTrainer(model, tokenizer, rows, chosen, seed=seed, folder=folder)

    return make
