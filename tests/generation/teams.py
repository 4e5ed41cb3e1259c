"""Small teams for tests: folders of random models with opinions, and of adapters that change them."""

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from slmcollab.models.toy_tokenizer import build_tokenizer

TOKENIZER = build_tokenizer()
CONTEXT = 96


def make_model(folder, kind, seed, **changes):
    """Write a model and its tokenizer; about one token in twenty ends a response."""
    shape = {"vocab_size": len(TOKENIZER), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    shape |= {"intermediate_size": 64, "num_key_value_heads": 2, "max_position_embeddings": CONTEXT}
    shape |= {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None, "tie_word_embeddings": False}
    torch.manual_seed(seed)
    config = AutoConfig.for_model(kind, **shape | changes)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.15 * torch.randn(weight.shape)
    ends = [TOKENIZER.eos_token_id, *range(3, len(TOKENIZER), 20)]
    model.generation_config = GenerationConfig(eos_token_id=ends, pad_token_id=TOKENIZER.pad_token_id, do_sample=True)
    model.save_pretrained(folder)
    TOKENIZER.save_pretrained(folder)
    return folder


def make_adapter(folder, base, seed, **settings):
    """Write an adapter of a model's folder, far enough from zero that it changes what is said."""
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    settings = {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "down_proj"], "lora_dropout": 0.5, **settings}
    torch.manual_seed(seed)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **settings))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                weight += 0.2 * torch.randn(weight.shape)
    model.save_pretrained(folder)
    return folder
