"""What slices asks for: the runs of its systems, where each stage of a run finds its inputs, and the cells of its jobs.

A run has stages, each a folder: teacher, distilled, round1, round2, ..., eval and eval_sampled. Systems with a `base`
start from the base's distilled team, and share its stages up to the first round's trajectories. Standard library only.
"""

from itertools import product
from typing import Any, NamedTuple

from grid import Config

SAMPLED, GREEDY = "eval_sampled", "eval"
ORACLE, SCORES = "oracle", "scores"


class TeamRun(NamedTuple):
    """One evaluated system of the grid."""

    benchmark: str
    system: str
    seed: int


class Stage(NamedTuple):
    """A stage's folder, below results/slices/{benchmark}/."""

    system: str
    stage: str


def listed_systems(config: Config) -> list[str]:
    """Return the systems of the grid: the rows of Table 1, then ablations and controls."""
    grid = config["slices"]["grid"]
    return [*grid["systems"], *grid["ablations"], *grid["controls"]]


def seeds_of(config: Config, benchmark: str, system: str) -> list[int]:
    """Return the seeds of a cell: all, unless `fewer_seeds` matches; its first match decides."""
    grid = config["slices"]["grid"]
    for entry in grid.get("fewer_seeds", []):
        if benchmark in entry.get("benchmarks", [benchmark]) and system in entry.get("systems", [system]):
            return [seed for seed in grid["seeds"] if seed in entry["seeds"]]
    return grid["seeds"]


def team_cells(config: Config, systems: list[str]) -> list[tuple[str, str, list[int]]]:
    """Return (benchmark, system, seeds) of every cell of these systems, those without seeds too."""
    pairs = product(config["slices"]["grid"]["benchmarks"], systems)
    return [(benchmark, system, seeds_of(config, benchmark, system)) for benchmark, system in pairs]


def team_runs(config: Config, systems: list[str] | None = None) -> list[TeamRun]:
    """Return the runs of these systems, by default all of the grid, each once, in its order."""
    cells = team_cells(config, listed_systems(config) if systems is None else systems)
    return [TeamRun(benchmark, system, seed) for benchmark, system, seeds in cells for seed in seeds]


def sampled_runs(config: Config) -> list[TeamRun]:
    """Return the runs that are evaluated at the sampling temperature too."""
    chosen = config["slices"]["grid"]["sampled"]
    return [run for run in team_runs(config) if run.system in chosen]


def base_of(config: Config, system: str) -> str:
    """Return the system whose distilled team this one starts from: often itself."""
    return config["systems"][system].get("base", system)


def models_of(config: Config, system: str) -> list[str]:
    """Return the model of each slot."""
    return config["systems"][base_of(config, system)]["models"]


def slots_of(config: Config, system: str) -> list[str]:
    return [f"a{place}" for place, _ in enumerate(models_of(config, system), 1)]


def teacher_of(config: Config, system: str) -> str | None:
    """Return the system whose trajectories are distilled into this one, None where nothing is."""
    return config["systems"][base_of(config, system)].get("teacher")


def reward_of(config: Config, system: str) -> str | None:
    """Return the reward of the refinement: scores, task, constant, or None where there is none."""
    return config["systems"][system].get("reward")


def distilled(config: Config, system: str) -> Stage | None:
    """Return the stage that holds the distilled adapters, None for a team that starts untrained."""
    return Stage(base_of(config, system), "distilled") if teacher_of(config, system) else None


def sampled_at(config: Config, system: str, number: int) -> Stage:
    """Return the stage that holds the trajectories and step scores of a round of refinement."""
    return Stage(base_of(config, system) if number == 1 else system, f"round{number}")


def before(config: Config, system: str, stage: str) -> Stage | None:
    """Return the stage whose adapters speak in `stage`, None for untrained models."""
    if stage == "teacher":
        return None
    if stage.startswith("round"):
        number = int(stage.removeprefix("round"))
        return Stage(system, f"round{number - 1}") if number > 1 else distilled(config, system)
    if reward_of(config, system):
        return Stage(system, f"round{config['slices']['refine']['rounds']}")
    return distilled(config, system)


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


def _generation(config: Config) -> dict[str, Any]:
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
        "generation": _generation(config),
    }


def answer_cell(config: Config, benchmark: str, system: str, stage: str) -> dict[str, Any]:
    """Return the cell of trajectories on test problems: one each, greedy in stage eval."""
    temperature = 0.0 if stage == GREEDY else config["slices"]["protocol"]["temperature"]
    protocol = _protocol(config, benchmark, system, temperature)
    sampled = {"samples": 1, "stage": stage}
    return {**team_cell(config, benchmark, system), **sampled, "protocol": protocol, "generation": _generation(config)}


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
    return {**team, **round_, "evaluator": evaluator, "generation": _generation(config)}


def reward_cell(config: Config, benchmark: str, system: str) -> dict[str, Any]:
    """Return the cell of rewards (eq. 11, 12)."""
    alpha = _of_benchmark(config, benchmark)["alpha"]
    return {**scoring(config, benchmark), "alpha": alpha, "reward": reward_of(config, system)}


def grade_cell(config: Config, benchmark: str, system: str, stage: str) -> dict[str, Any]:
    """Return the cell of the scores of a system's answers."""
    named = {"benchmark": benchmark, "models": models_of(config, system), "stage": stage, "system": system}
    return {**named, **scoring(config, benchmark)}
