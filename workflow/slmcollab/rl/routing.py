"""Which expert each completion hears, and how a router learns it from the rewards (spec of hard routing, §4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from slmcollab import seeding
from slmcollab.context.router import Router, RouterSettings

CHECKPOINT = "router.pt"


@dataclass(frozen=True)
class Routing:
    """The choice among experts for each problem of a split.

    embeddings: frozen sentence embeddings of the questions; best: the expert that selection `best` always takes.
    """

    settings: RouterSettings
    router: Router
    embeddings: Float[Tensor, "problem width"]
    num_experts: int
    best: int | None
    seed: int

    def log_probabilities(self, rows: Sequence[int]) -> Float[Tensor, "rollout expert"]:
        """Return log p(e | x) of the problems in `rows`, -inf for an expert that is never taken."""
        if self.settings.selection == "learned":
            return self.router(self.embeddings[list(rows)])
        probabilities = torch.full((len(rows), self.num_experts), 1 / self.num_experts)
        if self.settings.selection == "best":
            probabilities = torch.nn.functional.one_hot(torch.full((len(rows),), self.best), self.num_experts).float()
        return probabilities.log()

    def draw(self, rows: Sequence[int], *stream: str | int) -> list[int]:
        """Return one expert per row, drawn from p(e | x); equal streams draw alike, in a resumed run too."""
        generator = seeding.torch_generator(self.seed, "router", *stream)
        with torch.no_grad():
            return torch.multinomial(self.log_probabilities(rows).exp(), 1, generator=generator)[:, 0].tolist()

    def decide(self, num_problems: int) -> list[int]:
        """Return the expert of each problem in evaluation: the likeliest one; a `uniform` choice is drawn here too."""
        rows = range(num_problems)
        if self.settings.selection == "uniform":
            return self.draw(rows, "evaluation")
        with torch.no_grad():
            return self.log_probabilities(rows).argmax(dim=1).tolist()


def group_advantages(rewards: Float[Tensor, " rollout"], group_size: int) -> Float[Tensor, " rollout"]:
    """Return (R_j - mean) / (std + 1e-4) within each group of consecutive completions; std is the sample's."""
    groups = rewards.unflatten(0, (-1, group_size))
    spread = groups.std(dim=1, keepdim=True)
    return ((groups - groups.mean(dim=1, keepdim=True)) / (spread + 1e-4)).flatten()


def router_loss(
    log_probabilities: Float[Tensor, "rollout expert"],
    experts: Int[Tensor, " rollout"],
    advantages: Float[Tensor, " rollout"],
    entropy_bonus: float,
) -> Float[Tensor, ""]:
    """Return -mean_j A_j log p(e_j | x_j) - c · mean_j H(p(· | x_j))."""
    taken = log_probabilities.gather(1, experts.unsqueeze(1))[:, 0]
    entropy = -(log_probabilities.exp() * log_probabilities).sum(dim=1)
    return -(advantages * taken).mean() - entropy_bonus * entropy.mean()


class RouterTraining(TrainerCallback):
    """Updates a learned router once a step, with the rewards of the completions, and keeps it in every checkpoint."""

    def __init__(self, routing: Routing, *, group_size: int, learning_rate: float, max_steps: int) -> None:
        self.routing, self.group_size, self.max_steps = routing, group_size, max_steps
        self.optimizer = torch.optim.AdamW(routing.router.parameters(), lr=learning_rate, weight_decay=0.0)

    def update(self, rows: Sequence[int], experts: Sequence[int], rewards: Sequence[float], step: int) -> None:
        """Take one step down the loss; step: how many were taken before."""
        # ASSUME: the weight of the router's entropy falls linearly to 0 over the run.
        entropy_bonus = self.routing.settings.entropy_bonus * (1 - step / self.max_steps)
        advantages = group_advantages(torch.tensor(rewards), self.group_size)
        loss = router_loss(self.routing.log_probabilities(rows), torch.tensor(experts), advantages, entropy_bonus)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        states = {"router": self.routing.router.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save(states, Path(args.output_dir) / f"checkpoint-{state.global_step}" / CHECKPOINT)

    def restore(self, checkpoint: Path) -> None:
        """Go on from the states in a checkpoint."""
        states = torch.load(checkpoint / CHECKPOINT, weights_only=True)
        self.routing.router.load_state_dict(states["router"])
        self.optimizer.load_state_dict(states["optimizer"])


def routing_metrics(
    log_probabilities: Float[Tensor, "rollout expert"], chosen: Sequence[int], experts: Sequence[str]
) -> dict[str, float]:
    """Return each expert's share of a step's completions and the mean entropy of p(e | x) in nats."""
    shares = torch.bincount(torch.tensor(chosen), minlength=len(experts)).double() / len(chosen)
    metrics = {f"router_share/{name}": share for name, share in zip(experts, shares.tolist(), strict=True)}
    return metrics | {"router_entropy": torch.special.entr(log_probabilities.exp()).sum(dim=1).mean().item()}
