"""A team's trajectories on the problems of a split, as one job that may be killed."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from slmcollab import seeding
from slmcollab.artifacts import Problem, read_problems
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.generation.backends import open_backend, read_members
from slmcollab.generation.calls import EVAL, SEARCH, TRAIN
from slmcollab.generation.requests import Backend, Member
from slmcollab.protocol.invocation import RunNames
from slmcollab.protocol.prompt import read_prompt
from slmcollab.protocol.record import StageJob
from slmcollab.protocol.runner import ProtocolSettings, run
from slmcollab.protocol.waves import Records, run_in_waves

Run = Callable[[Sequence[Problem], Backend], Records]  # the records of some problems, spoken by a backend


@contextlib.contextmanager
def collaboration(record: Mapping[str, Any], stage: StageJob) -> Iterator[Records]:
    """Yield the trajectories and calls of a team that talks by the protocol; see `in_waves`."""
    cell, seed = record["cell"], record["seed"]
    protocol = dict(cell["protocol"])
    actions = protocol.pop("actions")
    settings, shown = ProtocolSettings(**protocol), read_prompt(stage.files.prompt, actions=actions)
    members, names = read_members(cell, stage.files.manifests, stage.files.start), run_names(record)
    drawn = {"seed": seeding.derive(seed, "stage", cell["stage"]), "samples": cell["samples"]}

    def run_some(wave: Sequence[Problem], backend: Backend) -> Records:
        return run(wave, members, backend, shown, settings, **drawn, run=names, actions=actions)

    with in_waves(record, stage, members, run_some) as found:
        yield found


def run_names(record: Mapping[str, Any]) -> RunNames:
    """Return what the calls of a recorded stage have in common."""
    cell, stage = record["cell"], record["cell"]["stage"]
    return RunNames(
        run=f"{cell['benchmark']}/{cell['system']}/seed{record['seed']}/{stage}",
        method=cell["system"],
        benchmark=cell["benchmark"],
        phase=SEARCH if stage == SEARCH else EVAL if stage.startswith("eval") else TRAIN,
        round=int(stage.removeprefix("round")) if stage.startswith("round") else 0,
    )


@contextlib.contextmanager
def in_waves(record: Mapping[str, Any], stage: StageJob, members: Sequence[Member], run: Run) -> Iterator[Records]:
    """Yield the records that `run` gives of the problems of the stage that `record` (`stage.describe`) is about.

    Waves that a killed job had finished are read from its checkpoints, which are removed once the block is done: what
    it writes is written before.
    """
    cell = record["cell"]
    per_wave = max(1, cell["generation"]["questions_per_batch"] // cell["samples"])
    with one_writer(stage.checkpoints, stage.job):
        with open_backend(members, cell["generation"], cell["dtype"]) as backend:
            kept = stage.checkpoints / fingerprint(record)
            found = run_in_waves(read_problems(stage.files.problems), per_wave, kept, lambda wave: run(wave, backend))
        yield found
