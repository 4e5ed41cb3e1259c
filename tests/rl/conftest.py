"""A random policy of two layers, three experts' random features, and a scorer: enough to train on in a second."""

from dataclasses import replace

import pytest
import torch

from slmcollab import choice
from slmcollab.artifacts import Problem
from slmcollab.context.operator import AdapterSettings
from slmcollab.context.router import RouterSettings
from slmcollab.models import toy
from slmcollab.models.toy_tokenizer import build_tokenizer
from slmcollab.rl import conditioned, grpo, policy
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score

QUESTIONS = ["What is 3 + 4?", "Reverse abc.", "a", "What is 10 + 12 + 3?", "zz", "What is 9 + 9?"]
EXPERTS = {"math": 24, "string": 40, "naive": 56}
LORA = grpo.LoraSettings(rank=4, alpha=8, dropout=0.0, target_modules=["q_proj", "v_proj", "o_proj", "up_proj"])


class ShareOfDigits(Grader):
    """Rewards digits, which an untrained policy writes now and then; no scorer process, no tags."""

    def __init__(self):
        super().__init__("exact", 1.0)
        self.seen = []

    def grade(self, completions, problems):
        self.seen.append((list(completions), list(problems)))
        shares = [sum(c.isdigit() for c in text) / max(1, len(text)) for text in completions]
        return [Score(share, share == 1.0, text, None) for share, text in zip(shares, completions, strict=True)]


class Constant(Grader):
    def __init__(self, score, error=None):
        super().__init__("exact", 1.0)
        self.score = Score(score, False, None, error)

    def grade(self, completions, problems):
        return [self.score for _ in completions]


@pytest.fixture(scope="session")
def tokenizer():
    return build_tokenizer()


@pytest.fixture(scope="session")
def problems():
    return [
        Problem(f"p/{i}", question, [{"role": "user", "content": question}], "7")
        for i, question in enumerate(QUESTIONS)
    ]


@pytest.fixture(scope="session")
def features():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(len(QUESTIONS), width, generator=generator) for width in EXPERTS.values()]


@pytest.fixture(scope="session")
def base(tokenizer):
    """Return a function that makes the same random policy every time; weights are large enough to have opinions."""

    def make(architecture="qwen2", dtype=torch.float32):
        model = toy.build_model(toy.Architecture(architecture, 32, 2, 4), tokenizer, seed=0)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for weight in model.parameters():
                weight += 0.1 * torch.randn(weight.shape, generator=generator)
        return model.to(dtype)

    return make


@pytest.fixture(scope="session")
def embeddings():
    return torch.randn(len(QUESTIONS), 10, generator=torch.Generator().manual_seed(5))


@pytest.fixture(scope="session")
def load(base, tokenizer, problems, features, embeddings):
    """Return a function that makes a policy with what the operator uses of three experts, as load_policy does."""

    def make(
        operator="hidden_state",
        position="before_header",
        seed=0,
        features=features,
        dtype=torch.float32,
        architecture="qwen2",
        experts=tuple(EXPERTS),
        selection="learned",
    ):
        uses = choice.uses(operator)
        settings = policy.PolicySettings(
            dtype="float32",
            experts=list(experts),
            operator=operator,
            adapter=AdapterSettings(16, 4, 4, position) if "adapter" in uses else None,
            pooling=None,
            shuffled=False,
            answer_tokens=None,
            shuffled_order=False,
            router=RouterSettings("none", selection, 8, 0.01) if "router" in uses else None,
        )
        return conditioned.condition(
            base(architecture, dtype),
            tokenizer,
            problems,
            settings,
            features=features if "features" in uses else [],
            answers=[[f"{name} {row}" for name in experts] if "text" in uses else [] for row in range(len(problems))],
            embeddings=embeddings if "router" in uses else None,
            best=1,
            seed=seed,
        )

    return make


@pytest.fixture(scope="session")
def settings():
    return grpo.GrpoSettings(
        prompts_per_step=3,
        group_size=4,
        completions_per_device=6,
        beta=0.04,
        learning_rate=5e-3,
        max_steps=4,
        max_new_tokens=6,
        temperature=1.0,
        gradient_checkpointing=False,
        without_context_every=10**6,
        save_every=10**6,
    )


@pytest.fixture
def build(load, problems, settings, tmp_path):
    """Return a function that builds a trainer; changes are those of GrpoSettings."""

    def make(loaded=None, grader=None, seed=0, folder=tmp_path / "run", **changes):
        return grpo.build_trainer(
            loaded or load(),
            problems,
            grader or ShareOfDigits(),
            replace(settings, **changes),
            LORA,
            seed=seed,
            folder=folder,
        )

    return make


@pytest.fixture(scope="session")
def trained_weights():
    """Return a function from a trainer to what it trains, by name."""
    return lambda trainer: {
        name: weight.detach().clone() for name, weight in trainer.model.named_parameters() if weight.requires_grad
    }


@pytest.fixture(scope="session")
def graders():
    return {"digits": ShareOfDigits, "constant": Constant}
