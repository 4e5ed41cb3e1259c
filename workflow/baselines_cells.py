"""The cells of the jobs of baselines: for each rule the config values that its jobs read. Standard library only."""

from typing import Any

from grid import Config
from slices_cells import generation, scoring, team_cell
from slices_grid import GREEDY, SEARCH, TRAINED, base_of, equality, method_of


def of_baseline(config: Config, benchmark: str, system: str, block: str) -> dict[str, Any]:
    """Return a block of a baseline, settings, search or learning, with what it sets apart for this benchmark.

    A system with a base has its own on top of the base's.
    """
    found: dict[str, Any] = {}
    for name in dict.fromkeys((base_of(config, system), system)):
        own = config["systems"][name]
        found |= own.get(block, {}) | own.get("per_benchmark", {}).get(benchmark, {}).get(block, {})
    return found


def _graph_cell(config: Config, benchmark: str, system: str, stage: str) -> dict[str, Any]:
    protocol, budget = config["slices"]["protocol"], config["benchmarks"][benchmark]["slices"]["max_new_tokens"]
    asked = {"retries": protocol["retries"], "top_p": protocol["top_p"], "max_new_tokens": budget}
    return {
        **team_cell(config, benchmark, system),
        "equality": equality(config, benchmark),
        "generation": generation(config),
        "graph": asked,
        "method": method_of(config, system),
        "settings": of_baseline(config, benchmark, system, "settings"),
        "stage": stage,
    }


def answer_baseline_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    """Return the cell of a baseline's answers to the test problems, one each."""
    return {**_graph_cell(config, benchmark, system, GREEDY), "samples": 1}


def search_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    """Return the cell of a search for a workflow on dev problems."""
    search = of_baseline(config, benchmark, system, "search")
    optimiser = search.pop("optimiser")
    searched = {"optimiser": optimiser, "optimiser_size": config["models"][optimiser].get("size_b")}
    graph = _graph_cell(config, benchmark, system, SEARCH)
    return {**graph, **searched, "search": search, "scoring": scoring(config, benchmark)}


def train_baseline_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    """Return the cell of a baseline's training by reinforcement learning."""
    shared = {key: value for key, value in config["slices"]["marl"].items() if key not in ("lora", "save_every")}
    learning = {**shared, **of_baseline(config, benchmark, system, "learning")}
    graph = _graph_cell(config, benchmark, system, TRAINED)
    if "train_turns" in learning:  # it learns in so many turns, however many it answers in: these train nothing again
        graph["settings"].pop("rounds", None)
    return {
        **graph,
        "learning": learning,
        "lora": config["slices"]["marl"]["lora"],
        "scoring": scoring(config, benchmark),
    }
