"""All runs of a grid as evidence, read one after the other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slmcollab.analysis.points import metric_pair
from slmcollab.analysis.slices_claims.evidence import Evidence, Run
from slmcollab.analysis.slices_claims.gather import numbers_of, read_scores, run_measures, same_problems
from slmcollab.analysis.slices_claims.measures import metric_measures, with_tasks
from slmcollab.artifacts import ArtifactError, read_json

TRAINING_KEYS = {"num_examples", "num_updates", "mean_reward"}


def collect(
    cell: Mapping[str, Any],
    pattern: str,
    *,
    table1: Mapping[tuple[str, ...], tuple[float, str]],
    other: Mapping[tuple[str, str, str], tuple[str, str]],
) -> Evidence:
    """Return the evidence of the runs that the cell lists.

    cell: runs, a list of {benchmark, method, seed, stage, varies} (stage eval, or eval_sampled for the same run's
    sampled answers; varies: whether another seed gives other answers in stage eval); roles, where `all` stands for the
    grid's benchmarks (those with runs, if it is not there); rounds, system -> its rounds of refinement; and normalise,
    benchmark -> what makes two answers one. pattern: of a run's folder. Raises ArtifactError naming the file that is
    missing, cut, foreign, or does not fit the others.
    """
    runs, sampled = (of_stage(cell, stage) for stage in ("eval", "eval_sampled"))
    if set(sampled) - set(runs):
        raise ArtifactError(f"the cell has no eval of {sorted(set(sampled) - set(runs))[:3]}")
    measures, ended, metrics, known = {}, {}, {}, {}
    for run in runs:
        folder = Path(pattern.format(**run._asdict()))
        measures[run], ended[run], scores = run_measures(
            folder, run, cell.get("normalise", {}).get(run.benchmark, "text")
        )
        same_problems(known, run, folder / "eval" / "scores.json", scores)
        metrics[run.benchmark] = metric_pair(str(folder), scores)
    return Evidence(
        measures=measures,
        outcomes=ended,
        sampled={run: _sampled(pattern, run) for run in sampled},
        training={run: _training(pattern, run, cell.get("rounds", {}).get(run.method, 0)) for run in runs},
        varies={run["method"] for run in cell["runs"] if run["varies"]},
        metrics=metrics,
        roles={"all": list(metrics)} | cell["roles"],
        table1={key: value for key, (value, _) in table1.items()},
        other=numbers_of(other),
    )


def scorers(cell: Mapping[str, Any]) -> dict[str, str]:
    """Return system -> who scored the steps that it learns from: its own step_scorer, or else the cell's."""
    return {run["method"]: run.get("step_scorer", cell["step_scorer"]) or "" for run in cell["runs"]}


def of_stage(cell: Mapping[str, Any], stage: str) -> list[Run]:
    """Return the cell's runs of a stage in order; raises ArtifactError where one is there twice."""
    found = [Run(*(run[name] for name in Run._fields)) for run in cell["runs"] if run["stage"] == stage]
    if len(set(found)) < len(found):
        raise ArtifactError(f"the cell lists a run of {stage} twice")
    return found


def _sampled(pattern: str, run: Run) -> dict:
    path = Path(pattern.format(**run._asdict())) / "eval_sampled" / "scores.json"
    scores = read_scores(path, run, "eval_sampled")
    return with_tasks(metric_measures(str(path), scores), scores)


def _training(pattern: str, run: Run, rounds: int) -> list[Mapping[str, Any]]:
    found = []
    for number in range(1, rounds + 1):
        path = Path(pattern.format(**run._asdict())) / f"round{number}" / "training.json"
        content = read_json(path)
        slots = content.get("slots") if isinstance(content, Mapping) else None
        if not slots or any(TRAINING_KEYS - set(slot) for slot in slots.values()):
            raise ArtifactError(f"{path}: its slots lack some of {sorted(TRAINING_KEYS)}")
        found.append(content)
    return found
