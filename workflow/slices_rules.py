"""What must fit together in the blocks `slices:` and `systems:` of a config whose values are right one by one."""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from config_rules import TAUGHT, KeyPath, got, line
from grid import Config
from slices_grid import ORACLE, is_baseline, listed_systems, models_of, team_runs

REFERENCE = "cl"
ONE, COPIES, THOSE, ANY = "one model", "one model several times", f"the models of {REFERENCE}", "models"
# What each kind of models means, given those of a system and those of the reference.
FITS: dict[str, Callable[[list[str], list[str]], bool]] = {
    ONE: lambda models, reference: len(models) == 1,
    COPIES: lambda models, reference: len(models) > 1 and len(set(models)) == 1,
    THOSE: lambda models, reference: models == reference,
    ANY: lambda models, reference: True,
}


class Row(NamedTuple):
    """What a system is: its models, whether it has a teacher, and the rest of its block."""

    models: str
    teacher: bool
    rest: Config


# Systems that tables, figures and claims know by their names, and what they are.
FIXED = {
    "qwen3_14b": Row(ONE, False, {"actions": False}),
    "se_rl": Row(ONE, False, {"reward": "scores"}),
    "homo_mas": Row(COPIES, False, {}),
    "homo_cl": Row(COPIES, True, {"reward": "scores"}),
    REFERENCE: Row(ANY, True, {"reward": "scores"}),
    "cl_no_training": Row(THOSE, False, {}),
    "cl_no_distillation": Row(THOSE, False, {"reward": "scores"}),
    "cl_no_step_scores": Row(THOSE, False, {"base": REFERENCE, "reward": "task"}),
    "cl_distilled": Row(THOSE, False, {"base": REFERENCE}),
    "cl_constant_reward": Row(THOSE, False, {"base": REFERENCE, "reward": "constant"}),
}


def system_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each system that cannot be, or is not what its name says."""
    systems = config["systems"]
    for system, block in systems.items():
        path: KeyPath = ("systems", system)
        if ("models" in block) == ("base" in block):
            yield line(path, got(block), "exactly one of models and base")
        elif "base" in block:
            yield from _base_faults(path, block, systems)
        elif "method" in block:
            continue
        else:
            yield from _team_faults(path, block, systems)
        if "clip" in block and "reward" not in block:
            yield line((*path, "clip"), got(block["clip"]), "only with a reward")


def _base_faults(path: KeyPath, block: Config, systems: Config) -> Iterator[str]:
    base = systems[block["base"]]
    if "models" not in base:
        allowed = ", ".join(name for name, other in systems.items() if "models" in other)
        yield line((*path, "base"), got(block["base"]), f"a system with models: {allowed}")
    elif "method" in base:
        return  # then baselines_rules.BASED says all that may stand in the block
    elif "reward" in block and not base.get("actions", True):
        yield line((*path, "reward"), got(block["reward"]), f"no reward: {block['base']} has actions: false")
    elif "reward" not in block and "teacher" not in base:
        allowed = ", ".join(name for name, other in systems.items() if "teacher" in other) or "none there"
        yield line(
            (*path, "base"), got(block["base"]), f"without a reward of its own, a system with a teacher: {allowed}"
        )
    for key in sorted(block.keys() & {"teacher", "actions"}):
        yield line((*path, key), got(block[key]), "no such key beside base: the base decides")


def _team_faults(path: KeyPath, block: Config, systems: Config) -> Iterator[str]:
    if not block.get("actions", True) and (len(block["models"]) > 1 or block.keys() & {"teacher", "reward"}):
        yield line((*path, "actions"), got(False), "false only for one model that does not learn")
    if "teacher" in block:
        teacher = systems[block["teacher"]]
        if teacher.keys() != {"models"} or len(teacher["models"]) != len(block["models"]):
            allowed = f"a system of {len(block['models'])} models that does not learn"
            yield line((*path, "teacher"), got(block["teacher"]), allowed)


def slices_grid_faults(config: Config) -> Iterator[str]:
    """Yield a fault for a grid that says a thing twice or nothing, and for names that do not keep their meaning."""
    grid = config["slices"]["grid"]
    listed = listed_systems(config)
    for system in dict.fromkeys(name for name in listed if listed.count(name) > 1):
        yield line(("slices", "grid"), f"{got(system)} twice", "each system in one of systems, ablations and controls")
    for system in grid["sampled"]:
        if system not in listed:
            yield line(("slices", "grid", "sampled"), got(system, listed), ", ".join(listed))
        elif is_baseline(config, system):
            yield line(
                ("slices", "grid", "sampled"), got(system), "systems without a method: its settings say how it samples"
            )
    if not team_runs(config):
        yield line(("slices", "grid", "fewer_seeds"), got(grid.get("fewer_seeds", [])), "what leaves at least one run")
    for index, entry in enumerate(grid.get("fewer_seeds", [])):
        if entry["seeds"] and not set(entry["seeds"]) & set(grid["seeds"]):
            allowed = f"[] or some of slices.grid.seeds: {', '.join(map(str, grid['seeds']))}"
            yield line(("slices", "grid", "fewer_seeds", index, "seeds"), got(entry["seeds"]), allowed)
    yield from _row_faults(config)
    yield from _evaluator_faults(config)


def _row_faults(config: Config) -> Iterator[str]:
    systems = config["systems"]
    for system in [name for name in FIXED if name in systems]:
        block, row = systems[system], FIXED[system]
        models = models_of(config, system)
        reference = models_of(config, REFERENCE) if REFERENCE in systems else models
        rest = {key: value for key, value in block.items() if key not in ("models", "teacher")}
        if rest != row.rest or ("teacher" in block) != row.teacher or not FITS[row.models](models, reference):
            teacher = "a teacher" if row.teacher else "no teacher"
            allowed = f"{row.models}, {teacher}, and {json.dumps(row.rest)}: tables know it by this name"
            yield line(("systems", system), got(block), allowed)


def _evaluator_faults(config: Config) -> Iterator[str]:
    evaluator, benchmarks = config["slices"]["evaluator"], config["slices"]["grid"]["benchmarks"]
    foreign = [name for name in benchmarks if config["benchmarks"][name]["loader"] not in TAUGHT]
    path: KeyPath = ("slices", "evaluator")
    if evaluator["scored_by"] == ORACLE and foreign:
        yield line((*path, "scored_by"), got(ORACLE), f"model: the oracle knows nothing of {', '.join(foreign)}")
    is_asked = evaluator["scored_by"] != ORACLE or evaluator["share"] > 0
    if is_asked and evaluator["retries"] > 0 and evaluator["temperature"] == 0:
        allowed = "above 0 where there are retries: at 0 each says the same again"
        yield line((*path, "temperature"), got(evaluator["temperature"]), allowed)


def slices_size_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each number that does not fit another."""
    for block in ("distill", "refine"):
        batch, micro = (config["slices"][block][key] for key in ("batch_size", "micro_batch_size"))
        if batch % micro:
            yield line(("slices", block, "micro_batch_size"), got(micro), f"a divisor of batch_size = {batch}")
    for benchmark in config["slices"]["grid"]["benchmarks"]:
        for split in ("num_train", "num_dev", "num_test"):
            if config["benchmarks"][benchmark][split] == 0:
                yield line(("benchmarks", benchmark, split), got(0), "at least 1 for a benchmark of slices.grid")
    slots = {f"a{place}" for place in range(1, 1 + max(len(models_of(config, name)) for name in config["systems"]))}
    for role in ("middle_slot", "largest_slot"):
        if config["slices"]["claims"][role] not in slots:
            yield line(("slices", "claims", role), got(config["slices"]["claims"][role]), ", ".join(sorted(slots)))
