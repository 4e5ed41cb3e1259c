"""Teams that learn: tiny random models which answer in one token, and the arenas that they play in."""

import contextlib
from pathlib import Path

import torch
from graphs import PROMPTS, SIZES
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, PreTrainedTokenizerFast

from slmcollab.artifacts import Problem
from slmcollab.generation.requests import Member
from slmcollab.graph.nodes import Team
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.graph.runner import GraphSettings
from slmcollab.marl.arena import Arena
from slmcollab.marl.loop import LoopSettings
from slmcollab.marl.policies import Policies
from slmcollab.marl.update import UpdateSettings
from slmcollab.models.adapters import LoraSettings
from slmcollab.protocol.invocation import RunNames
from slmcollab.protocol.response import Fields, serialise
from slmcollab.scoring.grader import Grader
from slmcollab.teams import at_grpo, magrpo, maporl

SLOTS = list(SIZES)
ANSWERS = [serialise(Fields("so", str(number))) for number in range(4)]
WORDS = ["<pad>", "<end>", "<unk>", "What", "is", "n", "maybe", *ANSWERS]
PROBLEMS = [
    Problem(f"n{number}", f"n {number}", [{"role": "user", "content": f"What is n {number} ?"}], "1")
    for number in range(6)
]
PROMPT = read_graph_prompt(PROMPTS / "marl.txt", magrpo.KINDS)
MODULES = {"magrpo": magrpo, "maporl": maporl, "at_grpo": at_grpo}
GRPO = {"clip": 0.2, "kl": 0.02}
PPO = GRPO | {"value_weight": 0.1, "value_clip": 0.2, "gae_lambda": 0.95, "gamma": 1.0}
OWN = {
    "magrpo": {"episodes": 4, "standardise": False, "max_advantage": None, **GRPO},
    "maporl": {"episodes": 4, "discount": 0.3, "bonus": [0.0] * 4, "official_sign": False, **PPO},
    "at_grpo": {"train_turns": 3, "branches": 4, "max_advantage": 4.0, **GRPO},
}
ROUNDS = {"magrpo": 2, "maporl": 2, "at_grpo": 1}
LORA = LoraSettings(rank=4, alpha=8, dropout=0.0, target_modules=["q_proj", "v_proj", "up_proj", "down_proj"])
NAMES = RunNames("toy/marl/seed0/trained", "marl", "toy", "train", 0)
GRAPH = GraphSettings(max_new_tokens=3, top_p=1.0, retries=0, temperature=1.0)


def make_model(folder: Path, seed: int) -> Path:
    """Write a model of which each answer is one token, with which a response ends."""
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<end>", unk_token="<unk>")
    shape = {"vocab_size": len(WORDS), "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    shape |= {"intermediate_size": 32, "num_key_value_heads": 2, "max_position_embeddings": 2048, "head_dim": 8}
    shape |= {"bos_token_id": None, "eos_token_id": 1, "pad_token_id": 0, "tie_word_embeddings": False}
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("qwen3", **shape), dtype=torch.float32)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" not in name:
                weight += 0.2 * torch.randn(weight.shape)
    ends = [1, *range(WORDS.index(ANSWERS[0]), len(WORDS))]
    model.generation_config = GenerationConfig(eos_token_id=ends, pad_token_id=0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_members(root: Path) -> list[Member]:
    """Write two models: the first and the last slot share one."""
    first, second = make_model(root / "first", 1), make_model(root / "second", 2)
    folders = dict(zip(SLOTS, (first, second, first), strict=True))
    return [Member(slot, folders[slot].name, folders[slot], SIZES[slot]) for slot in SLOTS]


def make_learner(name, settings=None, **changes):
    return MODULES[name].learner(settings or {"rounds": ROUNDS[name]}, OWN[name] | changes)


def make_policies(members, name, seed=0, lora=LORA):
    values = name == "maporl"
    return Policies(members, lora, dtype="float32", seed=seed, has_values=values, batch_size=64)


@contextlib.contextmanager
def make_arena(backend, members, equality="number", scorer="gsm_hard", graph=GRAPH):
    team = Team(SIZES, equality)
    with Grader(scorer, 1.0) as grader:
        yield Arena(team, members, backend, PROMPT, graph, NAMES, grader)


def loop_settings(iterations=20, prompts=4, rate=3e-2, warmup=0, epochs=1, mini_batches=1, micro_batch_size=64):
    update = UpdateSettings(epochs, mini_batches, micro_batch_size, temperature=1.0)
    return LoopSettings(iterations, prompts, warmup, [rate] * 3, max_tokens=2000, update=update)
