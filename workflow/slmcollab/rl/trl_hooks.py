"""Every name that TRL does not promise to keep, behind one check of its version."""

import trl
import trl.trainer.utils
from trl import GRPOTrainer

VERSION = "1.16.0"


def check_version() -> None:
    """Raise RuntimeError unless TRL is the version whose private names are used here."""
    if trl.__version__ != VERSION:
        raise RuntimeError(
            f"trl {trl.__version__} is installed, but slmcollab/rl/trl_hooks.py is written for {VERSION}: install that "
            f"version, or check the names used there against the new one"
        )


def sample(trainer: GRPOTrainer, prompts: list[list[int]]) -> list[list[int]]:
    """Return one sampled completion for each prompt, with its end token if it reached one."""
    completions, _ = trainer._generate_single_turn(prompts, None, {}, trainer.num_generations)
    return completions


def score_completions_only() -> None:
    """Let TRL skip the vocabulary head at prompt positions on CPUs too, as it does on GPUs: equal scores, less work."""
    trl.trainer.utils._use_triton = lambda device: True
