"""What the config asks for: the runs of the grid, and for each rule the config values that its jobs read (their cell).

A job is rerun when the JSON of its cell changes, so a cell holds what the job reads and nothing else. Standard library
only: every job parses this again.
"""

import json
from itertools import product
from typing import Any, NamedTuple

Config = dict[str, Any]
NO_TEAM = "none"


class Run(NamedTuple):
    """One trained policy of the grid."""

    benchmark: str
    method: str
    team: str
    seed: int


def teams_of(config: Config, method: str) -> list[str]:
    """Return the teams that a method runs with: its own, narrowed to the grid; `none` where a method has no expert."""
    allowed = config["methods"][method].get("teams")
    if allowed == []:
        return [NO_TEAM]
    return [team for team in config["grid"]["teams"] if allowed is None or team in allowed]


def runs(config: Config) -> list[Run]:
    """Return the musketeers grid in the order of its lists."""
    grid = config["grid"]
    return [
        Run(benchmark, method, team, seed)
        for benchmark, method in product(grid["benchmarks"], grid["methods"])
        for team in teams_of(config, method)
        for seed in grid["seeds"]
    ]


def experts_of(config: Config, team: str) -> list[str]:
    return [] if team == NO_TEAM else config["teams"][team]


def _merged(config: Config, block: str, overrides: dict[str, Any]) -> dict[str, Any]:
    return {key: overrides.get(key, value) for key, value in config[block].items()}


def run_cell(config: Config, benchmark: str, method: str, team: str) -> dict[str, Any]:
    """Return what names a run and what its policy and context are made of; a method's overrides are merged in."""
    method_block = config["methods"][method]
    allowed = [NO_TEAM] if method_block.get("teams") == [] else list(config["teams"])
    if team not in allowed:
        raise ValueError(f"method {method} runs with team {' or '.join(allowed)}, not with {team}")
    cell = {
        "benchmark": benchmark,
        "dtype": config["policy"]["dtype"],
        "experts": experts_of(config, team),
        "method": method,
        "numeric_threads": config["numeric_threads"],
        "operator": method_block["operator"],
        "policy": config["policy"]["model"],
        "team": team,
    }
    if team != NO_TEAM:
        cell["adapter"] = _merged(config, "adapter", method_block)
        cell["features"] = {
            **_merged(config, "features", method_block),
            "shuffled": method_block.get("shuffled", False),
        }
    return cell


def grpo_of(config: Config, benchmark: str) -> dict[str, Any]:
    """Return the training settings of a benchmark, its overrides merged in."""
    return _merged(config, "grpo", config["benchmarks"][benchmark].get("grpo", {}))


def train_cell(config: Config, benchmark: str, method: str, team: str) -> dict[str, Any]:
    """Return the cell of a training, without `save_every`: how often a checkpoint is written changes no output."""
    grpo = {key: value for key, value in grpo_of(config, benchmark).items() if key != "save_every"}
    time_limit = {"time_limit_s": config["evaluation"]["time_limit_s"]}
    scoring = {"scorer": config["benchmarks"][benchmark]["scorer"], "evaluation": time_limit}
    return {**run_cell(config, benchmark, method, team), **scoring, "grpo": grpo, "lora": config["lora"]}


def answer_cell(config: Config, benchmark: str, method: str, team: str) -> dict[str, Any]:
    """Return the cell of the answers, without scorer and training settings, which reach them as weights."""
    max_new_tokens = grpo_of(config, benchmark)["max_new_tokens"]
    budget = {"batch_size": config["evaluation"]["batch_size"], "max_new_tokens": max_new_tokens}
    return {**run_cell(config, benchmark, method, team), **budget}


def score_cell(config: Config, benchmark: str, method: str, team: str) -> dict[str, Any]:
    cell = run_cell(config, benchmark, method, team)
    named = {name: cell[name] for name in ("benchmark", "experts", "method", "policy", "team")}
    scorer = config["benchmarks"][benchmark]["scorer"]
    return {**named, "scorer": scorer, "time_limit_s": config["evaluation"]["time_limit_s"]}


def model_cell(config: Config, model: str) -> dict[str, Any]:
    """Return a model's block; only one that is trained here depends on the number of threads."""
    block = config["models"][model]
    threads = {"numeric_threads": config["numeric_threads"]} if block["source"] == "toy" else {}
    return {"model": model, **threads, **block}


def corpus_cell(config: Config, corpus: str) -> dict[str, Any]:
    return {"corpus": corpus, "data_seed": config["data_seed"], **config["corpora"][corpus]}


def problems_cell(config: Config, benchmark: str) -> dict[str, Any]:
    """Return a benchmark's block without what only training and scoring read."""
    block = {key: value for key, value in config["benchmarks"][benchmark].items() if key not in ("grpo", "scorer")}
    return {"benchmark": benchmark, "data_seed": config["data_seed"], **block}


def features_cell(config: Config, expert: str, sequence: str) -> dict[str, Any]:
    threads = config["numeric_threads"]
    return {"expert": expert, "extraction": config["extraction"], "numeric_threads": threads, "sequence": sequence}


def probe_cell(config: Config, benchmark: str, expert: str) -> dict[str, Any]:
    threads, ridge = config["numeric_threads"], config["probe"]["ridge"]
    return {"benchmark": benchmark, "expert": expert, "numeric_threads": threads, "ridge": ridge}


def table_cell(config: Config) -> dict[str, Any]:
    """Return the rows of Table 1 in print order, each with the seeds that its mean is over."""
    rows = dict.fromkeys(run[:3] for run in runs(config))
    keys = ("benchmark", "method", "team")
    cells = [{**dict(zip(keys, row, strict=True)), "seeds": config["grid"]["seeds"]} for row in rows]
    return {"cells": cells, "paper": "musketeers"}


def attention_runs(config: Config) -> list[Run]:
    """Return the runs that Figure 4 shows: those of the method `hidden_state`, which have experts to attend to."""
    return [run for run in runs(config) if run.method == "hidden_state" and run.team != NO_TEAM]


def figure4_cell(config: Config) -> dict[str, Any]:
    shown = [{**run._asdict(), "experts": experts_of(config, run.team)} for run in attention_runs(config)]
    return {"runs": shown}


def probed(config: Config) -> list[tuple[str, str]]:
    """Return every (benchmark, expert) of the grid, once, in grid order."""
    pairs = ((run.benchmark, expert) for run in runs(config) for expert in experts_of(config, run.team))
    return list(dict.fromkeys(pairs))


def probe_table_cell(config: Config) -> dict[str, Any]:
    return {"benchmarks": config["grid"]["benchmarks"]}


def as_json(cell: dict[str, Any]) -> str:
    """Return the text that Snakemake tracks: one string with sorted keys, as it compares params as a set of values."""
    return json.dumps(cell, sort_keys=True, ensure_ascii=False, allow_nan=False)
