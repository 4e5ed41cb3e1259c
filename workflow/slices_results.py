"""What the tables, figures and claims of slices show: the cells of their steps. Standard library only."""

from typing import Any

from grid import NO_TEAM, Config
from slices_grid import (
    GREEDY,
    ORACLE,
    SCORES,
    TeamRun,
    distilled,
    equality,
    is_baseline,
    listed_systems,
    models_of,
    reward_of,
    sampled_at,
    searched,
    teacher_of,
    team_cells,
    team_runs,
    trained_baseline,
)
from slices_jobs import FILES, JOBS, evaluations
from slices_jobs import greedy as greedy
from slices_jobs import learning as learning
from slices_jobs import resources_cell as resources_cell

REFERENCE = "cl"
BEFORE = "cl_no_training"  # the team of CL before it learns anything


def table_cell(config: Config) -> dict[str, Any]:
    """Return the cells of Table 1 in print order, then ablations and controls, each with its seeds, none if not run."""
    keys = ("benchmark", "method", "team", "seeds", "evaluator")
    found = [
        (benchmark, system, NO_TEAM, seeds, _scorer(config, system))
        for benchmark, system, seeds in team_cells(config, listed_systems(config))
    ]
    cells = [dict(zip(keys, row, strict=True)) for row in found]
    rows = config["slices"]["grid"]["systems"]
    named = {"paper": "slices", "reference": REFERENCE, "step_scorer": step_scorer(config)}
    return {**named, "rows": rows, "cells": cells}


def _scorer(config: Config, system: str) -> str | None:
    """Return who scored the steps that a system learned from: `oracle`, the evaluator's name, or None for nobody."""
    return step_scorer(config) if reward_of(config, system) == SCORES else None


def _run(config: Config, run: TeamRun, stage: str = GREEDY) -> dict[str, Any]:
    named = {"benchmark": run.benchmark, "method": run.system, "seed": run.seed, "stage": stage}
    kind = {"baseline": is_baseline(config, run.system), "varies": varies(config, run.system)}
    return {**named, "step_scorer": _scorer(config, run.system), **kind, "models": models_of(config, run.system)}


def varies(config: Config, system: str) -> bool:
    """Return whether another seed gives other answers in stage eval: what is trained, and baselines, which sample."""
    return bool(teacher_of(config, system) or reward_of(config, system) or is_baseline(config, system))


def roles_cell(config: Config) -> dict[str, Any]:
    """Return every evaluation, and how two answers to a benchmark are compared."""
    compared = {name: equality(config, name) or "text" for name in config["slices"]["grid"]["benchmarks"]}
    return {"runs": [_run(config, *found) for found in evaluations(config)], "normalise": compared}


def retention_cell(config: Config) -> dict[str, Any]:
    """Return every evaluation, and the systems that are no rows of Table 1."""
    grid = config["slices"]["grid"]
    runs = [_run(config, *found) for found in evaluations(config)]
    return {"runs": runs, "reference": REFERENCE, "unranked": [*grid["ablations"], *grid["controls"]]}


def overlap_cell(config: Config) -> dict[str, Any]:
    """Return the runs in stage eval of teams of several models."""
    return {"runs": [_run(config, run) for run in team_runs(config) if len(models_of(config, run.system)) > 1]}


def _stages(config: Config, run: TeamRun) -> dict[str, Any]:
    """Return in which system's folder each stage of a run's learning lies."""
    numbers = range(1, config["slices"]["refine"]["rounds"] + 1)
    found = {"distilled": distilled, "searched": searched, "trained": trained_baseline}
    places = {kind: find(config, run.system) for kind, find in found.items()}
    stages = {
        "teacher": teacher_of(config, run.system),
        **{kind: stage.system if stage else None for kind, stage in places.items()},
        "sampled": [sampled_at(config, run.system, n).system for n in numbers if reward_of(config, run.system)],
    }
    left_out = ("stage", "baseline", "varies")
    return {**{key: value for key, value in _run(config, run).items() if key not in left_out}, **stages}


def funnel_cell(config: Config) -> dict[str, Any]:
    """Return the stages of every run."""
    return {"runs": [_stages(config, run) for run in team_runs(config)]}


def budgets_cell(config: Config) -> dict[str, Any]:
    """Return the stages of every run and their jobs, the model to compare with, and the sizes that the config fixes."""
    reference = {"reference_model": config["slices"]["evaluator"]["model"], "sizes": sizes(config)}
    return {**funnel_cell(config), **reference, "jobs": JOBS, **FILES}


def sizes(config: Config) -> dict[str, float]:
    """Return the billions of parameters of the models of whom the config says how many they have."""
    blocks = {name: config["models"][name] for name in shown_models(config)}
    return {name: block["size_b"] for name, block in blocks.items() if "size_b" in block}


def spoken_models(config: Config) -> list[str]:
    """Return the models of all systems of the grid that are run."""
    return list(dict.fromkeys(model for run in team_runs(config) for model in models_of(config, run.system)))


def shown_models(config: Config) -> list[str]:
    """Return the models of all systems of the grid, and the evaluator."""
    found = [model for system in listed_systems(config) for model in models_of(config, system)]
    return list(dict.fromkeys([*found, config["slices"]["evaluator"]["model"]]))


def step_scorer(config: Config) -> str:
    """Return who scored the steps: `oracle`, or the name of the evaluator."""
    block = config["slices"]["evaluator"]
    return ORACLE if block["scored_by"] == ORACLE else block["model"]


def claims_cell(config: Config) -> dict[str, Any]:
    """Return every evaluation, and which part of the grid each claim is about."""
    roles = config["slices"]["claims"] | {"all": config["slices"]["grid"]["benchmarks"]}
    number = config["slices"]["refine"]["rounds"]
    rounds = {system: number for system in listed_systems(config) if reward_of(config, system)}
    return {**roles_cell(config), "roles": roles, "rounds": rounds, "step_scorer": step_scorer(config)}


def _figure_cell(config: Config, runs: list[TeamRun]) -> dict[str, Any]:
    """Return these runs in stage eval, and who scored the steps."""
    return {"runs": [_run(config, run) for run in runs], "step_scorer": step_scorer(config)}


def figure4_runs(config: Config) -> list[TeamRun]:
    """Return the runs of the rows of Table 1."""
    return team_runs(config, config["slices"]["grid"]["systems"])


def figure4_cell(config: Config) -> dict[str, Any]:
    """Return the rows of Table 1, and the models that a weighted token is over, as in the table of budgets."""
    return _figure_cell(config, figure4_runs(config)) | {"models": spoken_models(config), "sizes": sizes(config)}


def figure3_runs(config: Config) -> list[TeamRun]:
    """Return the runs of the full method, of what is taken away from it, and of its controls; none without it."""
    grid = config["slices"]["grid"]
    others = [name for name in (*grid["ablations"], *grid["controls"]) if not is_baseline(config, name)]
    return team_runs(config, [REFERENCE, *others]) if REFERENCE in grid["systems"] else []


def figure3_cell(config: Config) -> dict[str, Any]:
    return _figure_cell(config, figure3_runs(config))


def figure5_runs(config: Config) -> list[TeamRun]:
    """Return the runs of the team before it learns anything, and after."""
    return [run for run in team_runs(config) if run.system in (BEFORE, REFERENCE)]


def figure5_cell(config: Config) -> dict[str, Any]:
    return _figure_cell(config, figure5_runs(config))
