"""Episodes as the records that all systems leave: trajectories, and rows of answers.jsonl."""

from collections.abc import Iterable, Sequence
from typing import Any

from slmcollab.artifacts import ArtifactError
from slmcollab.graph.nodes import Method, Node, Question, Reply, Said, Team
from slmcollab.graph.runner import Episode, next_level, ready
from slmcollab.protocol.trajectory import ANOMALIES, TERMINATED, Step, Trajectory


def trajectories(method: Method, team: Team, episodes: Iterable[Episode]) -> list[Trajectory]:
    """Return each episode's replies as steps without actions, in the order asked.

    It ends as terminated if the team has an answer, else by anomalies.
    """
    return [_trajectory(method, team, episode) for episode in episodes]


def _trajectory(method: Method, team: Team, episode: Episode) -> Trajectory:
    attempts: dict[str, list[str | None]] = {name: [] for name in episode.said}
    for asked in episode.asked:
        attempts[asked.node.name].append(asked.call.anomaly)
    steps = []
    for name, reply in episode.said.items():
        complaint = attempts[name][-2] if len(attempts[name]) > 1 else None
        said = (reply.text, reply.reasoning, reply.answer)
        steps.append(Step(reply.node.slot, *said, action=None, anomaly=reply.anomaly, complaint=complaint))
    end = TERMINATED if method.final(team, episode.said).answer else ANOMALIES
    return Trajectory(episode.question.problem.id, episode.question.sample, tuple(steps), end)


def replay(method: Method, team: Team, question: Question, trajectory: Trajectory) -> Said:
    """Return what was said in a trajectory of `trajectories`; raises ArtifactError where it is not of this method."""
    said: dict[str, Reply] = {}
    while wave := ready(method, team, question, said):
        steps, level = trajectory.steps[len(said) : len(said) + len(wave)], next_level(said)
        if [step.slot for step in steps] != [node.slot for node in wave]:
            raise ArtifactError(f"{trajectory.id}: its steps are not those that its method asks for")
        said |= {node.name: _reply(node, level, step) for node, step in zip(wave, steps, strict=True)}
    if len(said) < len(trajectory.steps):
        raise ArtifactError(f"{trajectory.id}: {len(trajectory.steps)} steps, its method asks for {len(said)}")
    return said


def _reply(node: Node, level: int, step: Step) -> Reply:
    return Reply(node, level, step.text, step.reasoning, step.answer, step.anomaly)


def answer_rows(
    method: Method, team: Team, questions: Sequence[Question], trajectories: Sequence[Trajectory]
) -> list[dict[str, Any]]:
    """Return the rows that `protocol.answers.answer_rows` describes, of these questions' trajectories in their order.

    A candidate's step is the level of its node. Raises ArtifactError for a trajectory of another question.
    """
    rows = []
    for question, trajectory in zip(questions, trajectories, strict=True):
        if (trajectory.problem, trajectory.sample) != (question.problem.id, question.sample):
            raise ArtifactError(f"{trajectory.id}: not a trajectory on {question.problem.id}#{question.sample}")
        final = method.final(team, replay(method, team, question, trajectory))
        found = [(reply.level, reply.node.slot, reply.answer) for reply in final.candidates if reply.answer]
        row = {"id": trajectory.problem, "answer": final.answer, "slot": final.slot, "end": trajectory.end}
        candidates = [dict(zip(("step", "slot", "answer"), one, strict=True)) for one in found]
        rows.append(row | {"num_steps": final.num_steps, "candidates": candidates})
    return rows
