"""A baseline's answers to the problems of a split, as one job that may be killed."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slmcollab import seeding
from slmcollab.artifacts import ArtifactError, Problem, digest, read_json, read_problems
from slmcollab.choice import TEAM, get
from slmcollab.generation.backends import read_members
from slmcollab.generation.calls import Call
from slmcollab.generation.requests import Backend
from slmcollab.graph.nodes import Method, Question, Team
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.graph.records import answer_rows, trajectories
from slmcollab.graph.runner import GraphSettings, Start, run
from slmcollab.protocol.collaboration import in_waves, run_names
from slmcollab.protocol.record import StageJob
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.protocol.waves import Records

Answered = tuple[list[Trajectory], list[Call], list[dict[str, Any]]]


@dataclass(frozen=True)
class SearchFiles:
    """What a search found, the calls that it took, and its record; one path each, none where nothing is searched."""

    workflow: list[Path] = field(default_factory=list)
    search_calls: list[Path] = field(default_factory=list)
    search_run: list[Path] = field(default_factory=list)

    def named(self) -> dict[str, Path]:
        """Return label -> path of what the search made."""
        found = {"workflow": self.workflow, "search_calls": self.search_calls, "search_run": self.search_run}
        return {name: path for name, paths in found.items() for path in paths}

    def read_record(self) -> dict[str, Any] | None:
        """Return what the search recorded, None where nothing was searched.

        Raises ArtifactError where workflow or calls are not those that it wrote.
        """
        if not self.workflow:
            return None
        (run,) = self.search_run
        record = read_json(run, "outputs")
        for name, (path,) in {"workflow": self.workflow, "calls": self.search_calls}.items():
            if record["outputs"].get(name) != digest(path):
                raise ArtifactError(f"{path}: not the {name} that {run} records: search again")
        return record

    def read(self) -> dict[str, Any]:
        """Return the settings that are found instead of configured: the `workflow`, if there is one.

        Raises ArtifactError; see `read_record`.
        """
        return {"workflow": read_json(self.workflow[0])} if self.read_record() else {}


@contextlib.contextmanager
def evaluation(record: Mapping[str, Any], stage: StageJob, found: SearchFiles) -> Iterator[Answered]:
    """Yield trajectories, calls and rows of answers.jsonl of the stage that `record` is about; see `in_waves`."""
    cell, files = record["cell"], stage.files
    module = get(TEAM, cell["method"])
    members, names = read_members(cell, files.manifests, files.start), run_names(record)
    team = Team({member.slot: member.size_b for member in members}, cell["equality"])
    settings, seed = GraphSettings(**cell["graph"]), seeding.derive(record["seed"], "stage", cell["stage"])
    questions = [Question(problem, 0, seed) for problem in read_problems(files.problems)]
    method = _build(module, cell["settings"], found, team, questions)
    shown = read_graph_prompt(files.prompt, module.KINDS)

    def run_some(wave: Sequence[Problem], backend: Backend) -> Records:
        starts = [Start(Question(problem, 0, seed)) for problem in wave]
        episodes = run(method, team, starts, backend, shown, settings, names, members=members)
        calls = [asked.call for episode in episodes for asked in episode.asked]
        return trajectories(method, team, episodes), calls

    with in_waves(record, stage, members, run_some) as (said, calls):
        yield said, calls, answer_rows(method, team, questions, said)


def _build(
    module: Any, settings: Mapping[str, Any], found: SearchFiles, team: Team, questions: Sequence[Question]
) -> Method:
    """Return the method; raises ArtifactError where what was found is no workflow, or none of this team."""
    searched = found.read()
    try:
        method = module.build({**settings, **searched})
        if searched:
            for question in questions[:1]:  # a slot that the team lacks shows once the graph is asked for
                method.nodes(team, question, {})
    except ValueError as error:
        if searched:
            raise ArtifactError(f"{found.workflow[0]}: {error}") from error
        raise
    return method
