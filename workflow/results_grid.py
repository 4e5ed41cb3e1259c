"""What the tables and figures show: for each of them the runs that it needs, and its cell. Standard library only."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from grid import BASE, NO_TEAM, Config, Run, cells, experts_of, listed_methods, run_cell, runs

SPLITS = ("train", "test")
NARROWING = {"operator", "teams", "benchmarks"}


def table_cell(config: Config) -> dict[str, Any]:
    """Return the cells of Table 1 in print order, each with the seeds that its mean is over, none if it is not run."""
    keys = ("benchmark", "method", "team", "seeds")
    rows = [dict(zip(keys, row, strict=True)) for row in cells(config, config["grid"]["methods"])]
    return {"baseline": "single", "cells": rows, "paper": "musketeers"}


def table_runs(config: Config) -> list[Run]:
    """Return the runs behind Table 1."""
    return [run for run in runs(config) if run.method in config["grid"]["methods"]]


def experts_shown(config: Config) -> list[tuple[str, str]]:
    """Return every (benchmark, expert) of the grid, once, in grid order."""
    pairs = ((run.benchmark, expert) for run in runs(config) for expert in experts_of(config, run.team))
    return list(dict.fromkeys(pairs))


def experts_cell(config: Config) -> dict[str, Any]:
    """Return the cell of the tables that have a row per benchmark and expert."""
    shown = experts_shown(config)
    return {"benchmarks": config["grid"]["benchmarks"], "experts": list(dict.fromkeys(expert for _, expert in shown))}


def variants(config: Config, key: str) -> dict[Any, str]:
    """Return value of `key` -> method, of the hidden_state methods that differ from the base in this key alone."""
    block = "features" if key in config["features"] else "adapter"
    found = {}
    for method in listed_methods(config):
        overrides = {k: v for k, v in config["methods"][method].items() if k not in NARROWING}
        if config["methods"][method]["operator"] == BASE and overrides.keys() <= {key}:
            found.setdefault(overrides.get(key, config[block][key]), method)
    return found


def ablation_cells(config: Config, key: str) -> Iterator[dict[str, Any]]:
    """Yield {benchmark, team, `key`, method, seeds} of every variant where more than one of them is run.

    Order: benchmarks, teams, then values of `key`, numbers by size.
    """
    found = variants(config, key)
    ordered = sorted(found) if all(isinstance(value, int) for value in found) else list(found)
    rows = {row[:3]: row[3] for row in cells(config, list(found.values()))}
    for benchmark in config["grid"]["benchmarks"]:
        for team in config["grid"]["teams"]:
            seeds = {value: rows.get((benchmark, found[value], team), []) for value in ordered}
            if sum(map(bool, seeds.values())) > 1:
                for value in ordered:
                    named = {"benchmark": benchmark, "team": team, key: value, "method": found[value]}
                    yield {**named, "seeds": seeds[value]}


def _runs_of(rows: Iterator[dict[str, Any]]) -> list[Run]:
    return [Run(row["benchmark"], row["method"], row["team"], seed) for row in rows for seed in row["seeds"]]


def table2_cell(config: Config) -> dict[str, Any]:
    return {"paper": "musketeers", "rows": list(ablation_cells(config, "pooling"))}


def table2_runs(config: Config) -> list[Run]:
    return _runs_of(ablation_cells(config, "pooling"))


def figure6b_cell(config: Config) -> dict[str, Any]:
    return {"points": list(ablation_cells(config, "m"))}


def figure6b_runs(config: Config) -> list[Run]:
    return _runs_of(ablation_cells(config, "m"))


def attention_runs(config: Config) -> list[Run]:
    """Return the runs of the method `hidden_state`, which Figures 4 and 6a show."""
    return [run for run in runs(config) if run.method == BASE and run.team != NO_TEAM]


figure6a_runs = attention_runs


def figure4_cell(config: Config) -> dict[str, Any]:
    shown = [{**run._asdict(), "experts": experts_of(config, run.team)} for run in attention_runs(config)]
    return {"runs": shown}


def figure6a_cell(config: Config) -> dict[str, Any]:
    return {"runs": [run._asdict() for run in figure6a_runs(config)]}


def claims_cell(config: Config) -> dict[str, Any]:
    """Return the runs, the teams, the methods of the ablations, and which part of the grid each claim is about."""
    return {
        "runs": [run._asdict() for run in runs(config)],
        "teams": {team: config["teams"][team] for team in config["grid"]["teams"]},
        "poolings": variants(config, "pooling"),
        "sizes": {str(m): method for m, method in sorted(variants(config, "m").items())},
        "roles": config["claims"],
    }


def measured_jobs(config: Config) -> dict[str, list[str]]:
    """Return rule -> its jobs of the grid, each once, as the path of their files below the rule, without an ending."""
    trained = ["{}/{}/{}/seed{}".format(*run) for run in runs(config)]
    attention = ["{}/{}/{}/seed{}".format(*run) for run in attention_runs(config)]
    jobs = {"train_grpo": trained, "answer_problems": trained, "analyse_attention": attention}
    for rule, job in dict.fromkeys(_expert_jobs(config)):
        jobs.setdefault(rule, []).append(job)
    return {rule: found for rule, found in jobs.items() if found}


def _expert_jobs(config: Config) -> Iterator[tuple[str, str]]:
    """Yield (rule, job) of all that the probe, the table of experts and the runs read of experts and encoders."""
    for benchmark, expert in experts_shown(config):
        yield from (("extract_features", f"{expert}/{benchmark}/{split}/prompt") for split in SPLITS)
        yield "generate_expert_answers", f"{expert}/{benchmark}/test"
    for benchmark, method, team in dict.fromkeys(run[:3] for run in runs(config)):
        used = run_cell(config, benchmark, method, team)
        sequence, router = used.get("features", {}).get("sequence"), used.get("router", {})
        for expert, split in product(used["experts"], SPLITS):
            if sequence:
                yield "extract_features", f"{expert}/{benchmark}/{split}/{sequence}"
            if sequence == "completion" or "text" in used or (router.get("selection") == "best" and split == "train"):
                yield "generate_expert_answers", f"{expert}/{benchmark}/{split}"
        yield from (("embed_questions", f"{router['encoder']}/{benchmark}/{split}") for split in SPLITS if router)
