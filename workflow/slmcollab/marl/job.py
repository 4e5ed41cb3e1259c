"""The training of a baseline that learns, as one job that may be killed."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from slmcollab.artifacts import read_problems
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.choice import TEAM, get
from slmcollab.generation.backends import read_members
from slmcollab.generation.calls import Call
from slmcollab.graph.nodes import Team
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.graph.runner import GraphSettings
from slmcollab.marl.arena import Arena
from slmcollab.marl.loop import LoopSettings, train_team
from slmcollab.marl.policies import Policies
from slmcollab.marl.update import UpdateSettings
from slmcollab.models.adapters import LoraSettings
from slmcollab.protocol.collaboration import run_names
from slmcollab.protocol.record import StageJob
from slmcollab.scoring.grader import Grader
from slmcollab.seeding import derive


@contextlib.contextmanager
def trained(
    record: Mapping[str, Any], stage: StageJob, *, workers: int, save_every: int
) -> Iterator[tuple[Policies, list[dict[str, Any]], list[Call]]]:
    """Yield the policies, history and calls of the training that the record (`stage.describe`) is about.

    The policies answer from memory, whatever the cell's backend is. Checkpoints of a killed job are gone on from, and
    removed once the block is done: what it writes is written before.
    """
    cell, learning, files = record["cell"], record["cell"]["learning"], stage.files
    seed, module = derive(record["seed"], "stage", cell["stage"]), get(TEAM, cell["method"])
    own = {name: value for name, value in learning.items() if name in module.LEARNING}
    settings, learner = read_settings(learning), module.learner(cell["settings"], own)
    members = read_members(cell, files.manifests, files.start)
    if len(settings.learning_rates) != len(members):
        raise ValueError(f"learning.learning_rates: {len(settings.learning_rates)} for {len(members)} slots")
    graph = replace(GraphSettings(**cell["graph"]), temperature=learning["temperature"], top_p=learning["top_p"])
    how = {"dtype": cell["dtype"], "batch_size": cell["generation"]["batch_size"]}
    scoring, problems = cell["scoring"], read_problems(files.problems)
    with (
        one_writer(stage.checkpoints, stage.job),
        Grader(scoring["scorer"], scoring["time_limit_s"], workers, scoring["options"]) as grader,
    ):
        values = learner.objective.has_values
        policies = Policies(members, LoraSettings(**cell["lora"]), seed=seed, has_values=values, **how)
        arena = Arena(
            team=Team({member.slot: member.size_b for member in members}, cell["equality"]),
            members=members,
            backend=policies,
            prompt=read_graph_prompt(files.prompt, module.KINDS),
            settings=graph,
            names=run_names(record),
            grader=grader,
        )
        kept = {"folder": stage.checkpoints / fingerprint(dict(record)), "save_every": save_every}
        yield policies, *train_team(learner, arena, policies, problems, settings, seed=seed, **kept)


def read_settings(learning: Mapping[str, Any]) -> LoopSettings:
    """Return the loop's part of a cell's block `learning`."""
    each = {"epochs", "mini_batches", "micro_batch_size", "temperature"}
    update = UpdateSettings(**{name: learning[name] for name in each})
    names = ("iterations", "prompts", "warmup", "learning_rates", "max_tokens")
    return LoopSettings(**{name: learning[name] for name in names}, update=update)
