"""What the tables, figures and claims of slices show: their runs and their cells. Standard library only."""

from typing import Any

import results_grid
from grid import NO_TEAM, Config
from slices_grid import (
    GREEDY,
    ORACLE,
    SAMPLED,
    SCORES,
    Stage,
    TeamRun,
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
# Scorer -> how two answers are compared; by their text where not named.
EQUAL = {"qa": "words", "gsm_hard": "number", "math": "latex"}
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
    learned = {"evaluator": _scorer(config, run.system), "learns": learns(config, run.system)}
    return {**named, **learned, "models": models_of(config, run.system)}


def learns(config: Config, system: str) -> bool:
    """Return whether a system is trained: another seed gives one that does not the same greedy answers."""
    return bool(teacher_of(config, system) or reward_of(config, system))


def evaluations(config: Config) -> list[tuple[TeamRun, str]]:
    """Return every evaluation: the greedy one of each run, then the sampled ones."""
    return [*((run, GREEDY) for run in team_runs(config)), *((run, SAMPLED) for run in sampled_runs(config))]


def greedy(config: Config, runs: list[TeamRun] | None = None) -> list[tuple[TeamRun, str]]:
    """Return the greedy evaluation of these runs, by default of all."""
    return [(run, GREEDY) for run in (team_runs(config) if runs is None else runs)]


def learning(config: Config, run: TeamRun) -> list[tuple[str, Stage]]:
    """Return the stages that a run learned in: (teacher | distilled | sampled | scored | round, stage).

    `sampled` holds a round's trajectories, `scored` their step scores, `round` its rewards and adapters.
    """
    found = [("teacher", Stage(teacher_of(config, run.system), "teacher"))] if teacher_of(config, run.system) else []
    found += [("distilled", stage) for stage in [distilled(config, run.system)] if stage]
    if reward_of(config, run.system):
        for number in range(1, config["slices"]["refine"]["rounds"] + 1):
            found.append(("sampled", sampled_at(config, run.system, number)))
            if reward_of(config, run.system) == SCORES:
                found.append(("scored", sampled_at(config, run.system, number)))
            found.append(("round", Stage(run.system, f"round{number}")))
    return found


def roles_cell(config: Config) -> dict[str, Any]:
    """Return every evaluation, and how two answers to a benchmark are compared."""
    compared = {
        name: EQUAL.get(config["benchmarks"][name]["scorer"], "text") for name in config["slices"]["grid"]["benchmarks"]
    }
    return {"runs": [_run(config, *found) for found in evaluations(config)], "normalise": compared}


def retention_cell(config: Config) -> dict[str, Any]:
    """Return every evaluation, and the systems that are no rows of Table 1."""
    grid = config["slices"]["grid"]
    runs = [_run(config, *found) for found in evaluations(config)]
    return {"runs": runs, "reference": REFERENCE, "unranked": [*grid["ablations"], *grid["controls"]]}


def overlap_cell(config: Config) -> dict[str, Any]:
    """Return the greedy runs of teams of several models."""
    return {"runs": [_run(config, run) for run in team_runs(config) if len(models_of(config, run.system)) > 1]}


def _stages(config: Config, run: TeamRun) -> dict[str, Any]:
    """Return in which system's folder each stage of a run's learning lies."""
    found, numbers = distilled(config, run.system), range(1, config["slices"]["refine"]["rounds"] + 1)
    sampled = [sampled_at(config, run.system, number).system for number in numbers if reward_of(config, run.system)]
    stages = {
        "teacher": teacher_of(config, run.system),
        "distilled": found.system if found else None,
        "sampled": sampled,
    }
    return {**{key: value for key, value in _run(config, run).items() if key != "stage"}, **stages}


def funnel_cell(config: Config) -> dict[str, Any]:
    """Return the stages of every run."""
    return {"runs": [_stages(config, run) for run in team_runs(config)]}


def budgets_cell(config: Config) -> dict[str, Any]:
    """Return the stages of every run, the model that budgets are compared with, and the sizes that the config fixes."""
    sizes = {
        name: config["models"][name]["size_b"] for name in shown_models(config) if "size_b" in config["models"][name]
    }
    return {**funnel_cell(config), "reference_model": config["slices"]["evaluator"]["model"], "sizes": sizes}


def shown_models(config: Config) -> list[str]:
    """Return the models of all systems of the grid, and the evaluator."""
    found = [model for system in listed_systems(config) for model in models_of(config, system)]
    return list(dict.fromkeys([*found, config["slices"]["evaluator"]["model"]]))


def step_scorer(config: Config) -> str:
    """Return who scored the steps: `oracle`, or the name of the evaluator."""
    block = config["slices"]["evaluator"]
    return ORACLE if block["scored_by"] == ORACLE else block["model"]


def measured_jobs(config: Config) -> dict[str, list[str]]:
    """Return rule -> its jobs of the grid, each once, as the path of their files below the rule, without an ending."""
    rules = {"teacher": "sample_trajectories", "sampled": "sample_trajectories", "scored": "score_steps"}
    rules |= {"distilled": "distill_team", "round": "refine_team"}
    jobs: dict[str, dict[str, None]] = {}
    for run in team_runs(config):
        for kind, stage in learning(config, run):
            job = f"{run.benchmark}/{stage.system}/seed{run.seed}" + f"/{stage.stage}" * (kind != "distilled")
            jobs.setdefault(rules[kind], {})[job] = None
    for run, stage in evaluations(config):
        jobs.setdefault("answer_with_team", {})[f"{run.benchmark}/{run.system}/seed{run.seed}/{stage}"] = None
    return {rule: list(found) for rule, found in jobs.items()}


def resources_cell(config: Config) -> dict[str, Any]:
    """Return both papers' jobs, and what Snakemake leaves of one: patterns, as a command line has no room for paths."""
    of_paper = {"musketeers": results_grid.measured_jobs, "slices": measured_jobs}
    jobs = {name: found for paper in config["papers"] for name, found in of_paper[paper](config).items()}
    files = {"log": "results/logs/{rule}/{job}.log", "resources": "results/resources/{rule}/{job}.resources.tsv"}
    return {"jobs": jobs, **files}


def claims_cell(config: Config) -> dict[str, Any]:
    """Return every evaluation, and which part of the grid each claim is about."""
    runs = [_run(config, *found) for found in evaluations(config)]
    roles = config["slices"]["claims"] | {"all": config["slices"]["grid"]["benchmarks"]}
    number = config["slices"]["refine"]["rounds"]
    rounds = {system: number for system in listed_systems(config) if reward_of(config, system)}
    parts = {"rounds": rounds, "step_scorer": step_scorer(config)}
    return {**roles_cell(config), "runs": runs, "roles": roles, **parts}


def figure_cell(config: Config) -> dict[str, Any]:
    """Return the greedy runs, and who scored the steps."""
    return {"runs": [_run(config, run) for run in team_runs(config)], "step_scorer": step_scorer(config)}


def figure4_cell(config: Config) -> dict[str, Any]:
    return figure_cell(config) | {"sizes": budgets_cell(config)["sizes"]}


def figure3_runs(config: Config) -> list[TeamRun]:
    """Return the runs of the full method, of what is taken away from it, and of its controls."""
    grid = config["slices"]["grid"]
    return team_runs(config, [REFERENCE, *grid["ablations"], *grid["controls"]])


def figure3_cell(config: Config) -> dict[str, Any]:
    return figure_cell(config) | {"runs": [_run(config, run) for run in figure3_runs(config)]}


def figure5_runs(config: Config) -> list[TeamRun]:
    """Return the runs of the team before it learns anything, and after."""
    return [run for run in team_runs(config) if run.system in (BEFORE, REFERENCE)]


def figure5_cell(config: Config) -> dict[str, Any]:
    return figure_cell(config) | {"runs": [_run(config, run) for run in figure5_runs(config)]}
