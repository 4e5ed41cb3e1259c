"""Where a team in training is sampled and judged: joint episodes, and trees that grow along the best reply."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from slmcollab.artifacts import Problem
from slmcollab.generation.calls import TRAIN
from slmcollab.generation.requests import Backend, Member
from slmcollab.graph.nodes import Method, Question, Team
from slmcollab.graph.prompt import GraphPrompt
from slmcollab.graph.runner import Asked, Episode, GraphSettings, Start, run
from slmcollab.protocol.invocation import RunNames
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import Score, is_judged


@dataclass(frozen=True)
class Verdict:
    """value: what an answer is worth as a reward, 0 to 1; correct: what accuracy counts."""

    value: float
    correct: bool


@dataclass(frozen=True)
class Arena:
    team: Team
    members: Sequence[Member]
    backend: Backend
    prompt: GraphPrompt
    settings: GraphSettings
    names: RunNames
    grader: Grader

    def play(self, method: Method, starts: Sequence[Start]) -> list[Episode]:
        """Return an episode for each start; see `graph.runner.run`."""
        given = (self.backend, self.prompt, self.settings, self.names)
        return run(method, self.team, starts, *given, TRAIN, members=self.members)

    def judge(self, answers: Sequence[str], problems: Sequence[Problem]) -> list[Verdict | None]:
        """Return a verdict for each answer to its problem, None where nothing is known of it.

        Equal answers to a problem are graded once; "", which stands for what could not be read, is never right.
        """
        pairs = list(zip(answers, problems, strict=True))
        distinct = {(problem.id, answer): problem for answer, problem in pairs if answer}
        scores = self.grader.grade([answer for _, answer in distinct], list(distinct.values()))
        found = dict(zip(distinct, map(self._verdict, scores), strict=True))
        return [found[problem.id, answer] if answer else Verdict(0.0, False) for answer, problem in pairs]

    def _verdict(self, score: Score) -> Verdict | None:
        if not is_judged(score, self.grader.module):
            return None
        # ASSUME: an answer earns 1 if it is right, else 0; an open text, which no vote is taken on, earns its score.
        return Verdict(score.score if self.team.equality is None else float(score.correct), score.correct)

    def outcomes(self, method: Method, episodes: Sequence[Episode]) -> list[Verdict | None]:
        """Return the verdict on the team's answer at the end of each episode."""
        answers = [method.final(self.team, episode.said).answer for episode in episodes]
        return self.judge(answers, [episode.question.problem for episode in episodes])


def counted(episode: Episode) -> list[Asked]:
    """Return the invocations of an episode that count, the last of each node, in the order of their nodes."""
    # ASSUME: of a response that was asked for again only the last attempt is learned, with the complaint that it read.
    return list({asked.node.name: asked for asked in episode.asked}.values())


def joint_episodes(arena: Arena, method: Method, questions: Sequence[Question], number: int) -> list[list[Episode]]:
    """Return `number` episodes of each question, all played together."""
    starts = [Start(_numbered(question, number, place)) for question in questions for place in range(number)]
    episodes = arena.play(method, starts)
    return [episodes[first : first + number] for first in range(0, len(episodes), number)]


def _numbered(question: Question, number: int, place: int) -> Question:
    """Return a question as the `place`-th of `number` samples at this visit of it: no two visits share a sample."""
    return replace(question, sample=question.sample * number + place)


@dataclass(frozen=True)
class Branches:
    """The replies that were sampled for one turn of a question, each with all that followed, and their outcomes."""

    episodes: Sequence[Episode]
    outcomes: Sequence[Verdict | None]

    @property
    def candidates(self) -> list[Asked]:
        """Return what counts of the first node that each branch asked."""
        return [counted(episode)[0] for episode in self.episodes]

    def best(self) -> int:
        """Return the branch of the highest value, of equal ones that which the question draws."""
        values = [-1.0 if outcome is None else outcome.value for outcome in self.outcomes]
        top = [place for place, value in enumerate(values) if value == max(values)]
        return self.episodes[0].question.generator("spine").choice(top)


def grow_trees(
    arena: Arena, method: Method, questions: Sequence[Question], *, turns: int, number: int
) -> list[list[Branches]]:
    """Return the branches of each turn of each question, for a method that asks one node after the other.

    At each turn `number` replies are sampled from one frozen prompt, and each goes on to the end. The best one stays,
    and the next turn starts from it: number · turns (turns + 1) / 2 calls, retries apart. Turns of all questions are
    played together.
    """
    grown: list[list[Branches]] = [[] for _ in questions]
    spines: list[dict] = [{} for _ in questions]
    for turn in range(turns):
        starts = [
            Start(_numbered(question, turns * number, turn * number + place), spine)
            for question, spine in zip(questions, spines, strict=True)
            for place in range(number)
        ]
        episodes = arena.play(method, starts)
        outcomes = arena.outcomes(method, episodes)
        for at, tree in enumerate(grown):
            own = slice(at * number, (at + 1) * number)
            tree.append(Branches(episodes[own], outcomes[own]))
            best = tree[-1].episodes[tree[-1].best()]
            name = tree[-1].candidates[0].node.name
            spines[at] = {**spines[at], name: best.said[name]}
    return grown
