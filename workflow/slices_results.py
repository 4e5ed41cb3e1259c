"""What the tables, figures and claims of slices show: for each the runs that it needs, and its cell. Standard library only."""

from typing import Any

from grid import NO_TEAM, Config
from slices_grid import (
    GREEDY,
    ORACLE,
    SAMPLED,
    Stage,
    TeamRun,
    base_of,
    distilled,
    listed_systems,
    models_of,
    reward_of,
    sampled_at,
    sampled_runs,
    teacher_of,
    team_cells,
    team_runs,
)

REFERENCE = "cl"
BEFORE = "cl_no_training"  # the team of CL before it learns anything


def table_cell(config: Config) -> dict[str, Any]:
    """Return the cells of Table 1 in print order, then ablations and controls, each with its seeds, none if not run."""
    keys = ("benchmark", "method", "team", "seeds")
    rows = [
        (benchmark, system, NO_TEAM, seeds) for benchmark, system, seeds in team_cells(config, listed_systems(config))
    ]
    cells = [dict(zip(keys, row, strict=True)) for row in rows]
    return {"paper": "slices", "reference": REFERENCE, "rows": config["slices"]["grid"]["systems"], "cells": cells}


def _run(run: TeamRun, stage: str = GREEDY) -> dict[str, Any]:
    return {"benchmark": run.benchmark, "method": run.system, "seed": run.seed, "stage": stage}


def runs_cell(config: Config) -> dict[str, Any]:
    """Return every evaluated run, and the models of each system's slots."""
    models = {system: models_of(config, system) for system in listed_systems(config)}
    return {"runs": [_run(run) for run in team_runs(config)], "models": models}


def rounds(config: Config, run: TeamRun) -> list[tuple[Stage, Stage]]:
    """Return (where a round's trajectories are, where its rewards and adapters are) of each round of refinement."""
    if not reward_of(config, run.system):
        return []
    numbers = range(1, config["slices"]["refine"]["rounds"] + 1)
    return [(sampled_at(config, run.system, number), Stage(run.system, f"round{number}")) for number in numbers]


def learning(config: Config, run: TeamRun) -> dict[str, Stage]:
    """Return the stages of a run's learning: teacher, distilled, and sampled and refined of each round."""
    found: dict[str, Stage] = {}
    if teacher_of(config, run.system):
        found["teacher"] = Stage(teacher_of(config, run.system), "teacher")
        found["distilled"] = distilled(config, run.system)
    for number, (sampled, refined) in enumerate(rounds(config, run), 1):
        found |= {f"sampled{number}": sampled, f"refined{number}": refined}
    return found


def learning_cell(config: Config) -> dict[str, Any]:
    """Return the runs, and for each the folders of its learning, by what was done there."""
    cells = []
    for run in team_runs(config):
        stages = {kind: f"{stage.system}/seed{run.seed}/{stage.stage}" for kind, stage in learning(config, run).items()}
        cells.append({**_run(run), "learning": stages, "reward": reward_of(config, run.system)})
    return {"runs": cells, "step_scorer": step_scorer(config)}


def step_scorer(config: Config) -> str:
    """Return who scored the steps: `oracle`, or the name of the evaluator."""
    block = config["slices"]["evaluator"]
    return ORACLE if block["kind"] == ORACLE else block["model"]


def claims_cell(config: Config) -> dict[str, Any]:
    """Return the runs, greedy and sampled, and which part of the grid each claim is about."""
    runs = [*map(_run, team_runs(config)), *(_run(run, SAMPLED) for run in sampled_runs(config))]
    return {
        **runs_cell(config),
        "runs": runs,
        "bases": {system: base_of(config, system) for system in listed_systems(config)},
        "roles": config["slices"]["claims"],
        "step_scorer": step_scorer(config),
    }
