"""The search for a workflow (AFlow): a larger model proposes changes, the team tries them on dev questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slmcollab import artifacts
from slmcollab.artifacts import ArtifactError, Problem
from slmcollab.generation.calls import SEARCH, Call, read_calls, write_calls
from slmcollab.generation.requests import Backend, Member
from slmcollab.graph.nodes import Method, Question, Team
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.graph.runner import Episode, GraphSettings, Start, run
from slmcollab.protocol.invocation import RunNames
from slmcollab.scoring.grader import Grader
from slmcollab.search import proposal, tree
from slmcollab.search.grading import grade
from slmcollab.search.proposal import OPTIMISER, SearchSettings
from slmcollab.search.tree import Trial
from slmcollab.search.workflow import START, Compiled, Workflow, WorkflowError, read_workflow
from slmcollab.seeding import derive

MAX_REASON = 200  # characters; a reason may quote what the optimiser wrote
MARKER, TRIAL, CALLS = "complete.json", "trial.json", "calls.parquet"


@dataclass(frozen=True)
class Bench:
    """All that a search works with; members: the team's and, in the slot `optimiser`, the one who proposes.

    temperature: of solve nodes. problems: the dev questions that every workflow is tried on.
    """

    team: Team
    members: Sequence[Member]
    problems: Sequence[Problem]
    backend: Backend
    grader: Grader
    prompt: GraphPrompt
    graph: GraphSettings
    temperature: float
    settings: SearchSettings
    names: RunNames
    seed: int

    def ask(self, method: Method, team: Team, questions: Sequence[Question], graph: GraphSettings) -> list[Episode]:
        starts = [Start(question) for question in questions]
        return run(method, team, starts, self.backend, self.prompt, graph, self.names, SEARCH, members=self.members)

    def measure(self, workflow: Workflow) -> tuple[tree.Measured | None, list[Call]]:
        """Return how a workflow does; every workflow meets the same questions with the same random numbers."""
        method = Compiled(workflow, self.temperature)
        asked = [Question(problem, 0, derive(self.seed, "stage", "search")) for problem in self.problems]
        episodes = self.ask(method, self.team, asked, self.graph)
        answers = [method.final(self.team, episode.said).answer for episode in episodes]
        return grade(answers, self.problems, self.team, self.grader), _calls(episodes)

    def propose(self, parent: Trial, iteration: int) -> tuple[str, str | None, list[Call]]:
        """Return the optimiser's answer, what its reply was broken by, and its calls."""
        by_id, seed = {problem.id: problem for problem in self.problems}, derive(self.seed, "optimiser", iteration)
        asked = proposal.proposer(parent, by_id, self.team, self.prompt, self.settings, seed)
        alone = Team({member.slot: member.size_b for member in self.members if member.slot == OPTIMISER}, None)
        question = Question(Problem("proposal", "", [{"role": "user", "content": ""}], None), 0, seed)
        budget = replace(self.graph, max_new_tokens=self.settings.max_new_tokens)
        (episode,) = self.ask(asked, alone, [question], budget)
        reply = episode.said[asked.node.name]
        return reply.answer, reply.anomaly, _calls([episode])


def _calls(episodes: Sequence[Episode]) -> list[Call]:
    return [asked.call for episode in episodes for asked in episode.asked]


def find_workflow(bench: Bench, folder: Path) -> tuple[list[Trial], list[Call]]:
    """Return all trials of a search and all its calls, in order; `tree.best` is what was found.

    Iteration 0 tries the hand-written start. A proposal is rejected, with its reason, if it is no workflow, was
    measured before, or none of its answers could be graded. folder: where whole iterations are kept, for this run
    alone; one found whole is read, not run. Raises ValueError where no answer of the start can be graded.
    """
    trials: list[Trial] = []
    calls: list[Call] = []
    while not trials or not tree.is_over(trials, bench.settings.iterations, bench.settings.patience):
        kept = Path(folder) / f"iteration-{len(trials):04d}"
        trial, made = _kept(kept, lambda: _iteration(bench, trials))
        if trial.measured is None and not trials:
            raise ValueError(f"{bench.names.run}: no answer to a dev question could be graded")
        trials.append(trial)
        calls += made
    return trials, calls


def _iteration(bench: Bench, trials: Sequence[Trial]) -> tuple[Trial, list[Call]]:
    number = len(trials)
    if not trials:
        start = read_workflow(START).placed(bench.team.slots)
        return _measured(bench, Trial(0, None, start), [])
    parent = tree.choose_parent(trials, bench.settings.exploration)
    answer, anomaly, calls = bench.propose(parent, number)
    if anomaly is not None:
        return _rejected(Trial(number, parent.iteration), f"no readable reply: {anomaly}", calls)
    try:
        workflow = proposal.read_proposal(answer, bench.team.slots, bench.settings)
    except WorkflowError as error:
        return _rejected(Trial(number, parent.iteration), str(error), calls)
    trial, same = Trial(number, parent.iteration, workflow), proposal.duplicate(workflow, trials)
    if same is not None:
        return _rejected(trial, f"the same as iteration {same.iteration}", calls)
    return _measured(bench, trial, calls)


def _measured(bench: Bench, trial: Trial, calls: list[Call]) -> tuple[Trial, list[Call]]:
    assert trial.workflow is not None
    measured, made = bench.measure(trial.workflow)
    if measured is None:
        return _rejected(trial, "no answer could be graded", calls + made)
    return replace(trial, measured=measured), _numbered(trial, calls + made)


def _rejected(trial: Trial, why: str, calls: list[Call]) -> tuple[Trial, list[Call]]:
    return replace(trial, rejected=why[:MAX_REASON]), _numbered(trial, calls)


def _numbered(trial: Trial, calls: Sequence[Call]) -> list[Call]:
    """Return calls with the iteration in their ids: each one tries the same questions again."""
    head = f"search/{trial.iteration:02d}/"
    return [
        replace(call, id=head + call.id, retry_of=None if call.retry_of is None else head + call.retry_of)
        for call in calls
    ]


def _kept(folder: Path, make: Callable[[], tuple[Trial, list[Call]]]) -> tuple[Trial, list[Call]]:
    """Return an iteration as it is kept in a folder, where it is made and kept first unless it is there whole."""
    if not _is_whole(folder):
        trial, calls = make()
        with artifacts.replacing(folder) as temporary:
            artifacts.write_json(temporary / TRIAL, trial.described())
            write_calls(temporary / CALLS, calls)
            artifacts.write_json(temporary / MARKER, _marker(temporary))
    return tree.read_trial(artifacts.read_json(folder / TRIAL)), read_calls(folder / CALLS)


def _marker(folder: Path) -> Mapping[str, str]:
    return {name: artifacts.digest(folder / name) for name in (TRIAL, CALLS)}


def _is_whole(folder: Path) -> bool:
    try:
        return artifacts.read_json(folder / MARKER) == _marker(folder)
    except ArtifactError:
        return False
