"""A baseline's answers to the problems of a split, as one job that may be killed."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slmcollab import seeding
from slmcollab.artifacts import Problem, read_json, read_problems
from slmcollab.choice import TEAM, get
from slmcollab.generation.backends import read_members
from slmcollab.generation.calls import Call
from slmcollab.generation.requests import Backend
from slmcollab.graph.nodes import Question, Team
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.graph.records import answer_rows, trajectories
from slmcollab.graph.runner import GraphSettings, Start, run
from slmcollab.protocol.collaboration import in_waves, run_names
from slmcollab.protocol.record import TeamFiles
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.protocol.waves import Records

Answered = tuple[list[Trajectory], list[Call], list[dict[str, Any]]]


@dataclass(frozen=True)
class SearchFiles:
    """What a search found, and the calls that it took; one path each, none for a method that searches nothing."""

    workflow: list[Path] = field(default_factory=list)
    search_calls: list[Path] = field(default_factory=list)

    def named(self) -> dict[str, Path]:
        """Return label -> path of what there is."""
        found = {"workflow": self.workflow, "search_calls": self.search_calls}
        return {name: path for name, paths in found.items() for path in paths}

    def read(self) -> dict[str, Any]:
        """Return the settings that are found instead of configured: the `workflow`, if there is one."""
        return {name: read_json(path) for name, path in self.named().items() if name == "workflow"}


@contextlib.contextmanager
def evaluation(
    record: Mapping[str, Any], files: TeamFiles, found: SearchFiles, *, checkpoints: Path, job: str
) -> Iterator[Answered]:
    """Yield trajectories, calls and rows of answers.jsonl of the stage that `record` is about; see `in_waves`."""
    cell = record["cell"]
    module = get(TEAM, cell["method"])
    method, shown = module.build({**cell["settings"], **found.read()}), read_graph_prompt(files.prompt, module.KINDS)
    members, names = read_members(cell, files.manifests, files.start), run_names(record)
    team = Team({member.slot: member.size_b for member in members}, cell["equality"])
    settings, seed = GraphSettings(**cell["graph"]), seeding.derive(record["seed"], "stage", cell["stage"])

    def run_some(wave: Sequence[Problem], backend: Backend) -> Records:
        starts = [Start(Question(problem, 0, seed)) for problem in wave]
        episodes = run(method, team, starts, backend, shown, settings, names, members=members)
        calls = [asked.call for episode in episodes for asked in episode.asked]
        return trajectories(method, team, episodes), calls

    with in_waves(record, files.problems, members, run_some, checkpoints=checkpoints, job=job) as (said, calls):
        questions = [Question(problem, 0, seed) for problem in read_problems(files.problems)]
        yield said, calls, answer_rows(method, team, questions, said)
