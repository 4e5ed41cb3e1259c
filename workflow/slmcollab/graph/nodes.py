"""A method as a graph: who is asked, what kind of prompt, and whose replies it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, runtime_checkable

from slmcollab.artifacts import Problem
from slmcollab.seeding import python_generator


@dataclass(frozen=True)
class Node:
    """One invocation: the slot that is asked and the kind of its prompt, a section of the method's prompt file.

    name is unique in its graph. sees: the nodes whose replies it reads, in the order shown; own: the one of its own
    earlier replies that it is reminded of. texts: what else fills in its prompt, such as a role. picks: its answer is
    the number (from 1) of one of the replies that it sees, and stands for that reply's answer; where it names none,
    for the majority of them. temperature 0 is greedy.
    """

    name: str
    slot: str
    kind: str
    sees: tuple[str, ...] = ()
    own: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    picks: bool = False
    temperature: float = 0.0


@dataclass(frozen=True)
class Reply:
    """What a node said; level: how many waves of nodes were asked before it.

    text is the last response as it was given. reasoning and answer are what was read of it, both "" where the form was
    broken by `anomaly`: what cannot be read is no answer.
    """

    node: Node
    level: int
    text: str
    reasoning: str
    answer: str
    anomaly: str | None = None


Said = Mapping[str, Reply]  # node name -> reply, in the order asked


@dataclass(frozen=True)
class Team:
    """The slots of a method, in order, with their models' sizes in billions of parameters; how answers are compared.

    equality: a name of `scoring.equality.EQUALITIES`; None where answers are open texts that no vote can be taken on.
    """

    sizes: Mapping[str, float]
    equality: str | None

    @property
    def slots(self) -> list[str]:
        return list(self.sizes)

    @property
    def ranked(self) -> list[str]:
        """Return the slots, the largest model first; of equal ones the first."""
        return sorted(self.sizes, key=lambda slot: -self.sizes[slot])


@dataclass(frozen=True)
class Question:
    """A problem that is being answered for the `sample`-th time; seed: of the run."""

    problem: Problem
    sample: int
    seed: int

    def generator(self, *names: str | int) -> Random:
        """Return random numbers of this question's own, the same for the same names."""
        return python_generator(self.seed, "graph", self.problem.id, self.sample, *names)


@dataclass(frozen=True)
class Final:
    """What a team answers: "" and None where no reply could be read.

    candidates: the replies before the end whose answers count as found on the way (retention), in the order asked;
    num_steps: how many levels it took, a vote that follows on the last replies not counted unless they are candidates
    themselves. Each candidate's level is below num_steps - 1.
    """

    answer: str
    slot: str | None
    candidates: tuple[Reply, ...]
    num_steps: int


@runtime_checkable
class Method(Protocol):
    """A row of Table 1 that is no collaboration under the protocol; a module of teams/ builds one of its settings."""

    def nodes(self, team: Team, question: Question, said: Said) -> Sequence[Node]:
        """Return the graph as far as it is known from what was said; a node that was asked may be left out.

        The nodes that can be asked are those not asked yet of which all that they see was said; where there is none,
        the question is done.
        """
        ...

    def final(self, team: Team, said: Said) -> Final:
        """Return the team's answer once the question is done."""
        ...
