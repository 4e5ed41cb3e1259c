"""Every name that TRL does not promise to keep, behind one check of its version."""

import trl
import trl.trainer.utils
from torch import nn
from trl import GRPOTrainer
from trl.models import unwrap_model_for_generation

from slmcollab.generation.decode import decode, sampler, supports

VERSION = "1.16.0"

_WHOLE_DISTRIBUTION = {"top_k": 0, "top_p": 1.0, "min_p": None, "repetition_penalty": 1.0, "generation_kwargs": None}


def check_version() -> None:
    """Raise RuntimeError unless TRL is the version whose private names are used here."""
    if trl.__version__ != VERSION:
        raise RuntimeError(
            f"trl {trl.__version__} is installed, but slmcollab/rl/trl_hooks.py is written for {VERSION}: install that "
            f"version, or check the names used there against the new one"
        )


def sample(trainer: GRPOTrainer, prompts: list[list[int]]) -> list[list[int]]:
    """Return one sampled completion for each prompt, with its end token if it reached one.

    They are TRL's own for the same random state, sooner: the prompt of a group is read once for all of it.
    """
    if not _samples_plainly(trainer, max(map(len, prompts)) + trainer.max_completion_length):
        completions, _ = trainer._generate_single_turn(prompts, None, {}, trainer.num_generations)
        return completions
    with unwrap_model_for_generation(
        trainer.model_wrapped,
        trainer.accelerator,
        gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
    ) as policy:
        return decode(
            policy,
            prompts,
            sampler(trainer.temperature),
            max_new_tokens=trainer.max_completion_length,
            ends=trainer.eos_token_ids,
        )


def _samples_plainly(trainer: GRPOTrainer, num_tokens: int) -> bool:
    """Say whether tokens are drawn from the whole distribution, and nothing but tokens: dropout draws too."""
    drops = any(isinstance(module, nn.Dropout) and module.p > 0 for module in trainer.model.modules())
    whole = all(getattr(trainer.args, name) == value for name, value in _WHOLE_DISTRIBUTION.items())
    return whole and not drops and supports(trainer.model, num_tokens)


def score_completions_only() -> None:
    """Let TRL skip the vocabulary head at prompt positions on CPUs too, as it does on GPUs: equal scores, less work."""
    trl.trainer.utils._use_triton = lambda device: True
