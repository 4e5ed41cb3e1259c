"""How a workflow did on dev questions, by the benchmark's own scorer."""

from collections.abc import Sequence

from slmcollab.artifacts import Problem
from slmcollab.graph.nodes import Team
from slmcollab.scoring.grader import Grader
from slmcollab.scoring.score import settle
from slmcollab.search.tree import Measured


def grade(answers: Sequence[str], problems: Sequence[Problem], team: Team, grader: Grader) -> Measured | None:
    """Return how these answers, one to each problem, do; None where no answer could be graded.

    An answer of which nothing is known (its scorer raised, its check ran out of time or was not run) counts as wrong:
    no workflow may win by answers that nobody can check.
    """
    scores = [settle(score, grader.module) for score in grader.grade(answers, problems)]
    graded = [score for score in scores if score.error is None]
    if not graded:
        return None
    # ASSUME: in AFlow's search an answer that cannot be graded counts as wrong.
    accuracy, score = (sum(getattr(one, name) for one in graded) / len(scores) for name in ("correct", "score"))
    # ASSUME: AFlow ranks workflows by accuracy and then mean score, on open texts the other way round.
    ranked = (score, accuracy) if team.equality is None else (accuracy, score)
    together = zip(problems, answers, scores, strict=True)
    failures = tuple((problem.id, given) for problem, given, one in together if one.error is None and not one.correct)
    return Measured(accuracy, score, ranked, len(graded), failures)
