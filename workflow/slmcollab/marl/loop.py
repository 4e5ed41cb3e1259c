"""Reinforcement learning of a team, iteration by iteration (MAGRPO, MAPoRL, AT-GRPO).

TRL trains one model per trainer; here the policies of a team have to sample together before each of them learns.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from slmcollab.artifacts import Problem
from slmcollab.generation.calls import Call
from slmcollab.graph.nodes import Question
from slmcollab.marl import keeping
from slmcollab.marl.arena import Arena
from slmcollab.marl.batches import encode_samples
from slmcollab.marl.learner import Harvest, Learner
from slmcollab.marl.policies import Policies, Policy
from slmcollab.marl.update import UpdateSettings, update
from slmcollab.seeding import derive, python_generator

IDLE = dict.fromkeys(("loss", "ratio_first", "kl", "clip_share")) | {"num_updates": 0}


@dataclass(frozen=True)
class LoopSettings:
    """iterations of `prompts` questions each; the learning rates, one per slot, grow for `warmup` of them, then stay.

    max_tokens: of what a slot read and said together; longer responses are not learned.
    """

    iterations: int
    prompts: int
    warmup: int
    learning_rates: Sequence[float | int]
    max_tokens: int
    update: UpdateSettings

    def __post_init__(self) -> None:
        for name in ("iterations", "prompts", "max_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"learning.{name}: {getattr(self, name)} is less than 1")
        for name in ("epochs", "mini_batches", "micro_batch_size"):
            if getattr(self.update, name) < 1:
                raise ValueError(f"learning.{name}: {getattr(self.update, name)} is less than 1")
        if self.update.temperature <= 0:
            raise ValueError(f"learning.temperature: {self.update.temperature} is not above 0")

    def scale(self, iteration: int) -> float:
        """Return the share of the learning rates that an iteration, from 0, learns with."""
        # ASSUME: warm-up is linear, its first iteration has one warmup-th of the rate.
        return min(1.0, (iteration + 1) / self.warmup) if self.warmup else 1.0


def draw_questions(problems: Sequence[Problem], number: int, iteration: int, seed: int) -> list[Question]:
    """Return the questions of an iteration: drawn without replacement until all have been, and then all again.

    A question's sample is how often it was drawn before.
    """
    if not problems:
        raise ValueError("no problem to learn from")
    found, start = [], iteration * number
    for place in range(start, start + number):
        visit, at = divmod(place, len(problems))
        order = python_generator(seed, "questions", visit).sample(range(len(problems)), len(problems))
        found.append(Question(problems[order[at]], visit, seed))
    return found


def train_team(
    learner: Learner,
    arena: Arena,
    policies: Policies,
    problems: Sequence[Problem],
    settings: LoopSettings,
    *,
    seed: int,
    folder: Path,
    save_every: int,
) -> tuple[list[dict[str, Any]], list[Call]]:
    """Train the policies in place; return a row of history for each iteration, and all calls.

    folder: for checkpoints of this very run, of which the last whole one is where it goes on. A row tells of the team
    mean_reward and accuracy of its answers, before the iteration's update, and of each slot {slot}/: num_examples
    (responses that were trained), num_tokens of these, mean_reward and credit_std of its samples, what `update` says,
    and anomaly_share, the part of all its responses, retries too, that broke their form. None: there was nothing.
    Raises ValueError where nothing is known of any answer of an iteration, and where a slot never learned for all that
    it was to learn from was dropped.
    """
    history, calls = keeping.resume(folder, policies)
    for iteration in range(len(history), settings.iterations):
        questions = draw_questions(problems, settings.prompts, iteration, seed)
        harvest = learner.harvest(arena, questions)
        _check_known(harvest, iteration + 1)
        row = {"iteration": iteration + 1, "num_questions": len(questions), **_describe(harvest)}
        for (slot, policy), rate in zip(policies.slots.items(), settings.learning_rates, strict=True):
            how = {"rate": rate * settings.scale(iteration), "seed": derive(seed, "update", slot, iteration)}
            found = _teach(policy, harvest, learner, settings, **how)
            row |= {f"{slot}/{name}": value for name, value in found.items()}
        history.append(row)
        calls += [asked.call for episode in harvest.episodes for asked in episode.asked]
        shown = "none known" if row["mean_reward"] is None else f"{row['mean_reward']:.3f}"
        print(f"iteration {iteration + 1}: mean reward {shown}", flush=True)
        if (iteration + 1) % save_every == 0 and iteration + 1 < settings.iterations:
            keeping.keep(folder, policies, history, calls)
    _check_learned(history, policies.slots)
    return history, calls


def _check_known(harvest: Harvest, number: int) -> None:
    if not harvest.samples and all(outcome is None for outcome in harvest.outcomes):
        raise ValueError(
            f"iteration {number}: no answer could be graded, so that there is nothing to learn from; the tools of the"
            " benchmark's scorer are likely missing"
        )


def _check_learned(history: Sequence[Mapping[str, Any]], slots: Iterable[str]) -> None:
    for slot in slots:  # one that never had a sample, as in fewer turns than slots, is the method's choice
        found = summarise(history, slot)
        if found["num_dropped"] and not found["num_updates"]:
            raise ValueError(
                f"slot {slot} has learned nothing: all {found['num_dropped']} responses that it was to learn from have"
                " no token or, prompt included, more than learning.max_tokens"
            )


def _describe(harvest: Harvest) -> dict[str, Any]:
    known = [outcome for outcome in harvest.outcomes if outcome is not None]
    return {
        "mean_reward": fmean(outcome.value for outcome in known) if known else None,
        "accuracy": fmean(outcome.correct for outcome in known) if known else None,
        "num_episodes": len(harvest.episodes),
        "num_unjudged": len(harvest.outcomes) - len(known),
    }


def _teach(
    policy: Policy, harvest: Harvest, learner: Learner, settings: LoopSettings, *, rate: float | int, seed: int
) -> dict[str, Any]:
    """Let one slot learn from its samples; return its part of the history's row."""
    own = [sample for sample in harvest.samples if sample.asked.call.agent == policy.member.slot]
    said = [asked.call for one in harvest.episodes for asked in one.asked if asked.call.agent == policy.member.slot]
    rows, num_dropped = encode_samples(own, policy.tokenizer, settings.max_tokens)
    found = update(policy, rows, learner.objective, settings.update, rate=rate, seed=seed) if rows else IDLE
    return {
        "num_examples": len(rows),
        "num_dropped": num_dropped,
        "num_tokens": sum(len(row.response) for row in rows),
        "mean_reward": fmean(sample.reward for sample in own) if own else None,
        "credit_std": pstdev(row.credit for row in rows) if rows else None,
        **{name: found[name] for name in IDLE},
        "anomaly_share": fmean(call.anomaly is not None for call in said) if said else None,
    }


def summarise(history: Sequence[Mapping[str, Any]], slot: str) -> dict[str, Any]:
    """Return the record of a slot over all iterations: counts are sums, the mean reward is that of its samples."""
    rows = list(_own_rows(history, slot))
    sums: Counter[str] = Counter()
    for row in rows:
        sums.update({name: row[name] for name in ("num_examples", "num_dropped", "num_tokens", "num_updates")})
    losses = [row["loss"] for row in rows if row["loss"] is not None]
    tenth = max(1, len(losses) // 10)
    weights = [(row["num_examples"], row["mean_reward"]) for row in rows if row["num_examples"]]
    return {
        **sums,
        "mean_reward": sum(size * mean for size, mean in weights) / sums["num_examples"] if weights else None,
        "loss_first": fmean(losses[:tenth]) if losses else None,
        "loss_last": fmean(losses[-tenth:]) if losses else None,
    }


def _own_rows(history: Sequence[Mapping[str, Any]], slot: str) -> Iterator[dict[str, Any]]:
    for row in history:
        yield {name.removeprefix(f"{slot}/"): value for name, value in row.items() if name.startswith(f"{slot}/")}
