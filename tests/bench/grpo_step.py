"""A GRPO step with context tokens against one of TRL's own trainer without them, at equal numbers of tokens."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
import trl.trainer.utils
from datasets import Dataset
from measure import Figure
from peft import LoraConfig
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    TrainerCallback,
)
from trl import GRPOTrainer

from slmcollab.artifacts import Problem
from slmcollab.context.operator import AdapterSettings
from slmcollab.models.toy_tokenizer import build_tokenizer
from slmcollab.rl import conditioned, grpo
from slmcollab.rl.policy import PolicySettings
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score

PROMPT, COMPLETION, GROUP, PROMPTS, CONTEXT = 96, 64, 8, 4, 8
EXPERTS = {"math": 1536, "coder": 3584, "general": 3072}
STEPS = 3  # of one call of train(); the first, in which the context is left out as well, is not counted
LORA = grpo.LoraSettings(
    rank=8,
    alpha=16,
    dropout=0.0,
    target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
)
SETTINGS = grpo.GrpoSettings(
    prompts_per_step=PROMPTS,
    group_size=GROUP,
    completions_per_device=GROUP * PROMPTS,
    beta=0.04,
    learning_rate=1e-4,
    max_steps=STEPS,
    max_new_tokens=COMPLETION,
    temperature=1.0,
    gradient_checkpointing=True,
    without_context_every=10**6,
    save_every=10**6,
)


def share_of_even(completions: list[str]) -> list[float]:
    """Reward each text by its number of characters modulo 7: different within a group, and free."""
    return [len(text) % 7 / 7 for text in completions]


class Free(Grader):
    def grade(self, completions, problems):
        return [Score(score, False, "", None) for score in share_of_even(list(completions))]


def random_policy(tokenizer, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """Return a random qwen2 whose sampler never gets the end token, so that all completions are equally long."""
    config = AutoConfig.for_model(
        "qwen2",
        vocab_size=8192,
        hidden_size=256,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=8,
        intermediate_size=768,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).to(dtype)
    end = torch.tensor([tokenizer.eos_token_id])
    model.lm_head.register_forward_hook(lambda _module, _inputs, logits: logits.index_fill_(-1, end, -torch.inf))
    return model


def problems(length: int) -> list[Problem]:
    """Return problems whose prompts have `length` tokens: the two marks of the template, and letters."""
    texts = [f"{'abcdefgh'[row % 8]}" * (length - 2) for row in range(STEPS * PROMPTS)]
    return [Problem(f"p/{row}", text, [{"role": "user", "content": text}], "7") for row, text in enumerate(texts)]


def condition(policy: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> conditioned.ConditionedPolicy:
    """Return the policy with method hidden_state over random features of three experts."""
    adapter = AdapterSettings(latent_dim=512, num_heads=8, m=CONTEXT, context_position="before_header")
    cell = {"dtype": "", "experts": list(EXPERTS), "operator": "hidden_state"}
    rows = problems(PROMPT - CONTEXT)
    return conditioned.condition(
        policy,
        tokenizer,
        rows,
        replace(PolicySettings.from_cell(cell), adapter=adapter),
        features=[torch.randn(len(rows), width) for width in EXPERTS.values()],
        answers=[[] for _ in rows],
        embeddings=None,
        best=None,
        seed=0,
    )


def build(loaded: conditioned.ConditionedPolicy, settings: grpo.GrpoSettings, folder: Path) -> GRPOTrainer:
    """Return our trainer, without its line per step."""
    rows = problems(PROMPT - CONTEXT)
    trainer = grpo.build_trainer(loaded, rows, Free("exact", 1.0), settings, LORA, seed=0, folder=folder)
    trainer.remove_callback(grpo.ReportStep)
    return trainer


def our_trainer(folder: Path, dtype: torch.dtype, settings: grpo.GrpoSettings) -> GRPOTrainer:
    tokenizer = build_tokenizer()
    loaded = condition(random_policy(tokenizer, dtype), tokenizer)
    assert {len(prompt) for prompt in loaded.decided_prompts()} == {PROMPT}
    return build(loaded, settings, folder)


def vanilla_trainer(folder: Path, settings: grpo.GrpoSettings) -> GRPOTrainer:
    """Return TRL's trainer for the same model, LoRA and settings, without a rollout function and without hooks."""
    tokenizer, rows = build_tokenizer(), problems(PROMPT)
    policy = random_policy(tokenizer)
    trainer = GRPOTrainer(
        model=policy,
        reward_funcs=lambda completions, **_: share_of_even([text[-1]["content"] for text in completions]),
        args=grpo._arguments(policy, settings, 0, folder),
        train_dataset=Dataset.from_list([{"prompt": problem.messages} for problem in rows]),
        processing_class=tokenizer,
        peft_config=LoraConfig(
            r=LORA.rank, lora_alpha=LORA.alpha, target_modules=LORA.target_modules, task_type="CAUSAL_LM"
        ),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


class StepTimes(TrainerCallback):
    """Keeps the CPU seconds of each step but the first."""

    def __init__(self):
        self.seconds = []

    def on_step_begin(self, args, state, control, **_):
        self.start = time.process_time()

    def on_step_end(self, args, state, control, **_):
        if state.global_step > 1:
            self.seconds.append(time.process_time() - self.start)


@contextmanager
def without_hooks() -> Iterator[None]:
    """Undo what `score_completions_only` did to TRL."""
    ours = trl.trainer.utils._use_triton
    trl.trainer.utils._use_triton = lambda device: device.type == "cuda"
    try:
        yield
    finally:
        trl.trainer.utils._use_triton = ours


def step_seconds(trainer: GRPOTrainer) -> list[float]:
    times = StepTimes()
    trainer.add_callback(times)
    trainer.train()
    trainer.remove_callback(times)
    lengths = {entry["completions/mean_length"] for entry in trainer.state.log_history if "reward" in entry}
    assert lengths == {COMPLETION}, f"completions of {lengths} tokens on average, not {COMPLETION}"
    return times.seconds


def measure(dtype: torch.dtype, rounds: int = 2, **changes) -> tuple[float, float]:
    """Return the median CPU seconds of a step of ours and of the peer's, which take turns."""
    settings = replace(SETTINGS, **changes)
    with tempfile.TemporaryDirectory() as folder:
        ours = our_trainer(Path(folder, "ours"), dtype, settings)
        peer = vanilla_trainer(Path(folder, "peer"), settings)
        times = {"ours": [], "peer": []}
        for _ in range(rounds):
            times["ours"] += step_seconds(ours)
            with without_hooks():
                times["peer"] += step_seconds(peer)
    return median(times["ours"]), median(times["peer"])


def grpo_step_fp32() -> Figure:
    ours, peer = measure(torch.float32)
    return Figure("grpo_step_fp32", ours / peer, 0.80, ours, "s/step", peer)


def grpo_step_bf16() -> Figure | str:
    if not torch.cpu._is_avx512_bf16_supported():
        return "grpo_step_bf16: not run, since this CPU has no avx512_bf16"
    ours, peer = measure(torch.bfloat16)
    return Figure("grpo_step_bf16", ours / peer, 0.65, ours, "s/step", peer)
