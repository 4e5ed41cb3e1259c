"""What the grid of slices runs: evaluations, the stages that runs learned in, and their jobs. Standard library only."""

from typing import Any

import results_grid
from grid import Config
from slices_grid import (
    GREEDY,
    SAMPLED,
    SCORES,
    Stage,
    TeamRun,
    distilled,
    is_baseline,
    reward_of,
    sampled_at,
    sampled_runs,
    searched,
    teacher_of,
    team_runs,
    trained_baseline,
)

OF_RUN = "{benchmark}/{system}/seed{seed}"
OF_STAGE = f"{OF_RUN}/{{stage}}"
# Kind of a stage of learning -> its rule, and its job: the path of its files below the rule, without an ending.
JOBS = {
    "teacher": ("sample_trajectories", OF_STAGE),
    "distilled": ("distill_team", OF_RUN),
    "sampled": ("sample_trajectories", OF_STAGE),
    "scored": ("score_steps", OF_STAGE),
    "round": ("refine_team", OF_STAGE),
    "searched": ("search_workflow", OF_RUN),
    "trained": ("train_baseline", OF_RUN),
}
# What Snakemake leaves of a job: patterns, as a command line has no room for paths.
FILES = {"log": "results/logs/{rule}/{job}.log", "resources": "results/resources/{rule}/{job}.resources.tsv"}


def evaluations(config: Config) -> list[tuple[TeamRun, str]]:
    """Return every evaluation: the greedy one of each run, then the sampled ones."""
    return [*((run, GREEDY) for run in team_runs(config)), *((run, SAMPLED) for run in sampled_runs(config))]


def greedy(config: Config, runs: list[TeamRun] | None = None) -> list[tuple[TeamRun, str]]:
    """Return the evaluation in stage eval of these runs, by default of all."""
    return [(run, GREEDY) for run in (team_runs(config) if runs is None else runs)]


def learning(config: Config, run: TeamRun) -> list[tuple[str, Stage]]:
    """Return the stages that a run learned in, kinds of JOBS in their order.

    `sampled` holds a round's trajectories, `scored` their step scores, `round` its rewards and adapters; `searched` and
    `trained` are a baseline's.
    """
    found = [("teacher", Stage(teacher_of(config, run.system), "teacher"))] if teacher_of(config, run.system) else []
    found += [("distilled", stage) for stage in [distilled(config, run.system)] if stage]
    if reward_of(config, run.system):
        for number in range(1, config["slices"]["refine"]["rounds"] + 1):
            found.append(("sampled", sampled_at(config, run.system, number)))
            if reward_of(config, run.system) == SCORES:
                found.append(("scored", sampled_at(config, run.system, number)))
            found.append(("round", Stage(run.system, f"round{number}")))
    found += [("searched", stage) for stage in [searched(config, run.system)] if stage]
    found += [("trained", stage) for stage in [trained_baseline(config, run.system)] if stage]
    return found


def measured_jobs(config: Config) -> dict[str, list[str]]:
    """Return rule -> its jobs of the grid, each once, as the path of their files below the rule, without an ending."""
    jobs: dict[str, dict[str, None]] = {}
    for run in team_runs(config):
        for kind, stage in learning(config, run):
            rule, job = JOBS[kind]
            name = job.format(benchmark=run.benchmark, system=stage.system, seed=run.seed, stage=stage.stage)
            jobs.setdefault(rule, {})[name] = None
    for run, stage in evaluations(config):
        rule = "answer_with_baseline" if is_baseline(config, run.system) else "answer_with_team"
        jobs.setdefault(rule, {})[OF_STAGE.format(**run._asdict(), stage=stage)] = None
    return {rule: list(found) for rule, found in jobs.items()}


def resources_cell(config: Config) -> dict[str, Any]:
    """Return both papers' jobs, and what Snakemake leaves of one."""
    of_paper = {"musketeers": results_grid.measured_jobs, "slices": measured_jobs}
    jobs = {name: found for paper in config["papers"] for name, found in of_paper[paper](config).items()}
    return {"jobs": jobs, **FILES}
