"""What the config asks for: the runs of the grid, and for each rule the config values that its jobs read (their cell).

A job is rerun when the JSON of its cell changes, so a cell holds what the job reads and nothing else. Standard library
only: every job parses this again.
"""

import json
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from slmcollab import choice

Config = dict[str, Any]
NO_TEAM = "none"
NOT_DATA = ("grpo", "scorer", "scoring", "slices")  # keys of a benchmark that its problems do not depend on
TRAINED_HERE = ("toy", "toy_member")  # sources of models
BASE = "hidden_state"  # the method that figures and claims are about, and ablations differ from

uses = cache(choice.uses)


class Run(NamedTuple):
    """One trained policy of the grid."""

    benchmark: str
    method: str
    team: str
    seed: int


def teams_of(config: Config, method: str) -> list[str]:
    """Return the teams that a method runs with: its own, narrowed to the grid; `none` where it reads no expert."""
    block = config["methods"][method]
    if not reads_experts(block["operator"]):
        return [NO_TEAM]
    return [team for team in config["grid"]["teams"] if team in block.get("teams", [team])]


def reads_experts(operator: str) -> bool:
    return bool({"features", "text", "router"} & set(uses(operator)))


def seeds_of(config: Config, benchmark: str, method: str, team: str) -> list[int]:
    """Return the seeds of a cell: all, unless its method leaves the benchmark out or `fewer_seeds` matches."""
    grid, cell = config["grid"], {"benchmarks": benchmark, "methods": method, "teams": team}
    if benchmark not in config["methods"][method].get("benchmarks", [benchmark]):
        return []
    for entry in grid.get("fewer_seeds", []):
        if all(name in entry.get(kind, [name]) for kind, name in cell.items()):
            return [seed for seed in grid["seeds"] if seed in entry["seeds"]]
    return grid["seeds"]


def cells(config: Config, methods: list[str]) -> list[tuple[str, str, str, list[int]]]:
    """Return (benchmark, method, team, seeds) of every cell of these methods, those without seeds too."""
    rows = [(b, m, team) for b, m in product(config["grid"]["benchmarks"], methods) for team in teams_of(config, m)]
    return [(*row, seeds_of(config, *row)) for row in rows]


def runs(config: Config) -> list[Run]:
    """Return the musketeers grid, each run once, in the order of its lists."""
    return [Run(*cell, seed) for *cell, seeds in cells(config, listed_methods(config)) for seed in seeds]


def listed_methods(config: Config) -> list[str]:
    """Return the methods of the grid: the rows of Table 1, then the ablations."""
    return [*config["grid"]["methods"], *config["grid"].get("ablations", [])]


def experts_of(config: Config, team: str) -> list[str]:
    return [] if team == NO_TEAM else config["teams"][team]


def _merged(config: Config, block: str, overrides: dict[str, Any]) -> dict[str, Any]:
    return {key: overrides.get(key, value) for key, value in config[block].items()}


def run_cell(config: Config, benchmark: str, method: str, team: str) -> dict[str, Any]:
    """Return what names a run, and the config blocks that its operator uses, a method's overrides merged in."""
    block = config["methods"][method]
    allowed = list(config["teams"]) if reads_experts(block["operator"]) else [NO_TEAM]
    if team not in allowed:
        raise ValueError(f"method {method} runs with team {' or '.join(allowed)}, not with {team}")
    cell = {
        "benchmark": benchmark,
        "dtype": config["policy"]["dtype"],
        "experts": experts_of(config, team),
        "method": method,
        "numeric_threads": config["numeric_threads"],
        "operator": block["operator"],
        "policy": config["policy"]["model"],
        "team": team,
    }
    cell |= {name: _merged(config, name, block) for name in uses(block["operator"])}
    if "features" in cell:
        cell["features"]["shuffled"] = block.get("shuffled", False)
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


def attention_cell(config: Config, benchmark: str, method: str, team: str) -> dict[str, Any]:
    scored = {"scorer": config["benchmarks"][benchmark]["scorer"], "time_limit_s": config["evaluation"]["time_limit_s"]}
    return {**answer_cell(config, benchmark, method, team), **scored}


def score_cell(config: Config, benchmark: str, method: str, team: str) -> dict[str, Any]:
    cell = run_cell(config, benchmark, method, team)
    named = {name: cell[name] for name in ("benchmark", "experts", "method", "policy", "team")}
    scorer = config["benchmarks"][benchmark]["scorer"]
    return {**named, "scorer": scorer, "time_limit_s": config["evaluation"]["time_limit_s"]}


def model_cell(config: Config, model: str) -> dict[str, Any]:
    """Return a model's block; only one that is trained here depends on the number of threads, none on `size_b`.

    What a toy member is taught reaches its training as a file.
    """
    block = {key: value for key, value in config["models"][model].items() if key not in ("size_b", "lessons")}
    threads = {"numeric_threads": config["numeric_threads"]} if block["source"] in TRAINED_HERE else {}
    return {"model": model, **threads, **block}


def lessons_cell(config: Config, model: str) -> dict[str, Any]:
    """Return what a toy member is taught, and the kinds of lessons that its phases are made of."""
    block = config["models"][model]
    kinds = sorted({kind for phase in block["training"]["phases"] for kind in phase["corpora"]})
    taught = {key: value for key, value in block["lessons"].items() if key != "benchmarks"}
    return {"model": model, "kinds": kinds, "data_seed": config["data_seed"], **taught}


def corpus_cell(config: Config, corpus: str) -> dict[str, Any]:
    return {"corpus": corpus, "data_seed": config["data_seed"], **config["corpora"][corpus]}


def problems_cell(config: Config, benchmark: str) -> dict[str, Any]:
    """Return a benchmark's block without what only training and scoring read."""
    block = {key: value for key, value in config["benchmarks"][benchmark].items() if key not in NOT_DATA}
    return {"benchmark": benchmark, "data_seed": config["data_seed"], **block}


def expert_answers_cell(config: Config, expert: str) -> dict[str, Any]:
    extraction = {key: config["extraction"][key] for key in ("dtype", "max_tokens", "overflow")}
    named = {"expert": expert, "numeric_threads": config["numeric_threads"]}
    return {**named, "extraction": extraction, "expert_answers": config["expert_answers"]}


def expert_scores_cell(config: Config, benchmark: str, expert: str, split: str) -> dict[str, Any]:
    block, time_limit = config["benchmarks"][benchmark], config["evaluation"]["time_limit_s"]
    named = {"benchmark": benchmark, "expert": expert, "split": split}
    return {**named, "scorer": block["scorer"], "time_limit_s": time_limit}


def embedding_cell(config: Config, encoder: str) -> dict[str, Any]:
    extraction = {"batch_tokens": config["extraction"]["batch_tokens"]}
    return {"expert": encoder, "extraction": extraction, "numeric_threads": config["numeric_threads"]}


def features_cell(config: Config, expert: str, sequence: str) -> dict[str, Any]:
    cell = {"expert": expert, "extraction": config["extraction"], "numeric_threads": config["numeric_threads"]}
    if sequence == "completion":  # a prompt is cut as it was when it was answered
        cell["expert_answers"] = {"max_new_tokens": config["expert_answers"]["max_new_tokens"]}
    return {**cell, "sequence": sequence}


def probe_cell(config: Config, benchmark: str, expert: str) -> dict[str, Any]:
    threads, ridge = config["numeric_threads"], config["probe"]["ridge"]
    return {"benchmark": benchmark, "expert": expert, "numeric_threads": threads, "ridge": ridge}


def as_json(cell: dict[str, Any]) -> str:
    """Return the text that Snakemake tracks: one string with sorted keys, as it compares params as a set of values."""
    return json.dumps(cell, sort_keys=True, ensure_ascii=False, allow_nan=False)
