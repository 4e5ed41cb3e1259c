"""How a policy is trained: the settings of GRPO."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class GrpoSettings:
    """One optimizer step is `prompts_per_step` prompts with `group_size` completions each; lengths are in tokens.

    completions_per_device: how many of them go through the policy at once; without_context_every, save_every: in steps.
    """

    prompts_per_step: int
    group_size: int
    completions_per_device: int
    beta: float
    learning_rate: float
    max_steps: int
    max_new_tokens: int
    temperature: float
    gradient_checkpointing: bool
    without_context_every: int
    save_every: int

    def __post_init__(self) -> None:
        if self.group_size < 2:
            raise ValueError(f"grpo.group_size: a group needs at least 2 completions, got {self.group_size}")
        for name, value in asdict(self).items():
            if type(value) is int and value < 1:
                raise ValueError(f"grpo.{name}: {value} is not at least 1")
        if self.prompts_per_step * self.group_size % self.completions_per_device:
            raise ValueError(
                f"grpo.completions_per_device: {self.completions_per_device} does not divide the "
                f"{self.prompts_per_step} × {self.group_size} completions of a step (prompts_per_step × group_size)"
            )
