"""The funnel: what each stage of a system kept and dropped."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from slmcollab.artifacts import read_json
from slmcollab.report.slices_runs import EVAL
from slmcollab.report.slices_stages import Stages
from slmcollab.report.tables import format_number

COLUMNS = ("benchmark", "method", "step_scorer", "seed", "stage", "slot", "quantity", "value")
AGREEMENT = "agreement"  # of an evaluator with the true scores, where a world knows them
# What stands on top; the rest follows by name.
OF_TEAM = ("num_prompts", "num_rollouts")  # of a training.json, beside the counts of its slots
FIRST = (*OF_TEAM, "sampled", "trajectories", "kept", "num_examples", "num_problems")


def funnel_rows(stages: Stages) -> list[dict[str, str]]:
    """Return a row per number of each file of counts of a run, stage by stage; raises ArtifactError naming a bad file.

    Files: the teacher's funnel.json, the distillation's training.json, and of each round evaluation.json (where an
    evaluator scored its steps), rewards.json and training.json; a baseline's training.json; and the counts of the
    evaluation's scores.json.
    Numbers with a fraction have four decimals.
    """
    rows = []
    for stage, path in _files(stages):
        content = read_json(path)
        whole = {name: content[name] for name in OF_TEAM if name in content} if "slots" in content else content
        parts = {"": whole, **content.get("slots", {})}
        for slot, counts in parts.items():
            for quantity, value in _numbers(counts):
                row = {"stage": stage, "slot": slot, "quantity": quantity, "value": value}
                rows.append(stages.names | row)
    scores = read_json(stages.folder(stages.entry["method"], EVAL) / "scores.json", "num_problems", "counts")
    graded = {"num_problems": scores["num_problems"], **scores["counts"]}
    rows += [stages.names | {"stage": EVAL, "slot": "", "quantity": q, "value": value} for q, value in _numbers(graded)]
    return rows


def _files(stages: Stages) -> Iterator[tuple[str, Path]]:
    if stages.teacher:
        yield "teacher", stages.teacher / "funnel.json"
    if stages.distilled:
        yield "distilled", stages.distilled / "training.json"
    for stage, sampled, trained in stages.rounds():
        if stages.entry["step_scorer"]:
            yield f"{stage} evaluation", sampled / "evaluation.json"
        yield f"{stage} rewards", trained / "rewards.json"
        yield f"{stage} training", trained / "training.json"
    if stages.trained:
        yield "trained", stages.trained / "training.json"


def _numbers(counts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = [name for name in FIRST if name in counts] + sorted(set(counts) - set(FIRST))
    for name in names:
        value = counts[name]
        if name == AGREEMENT:
            yield from ((f"{name} {inner}", number) for inner, number in _numbers(value))
        elif isinstance(value, int) and not isinstance(value, bool):
            yield name, str(value)
        elif isinstance(value, float):
            yield name, format_number(value, 4)
