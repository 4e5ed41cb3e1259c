"""What must fit together in the blocks `slices:` and `systems:` of a config whose values are right one by one."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from config_rules import KeyPath, got, line
from grid import Config
from slices_grid import listed_systems, models_of, team_runs

PROMPTS = Path(__file__).with_name("prompts")
REFERENCE = "cl"
# Systems that tables, figures and claims know by their names, and what they are beside their models.
FIXED: dict[str, Config] = {
    REFERENCE: {"reward": "scores"},
    "cl_no_training": {},
    "cl_no_distillation": {"reward": "scores"},
    "cl_no_step_scores": {"base": REFERENCE, "reward": "task"},
    "cl_distilled": {"base": REFERENCE},
    "cl_constant_reward": {"base": REFERENCE, "reward": "constant"},
}


def slices_name_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each name that nothing has."""
    for path, names, known in _uses(config):
        for name in [names] if isinstance(names, str) else names:
            if name not in known:
                yield line(path, got(name, known), ", ".join(sorted(known)))


def _uses(config: Config) -> Iterator[tuple[KeyPath, Any, Iterable[str]]]:
    slices, systems, models = config["slices"], config["systems"], config["models"]
    for kind in ("systems", "ablations", "controls"):
        yield ("slices", "grid", kind), slices["grid"][kind], systems
    playable = [name for name, block in config["benchmarks"].items() if "slices" in block and "num_dev" in block]
    yield ("slices", "grid", "benchmarks"), slices["grid"]["benchmarks"], playable
    yield ("slices", "grid", "sampled"), slices["grid"]["sampled"], systems
    for index, entry in enumerate(slices["grid"].get("fewer_seeds", [])):
        yield ("slices", "grid", "fewer_seeds", index, "systems"), entry.get("systems", []), systems
        yield ("slices", "grid", "fewer_seeds", index, "benchmarks"), entry.get("benchmarks", []), config["benchmarks"]
    yield ("slices", "evaluator", "model"), slices["evaluator"]["model"], models
    for benchmark in ("musique", "gsm_hard", "math", "multipl_e", "conifer"):
        yield ("slices", "claims", benchmark), slices["claims"][benchmark] or [], config["benchmarks"]
    prompts = {file.stem for file in PROMPTS.glob("*.txt")}
    for block, key in (("protocol", "prompt"), ("protocol", "solo_prompt"), ("evaluator", "prompt")):
        yield ("slices", block, key), slices[block][key], prompts
    for system, block in systems.items():
        yield ("systems", system, "models"), block.get("models", []), models
        for key in ("base", "teacher"):
            yield ("systems", system, key), block.get(key, []), systems


def system_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each system that cannot be, or is not what its name says."""
    systems = config["systems"]
    for system, block in systems.items():
        path: KeyPath = ("systems", system)
        if ("models" in block) == ("base" in block):
            yield line(path, got(block), "exactly one of models and base")
        elif "base" in block:
            yield from _base_faults(path, block, systems)
        else:
            yield from _team_faults(path, block, systems)
        if "clip" in block and "reward" not in block:
            yield line((*path, "clip"), got(block["clip"]), "only with a reward")


def _base_faults(path: KeyPath, block: Config, systems: Config) -> Iterator[str]:
    if "models" not in systems[block["base"]]:
        allowed = ", ".join(name for name, other in systems.items() if "models" in other)
        yield line((*path, "base"), got(block["base"]), f"a system with models: {allowed}")
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
    grid, systems = config["slices"]["grid"], config["systems"]
    listed = listed_systems(config)
    for system in dict.fromkeys(name for name in listed if listed.count(name) > 1):
        yield line(("slices", "grid"), f"{got(system)} twice", "each system in one of systems, ablations and controls")
    for system in grid["sampled"]:
        if system not in listed:
            yield line(("slices", "grid", "sampled"), got(system, listed), ", ".join(listed))
    if not team_runs(config):
        yield line(("slices", "grid", "fewer_seeds"), got(grid.get("fewer_seeds", [])), "what leaves at least one run")
    for system, fixed in FIXED.items():
        block = {key: value for key, value in systems.get(system, fixed).items() if key not in ("models", "teacher")}
        same = (
            system not in systems
            or REFERENCE not in systems
            or models_of(config, system) == models_of(config, REFERENCE)
        )
        if block != fixed or not same:
            yield line(
                ("systems", system),
                got(systems[system]),
                f"the models of {REFERENCE} and {fixed}: tables know its name",
            )
    for system in ("cl_no_training", "cl_no_distillation"):
        if "teacher" in systems.get(system, {}):
            yield line(
                ("systems", system, "teacher"), got(systems[system]["teacher"]), "no teacher: tables know its name"
            )


def slices_size_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each number that does not fit another."""
    for block in ("distill", "refine"):
        batch, micro = (config["slices"][block][key] for key in ("batch_size", "micro_batch_size"))
        if batch % micro:
            yield line(("slices", block, "micro_batch_size"), got(micro), f"a divisor of batch_size = {batch}")
    slots = {f"a{place}" for place in range(1, 1 + max(len(models_of(config, name)) for name in config["systems"]))}
    for role in ("middle_slot", "largest_slot"):
        if config["slices"]["claims"][role] not in slots:
            yield line(("slices", "claims", role), got(config["slices"]["claims"][role]), ", ".join(sorted(slots)))
