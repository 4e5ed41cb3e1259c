"""A team's trajectories on the problems of a split, as one job that may be killed."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from slmcollab import seeding
from slmcollab.artifacts import read_problems
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.generation.backends import open_backend, read_members
from slmcollab.generation.calls import EVAL, TRAIN, Call
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.record import TeamFiles
from slmcollab.protocol.runner import ProtocolSettings, RunNames, run
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.protocol.waves import run_in_waves


@contextlib.contextmanager
def collaboration(
    record: Mapping[str, Any], files: TeamFiles, *, checkpoints: Path, job: str
) -> Iterator[tuple[list[Trajectory], list[Call]]]:
    """Yield the trajectories and calls of the stage that the record (`record.describe_stage`) is about.

    Waves that a killed job had finished are read from `checkpoints`, which is emptied once the block is done: what it
    writes is written before.
    """
    cell, seed = record["cell"], record["seed"]
    protocol = dict(cell["protocol"])
    actions, stage = protocol.pop("actions"), cell["stage"]
    settings, shown = ProtocolSettings(**protocol), read_prompt(files.prompt, actions=actions)
    members = read_members(cell, files.manifests, files.start)
    names = RunNames(
        run=f"{cell['benchmark']}/{cell['system']}/seed{seed}/{stage}",
        method=cell["system"],
        benchmark=cell["benchmark"],
        phase=EVAL if stage.startswith("eval") else TRAIN,
        round=int(stage.removeprefix("round")) if stage.startswith("round") else 0,
    )
    drawn = {"seed": seeding.derive(seed, "stage", stage), "samples": cell["samples"]}
    per_wave = max(1, cell["generation"]["questions_per_batch"] // cell["samples"])
    with one_writer(checkpoints, job):
        with open_backend(members, cell["generation"], cell["dtype"]) as backend:
            found = run_in_waves(
                read_problems(files.problems),
                per_wave,
                checkpoints / fingerprint(record),
                lambda wave: run(wave, members, backend, shown, settings, **drawn, run=names, actions=actions),
            )
        yield found
