"""A search for a workflow as one job that may be killed."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, Problem, read_problems
from slmcollab.checkpoints import fingerprint, one_writer
from slmcollab.generation.backends import open_backend, read_members
from slmcollab.generation.calls import Call
from slmcollab.graph.nodes import Team
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.graph.runner import GraphSettings
from slmcollab.protocol.collaboration import run_names
from slmcollab.protocol.record import StageJob
from slmcollab.scoring.grader import Grader
from slmcollab.search.proposal import OPTIMISER, SearchSettings
from slmcollab.search.search import Bench, find_workflow
from slmcollab.search.tree import Trial
from slmcollab.seeding import python_generator


@contextlib.contextmanager
def searched(
    record: Mapping[str, Any], stage: StageJob, kinds: Mapping[str, Collection[str]], *, optimiser: Path, workers: int
) -> Iterator[tuple[list[Trial], list[Call]]]:
    """Yield the trials and calls of the search that the record (`stage.describe`) is about.

    kinds: of the method's prompt; optimiser: manifest of the model that proposes. Iterations that a killed job had
    finished are read from its checkpoints, which are removed once the block is done: what it writes is written before.
    """
    cell, seed, files = record["cell"], record["seed"], stage.files
    settings = SearchSettings(**cell["search"])
    problems = dev_questions(files.problems, settings.dev_questions, seed)
    prompt, graph = read_graph_prompt(files.prompt, kinds), GraphSettings(**cell["graph"])
    alone = {"slots": [OPTIMISER], "models": [cell["optimiser"]]}
    sizes = {cell["optimiser"]: cell["optimiser_size"]}
    members = read_members(cell, files.manifests)
    team = Team({member.slot: member.size_b for member in members}, cell["equality"])
    members += read_members({**alone, "sizes": sizes}, [optimiser])
    scoring, temperature = cell["scoring"], cell["settings"]["temperature"]
    with (
        one_writer(stage.checkpoints, stage.job),
        Grader(scoring["scorer"], scoring["time_limit_s"], workers, scoring["options"]) as grader,
    ):
        with open_backend(members, cell["generation"], cell["dtype"]) as backend:
            given = (backend, grader, prompt, graph, temperature, settings, run_names(record), seed)
            found = find_workflow(Bench(team, members, problems, *given), stage.checkpoints / fingerprint(dict(record)))
        yield found


def dev_questions(path: Path, number: int, seed: int) -> Sequence[Problem]:
    """Return `number` dev problems, drawn with the run's seed, in the file's order.

    Raises ArtifactError where there are fewer.
    """
    # ASSUME: AFlow's dev questions are drawn from the dev split with the run's seed, for its files are in source order.
    problems = read_problems(path)
    if number > len(problems):
        raise ArtifactError(f"{path}: {len(problems)} problems, search.dev_questions asks for {number}")
    drawn = python_generator(seed, "dev questions").sample(range(len(problems)), number)
    return [problems[place] for place in sorted(drawn)]
