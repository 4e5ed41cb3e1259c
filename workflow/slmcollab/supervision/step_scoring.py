"""The scores of a round's steps, as one job that may be killed: by the evaluator, or by rules that know a toy world."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slmcollab import seeding
from slmcollab.artifacts import Problem
from slmcollab.checkpoints import fingerprint
from slmcollab.generation.backends import open_backend, read_members
from slmcollab.generation.calls import TRAIN, Call
from slmcollab.protocol.prompt import Prompt
from slmcollab.protocol.runner import RunNames
from slmcollab.protocol.trajectory import Trajectory
from slmcollab.protocol.waves import Records, run_in_waves
from slmcollab.supervision import oracle
from slmcollab.supervision.agreement import agreement
from slmcollab.supervision.evaluator import EvaluatorSettings, ask_evaluator, read_scores
from slmcollab.supervision.rewards import StepScores

EVALUATOR, ORACLE = "evaluator", "oracle"


@dataclass(frozen=True)
class StepScoring:
    """What was found: trajectory id -> scores of its steps, the evaluator's calls, the counts of evaluation.json."""

    scores: dict[str, StepScores]
    calls: list[Call]
    evaluation: dict[str, Any]


def score_steps(
    record: Mapping[str, Any],
    trajectories: Sequence[Trajectory],
    problems: Sequence[Problem],
    prompt: Prompt,
    *,
    manifests: Sequence[Path],
    checkpoints: Path,
) -> StepScoring:
    """Return the step scores of the stage that the record is about; calls of finished waves are read, not made again.

    With the evaluator's scored_by `oracle`, rules score all trajectories and the model a share of them, so that its
    agreement with what is true is known. Raises ValueError where a benchmark has no such rules.
    """
    how = record["cell"]["evaluator"]
    asked = list(trajectories)
    if how["scored_by"] == ORACLE:
        size = round(how["share"] * len(asked))
        drawn = seeding.python_generator(record["seed"], "evaluated").sample(range(len(asked)), size)
        asked = [asked[place] for place in sorted(drawn)]
    calls = _ask(record, asked, problems, prompt, manifests, checkpoints) if asked else []
    by_model, counts = read_scores(asked, calls)
    by_id = {problem.id: problem for problem in problems}
    true = {one.id: oracle.judge(by_id[one.problem], one) for one in trajectories if oracle.knows(by_id[one.problem])}
    if how["scored_by"] == ORACLE and len(true) < len(trajectories):
        raise ValueError(f"slices.evaluator.scored_by: no rules know {record['cell']['benchmark']}; allowed: model")
    evaluation = {
        "step_scorer": how["model"] if how["scored_by"] != ORACLE else ORACLE,
        "evaluator": how["model"],
        **counts,
    }
    evaluation["num_steps"] = sum(len(one.steps) for one in trajectories)
    evaluation["agreement"] = agreement(by_model, true)
    chosen = true if how["scored_by"] == ORACLE else by_model
    if not chosen:
        raise ValueError(f"slices.evaluator: {how['model']} gave no readable reply on any trajectory: {counts}")
    return StepScoring(chosen, calls, evaluation)


def _ask(
    record: Mapping[str, Any],
    asked: Sequence[Trajectory],
    problems: Sequence[Problem],
    prompt: Prompt,
    manifests: Sequence[Path],
    checkpoints: Path,
) -> list[Call]:
    cell, how, seed = record["cell"], dict(record["cell"]["evaluator"]), record["seed"]
    members = read_members({"slots": [EVALUATOR], **cell_of(cell)}, manifests)
    settings = EvaluatorSettings(**{key: how[key] for key in EvaluatorSettings.__dataclass_fields__})
    names = RunNames(
        run=f"{cell['benchmark']}/{cell['system']}/seed{seed}/{cell['stage']}",
        method=cell["system"],
        benchmark=cell["benchmark"],
        phase=TRAIN,
        round=int(cell["stage"].removeprefix("round")),
    )
    on_problem = defaultdict(list)
    for one in asked:
        on_problem[one.problem].append(one)
    concerned = [problem for problem in problems if problem.id in on_problem]
    with open_backend(members, cell["generation"], cell["dtype"]) as backend:

        def one_wave(wave: Sequence[Problem]) -> Records:
            read = [one for problem in wave for one in on_problem[problem.id]]
            drawn = {"seed": seeding.derive(seed, "evaluator", cell["stage"]), "run": names}
            return read, ask_evaluator(read, wave, backend, members[0], prompt, settings, **drawn)

        folder = checkpoints / fingerprint(dict(record))
        return run_in_waves(concerned, cell["generation"]["questions_per_batch"], folder, one_wave)[1]


def cell_of(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `read_members` reads of the evaluator."""
    return {"models": [cell["evaluator"]["model"]], "sizes": cell["sizes"]}
