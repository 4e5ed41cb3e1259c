"""AgentVerse (Chen et al., 2024) with parallel specialists: recruited once, evaluated and sent back until accepted."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slmcollab.graph.nodes import Final, Node, Question, Reply, Said, Team
from slmcollab.graph.vote import team_answer

KINDS = {"recruit": {"capacities"}, "solve": {"role"}, "revise": {"role", "advice"}, "evaluate": set()}
SETTINGS = ("iterations", "accept", "first_temperature", "temperature")
RECRUITER, TOP_SCORE = "recruiter", 10
_SCORE = re.compile(r"(?:score\s*[:=]?\s*)?(\d+(?:\.\d+)?)(?:\s*(?:/|out of)\s*10)?\.?", re.IGNORECASE | re.ASCII)
_MARKS = "*_`"  # what may stand around a score or a slot


@dataclass(frozen=True)
class Recruited:
    """The largest model writes a role for each slot; all answer, and it scores their answers from 0 to 10, with advice.

    Below `accept` all answer again, in view of every earlier attempt and of the last advice, in at most `iterations`.
    The team's answer is the vote on the last iteration's, the largest model's where it is tied. A slot whose role
    cannot be read has none; a score that cannot be read accepts nothing. Recruiter and evaluator are greedy, answers
    are drawn at first_temperature, later ones at temperature.
    """

    iterations: int
    accept: int | float
    first_temperature: float
    temperature: float

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ValueError(f"iterations: {self.iterations} is less than 1")

    def nodes(self, team: Team, question: Question, said: Said) -> list[Node]:
        if RECRUITER not in said:
            return [Node(RECRUITER, team.ranked[0], "recruit", texts={"capacities": capacities(team)})]
        number = _num_evaluated(said)
        if number == self.iterations or (number and self._accepted(said[_evaluator(number - 1)])):
            return []
        new = [self._specialist(team, said, number, slot) for slot in team.slots]
        # ASSUME: the evaluator sees the answers of its own iteration alone, with their reasoning.
        return [*new, Node(_evaluator(number), team.ranked[0], "evaluate", tuple(node.name for node in new))]

    def _specialist(self, team: Team, said: Said, number: int, slot: str) -> Node:
        texts = {"role": roles(said[RECRUITER].answer, team).get(slot, "")}
        if number == 0:
            return Node(_name(slot, 0), slot, "solve", texts=texts, temperature=self.first_temperature)
        earlier = tuple(_name(other, past) for past in range(number) for other in team.slots)
        texts["advice"] = said[_evaluator(number - 1)].reasoning
        return Node(_name(slot, number), slot, "revise", earlier, texts=texts, temperature=self.temperature)

    def _accepted(self, evaluation: Reply) -> bool:
        found = score(evaluation.answer)
        return found is not None and found >= self.accept

    def final(self, team: Team, said: Said) -> Final:
        """Return the vote; every attempt was made before the last evaluation, and is a candidate."""
        number = _num_evaluated(said)
        attempts = [[said[_name(slot, past)] for slot in team.slots] for past in range(number)]
        candidates = tuple(reply for iteration in attempts for reply in iteration)
        return Final(*team_answer(attempts[-1], team), candidates, said[_evaluator(number - 1)].level + 1)


def capacities(team: Team) -> str:
    """Return a line for each slot: high if no model of the team is larger, else low if none is smaller, else mid."""
    named = {min(team.sizes.values()): "low"} | {max(team.sizes.values()): "high"}
    return "\n".join(f"{slot}: {named.get(size, 'mid')} capacity" for slot, size in team.sizes.items())


def roles(text: str, team: Team) -> dict[str, str]:
    """Return slot -> role of a text with a line `slot: role` for each; a slot's first line counts.

    A line may be numbered, and say more of its slot before the colon, such as its capacity.
    """
    slots = "|".join(map(re.escape, team.slots))
    form = re.compile(rf"\W*(?:\d+[.)]\W*)?({slots})\b[^:]*:[ \t{_MARKS}]*(\S.*)", re.IGNORECASE)
    by_name = {slot.lower(): slot for slot in team.slots}
    found: dict[str, str] = {}
    for line in filter(None, map(form.fullmatch, text.split("\n"))):
        found.setdefault(by_name[line[1].lower()], line[2].strip())
    return found


def score(answer: str) -> float | None:
    """Return the score of an evaluation, such as 7, 7/10, **7** or "score: 7", None where it is no number up to 10."""
    found = _SCORE.fullmatch(answer.strip().strip(_MARKS).strip())
    return float(found[1]) if found and float(found[1]) <= TOP_SCORE else None


def _name(slot: str, number: int) -> str:
    return f"{slot}-{number}"


def _evaluator(number: int) -> str:
    return f"evaluator-{number}"


def _num_evaluated(said: Said) -> int:
    return sum(reply.node.kind == "evaluate" for reply in said.values())


def build(settings: Mapping[str, Any]) -> Recruited:
    return Recruited(**settings)
