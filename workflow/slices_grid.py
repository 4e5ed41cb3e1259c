"""What slices asks for: the runs of its systems, where each stage of a run finds its inputs, and the cells of its jobs.

A run has stages, each a folder: teacher, distilled, round1, round2, ..., eval and eval_sampled; those of a baseline, a
system with a `method`, are search, trained and eval. Systems with a `base` start from the base's distilled team, and
share its stages up to the first round's trajectories; where the base is a baseline they share all but eval. Standard
library only.
"""

from itertools import product
from typing import NamedTuple

from grid import Config

SAMPLED, GREEDY = "eval_sampled", "eval"
ORACLE, SCORES = "oracle", "scores"
SEARCH, TRAINED = "search", "trained"
# Scorer -> how two answers are compared, a name of scoring/equality.py; by their text where not named. On open texts
# (None) no vote can be taken.
EQUALITY = {"qa": "words", "gsm_hard": "number", "math": "latex", "multipl_e": "code", "conifer": None}


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
    """Return the system whose distilled team or trained baseline this one starts from: often itself."""
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


def method_of(config: Config, system: str) -> str | None:
    """Return the module of teams/ that runs a baseline, None for a system under the protocol."""
    return config["systems"][base_of(config, system)].get("method")


def is_baseline(config: Config, system: str) -> bool:
    return method_of(config, system) is not None


def searched(config: Config, system: str) -> Stage | None:
    """Return the stage that holds the workflow which a baseline searched for, None where it searches for none."""
    return Stage(base_of(config, system), SEARCH) if "search" in config["systems"][base_of(config, system)] else None


def trained_baseline(config: Config, system: str) -> Stage | None:
    """Return the stage that holds a baseline's trained adapters, None where it does not learn."""
    return Stage(base_of(config, system), TRAINED) if "learning" in config["systems"][base_of(config, system)] else None


def equality(config: Config, benchmark: str) -> str | None:
    """Return how two answers to a benchmark are compared."""
    return EQUALITY.get(config["benchmarks"][benchmark]["scorer"], "text")


def distilled(config: Config, system: str) -> Stage | None:
    """Return the stage that holds the distilled adapters, None for a team that starts untrained."""
    return Stage(base_of(config, system), "distilled") if teacher_of(config, system) else None


def sampled_at(config: Config, system: str, number: int) -> Stage:
    """Return the stage that holds the trajectories and step scores of a round of refinement."""
    return Stage(base_of(config, system) if number == 1 else system, f"round{number}")


def before(config: Config, system: str, stage: str) -> Stage | None:
    """Return the stage whose adapters speak in `stage`, None for untrained models."""
    if stage in ("teacher", SEARCH, TRAINED):
        return None
    if is_baseline(config, system):
        return trained_baseline(config, system)
    if stage.startswith("round"):
        number = int(stage.removeprefix("round"))
        return Stage(system, f"round{number - 1}") if number > 1 else distilled(config, system)
    if reward_of(config, system):
        return Stage(system, f"round{config['slices']['refine']['rounds']}")
    return distilled(config, system)
