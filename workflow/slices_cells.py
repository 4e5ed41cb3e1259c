"""The cells of the jobs of slices: for each rule the config values that its jobs read. Standard library only."""

from typing import Any

from grid import Config
from slices_grid import GREEDY, SCORES, base_of, models_of, reward_of, slots_of


def _of_benchmark(config: Config, benchmark: str) -> dict[str, Any]:
    """Return what a benchmark sets for slices, names checked before."""
    return config["benchmarks"][benchmark]["slices"]


def scoring(config: Config, benchmark: str) -> dict[str, Any]:
    """Return how answers are graded: the scorer, its time limit in seconds and its options."""
    block = config["benchmarks"][benchmark]
    limit = config["evaluation"]["time_limit_s"]
    return {"scorer": block["scorer"], "time_limit_s": limit, "options": block.get("scoring", {})}


def team_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    """Return what names a team: slots, models, and the sizes that the config fixes, in billions of parameters."""
    models = models_of(config, system)
    sizes = {model: config["models"][model]["size_b"] for model in models if "size_b" in config["models"][model]}
    return {
        "benchmark": benchmark,
        "dtype": config["slices"]["generation"]["dtype"],
        "models": models,
        "numeric_threads": config["numeric_threads"],
        "sizes": sizes,
        "slots": slots_of(config, system),
        "system": system,
    }


def generation(config: Config) -> dict[str, Any]:
    """Return how responses are generated."""
    return {key: value for key, value in config["slices"]["generation"].items() if key != "dtype"}


def _protocol(config: Config, benchmark: str, system: str, temperature: float) -> dict[str, Any]:
    settings = {key: value for key, value in config["slices"]["protocol"].items() if not key.endswith("prompt")}
    budget = {"max_new_tokens": _of_benchmark(config, benchmark)["max_new_tokens"]}
    actions = {"actions": config["systems"][base_of(config, system)].get("actions", True)}
    return {**settings, **budget, **actions, "temperature": temperature}


def sample_cell(config: Config, benchmark: str, system: str, stage: str) -> dict[str, Any]:
    """Return the cell of trajectories on train problems, stage teacher or round1, round2, ..."""
    block = config["slices"]["distill" if stage == "teacher" else "refine"]
    protocol = _protocol(config, benchmark, system, config["slices"]["protocol"]["temperature"])
    sampled = {"samples": block["samples_per_problem"], "stage": stage}
    return {
        **team_cell(config, benchmark, system),
        **sampled,
        "protocol": protocol,
        "generation": generation(config),
    }


def answer_cell(config: Config, benchmark: str, system: str, stage: str) -> dict[str, Any]:
    """Return the cell of trajectories on test problems: one each, greedy in stage eval."""
    temperature = 0.0 if stage == GREEDY else config["slices"]["protocol"]["temperature"]
    protocol = _protocol(config, benchmark, system, temperature)
    sampled = {"samples": 1, "stage": stage}
    return {**team_cell(config, benchmark, system), **sampled, "protocol": protocol, "generation": generation(config)}


def qualify_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    """Return the cell of the demonstrations that a teacher gives."""
    threshold = _of_benchmark(config, benchmark)["threshold"]
    return {**scoring(config, benchmark), "slots": slots_of(config, system), "threshold": threshold}


def _training(config: Config, benchmark: str, system: str, block: str) -> dict[str, Any]:
    left_out = ("samples_per_problem", "rounds", "save_every")
    settings = {key: value for key, value in config["slices"][block].items() if key not in left_out}
    team = team_cell(config, benchmark, system)
    team["actions"] = config["systems"][base_of(config, system)].get("actions", True)
    return {**team, "lora": config["slices"]["lora"], "training": settings}


def distill_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    return {**_training(config, benchmark, system, "distill"), "stage": "distilled"}


def refine_cell(config: Config, benchmark: str, system: str, number: str) -> dict[str, Any]:
    """Return the cell of a refinement; a system may set a clip of its own."""
    cell = _training(config, benchmark, system, "refine")
    cell["training"]["clip"] = config["systems"][system].get("clip", cell["training"]["clip"])
    return {**cell, "stage": f"round{number}"}


def evaluate_cell(config: Config, benchmark: str, system: str, number: str) -> dict[str, Any]:
    """Return the cell of the scores of a round's steps."""
    evaluator = {key: value for key, value in config["slices"]["evaluator"].items() if key != "prompt"}
    sizes = {
        name: block["size_b"]
        for name, block in config["models"].items()
        if name == evaluator["model"] and "size_b" in block
    }
    left_out = ("models", "sizes", "slots")
    team = {key: value for key, value in team_cell(config, benchmark, system).items() if key not in left_out}
    round_ = {"stage": f"round{number}", "sizes": sizes}
    return {**team, **round_, "evaluator": evaluator, "generation": generation(config)}


def reward_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    """Return the cell of rewards (eq. 11, 12); only step scores are weighed."""
    reward = reward_of(config, system)
    weight = {"alpha": _of_benchmark(config, benchmark)["alpha"]} if reward == SCORES else {}
    return {**scoring(config, benchmark), **weight, "reward": reward}


def grade_cell(config: Config, benchmark: str, system: str, stage: str) -> dict[str, Any]:
    """Return the cell of the scores of a system's answers."""
    named = {"benchmark": benchmark, "models": models_of(config, system), "stage": stage, "system": system}
    return {**named, **scoring(config, benchmark)}
