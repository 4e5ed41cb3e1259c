"""What must fit together in the blocks of baselines, systems with a `method`: a file of slmcollab/teams."""

from collections.abc import Iterator, Mapping
from typing import Any

from config_rules import KeyPath, got, line
from grid import Config
from slices_names import PROMPTS, prompt_sections, speakers

# Rows of Table 1 that tables, figures and claims know by the name of their method.
ROWS = ("mad", "agentverse", "aflow", "gptswarm", "magrpo", "maporl", "at_grpo")
REFERENCE = "cl"
OWN = ("prompt", "settings", "search", "learning", "per_benchmark")  # keys that only a baseline has
OTHERS = ("actions", "base", "teacher", "reward", "clip")  # and those that it has not
SHOWN = {"seen", "complaint"}  # sections of every method's prompt beside its own kinds
Teams = Mapping[str, Mapping[str, Any]]  # see choice.teams


def baseline_name_faults(config: Config, teams: Teams) -> Iterator[str]:
    """Yield a fault for each name in a baseline's block that nothing has; teams: what the methods say of themselves."""
    for system, block in config["systems"].items():
        path: KeyPath = ("systems", system)
        if "method" not in block:
            continue
        if block["method"] not in teams:
            yield line((*path, "method"), got(block["method"], teams), ", ".join(sorted(teams)))
        elif "prompt" in block:
            needed = SHOWN | set(teams[block["method"]]["KINDS"])
            fitting = [name for name, there in prompt_sections(PROMPTS).items() if needed <= there]
            if block["prompt"] not in fitting:
                yield line((*path, "prompt"), got(block["prompt"], fitting), ", ".join(fitting))
        optimiser, known = block.get("search", {}).get("optimiser"), speakers(config)
        if optimiser is not None and optimiser not in known:
            yield line((*path, "search", "optimiser"), got(optimiser, known), ", ".join(sorted(known)))
        for benchmark in block.get("per_benchmark", {}):
            if benchmark not in config["benchmarks"]:
                allowed = ", ".join(config["benchmarks"])
                yield line((*path, "per_benchmark"), got(benchmark, config["benchmarks"]), allowed)


def baseline_faults(config: Config, teams: Teams) -> Iterator[str]:
    """Yield a fault for each block that lacks what its method needs, or has what it does not know."""
    for system, block in config["systems"].items():
        path: KeyPath = ("systems", system)
        if "method" not in block:
            for key in [key for key in OWN if key in block]:
                yield line((*path, key), got(block[key]), "only beside method")
            continue
        for key in [key for key in OTHERS if key in block]:
            yield line((*path, key), got(block[key]), "no such key beside method")
        for key in [key for key in ("models", "prompt", "settings") if key not in block]:
            yield line((*path, key), "missing", f"a baseline has {key}")
        yield from _block_faults(path, block, teams[block["method"]], config["slices"]["marl"].keys())
    yield from _row_faults(config)


def _block_faults(path: KeyPath, block: Config, says: Mapping[str, Any], shared: Any) -> Iterator[str]:
    """Yield faults of settings and learning, the method's own keys, and of what is set apart for a benchmark."""
    known = {"settings": set(says["SETTINGS"]), "learning": set(says.get("LEARNING", ()))}
    if ("learning" in block) != ("LEARNING" in says):
        yield line((*path, "learning"), "missing" if "LEARNING" in says else "there", "only for a method that learns")
    for name, keys in known.items():
        there = set(block.get(name, keys))
        for key in sorted(keys - there):
            yield line((*path, name, key), "missing", f"{block['method']} has {', '.join(sorted(keys))}")
        for key in sorted(there - keys - (set(shared) if name == "learning" else set())):
            yield line((*path, name, key), got(block[name][key]), ", ".join(sorted(keys)))
    rates, slots = block.get("learning", {}).get("learning_rates"), len(block.get("models", ()))
    if rates is not None and len(rates) != slots:
        yield line((*path, "learning", "learning_rates"), got(rates), f"one for each of {slots} slots")
    for benchmark, apart in block.get("per_benchmark", {}).items():
        for name, values in apart.items():
            allowed = set(block.get(name, {})) | (set(shared) if name == "learning" and "learning" in block else set())
            for key in sorted(set(values) - allowed):
                place = (*path, "per_benchmark", benchmark, name, key)
                yield line(place, got(values[key]), ", ".join(sorted(allowed)) or "nothing")


def _row_faults(config: Config) -> Iterator[str]:
    systems = config["systems"]
    reference = systems.get(REFERENCE, {}).get("models")
    for system in [name for name in ROWS if name in systems]:
        block = systems[system]
        if block.get("method") != system or (reference and block.get("models") != reference):
            allowed = f"method: {system}, and the models of {REFERENCE}: tables know it by this name"
            yield line(("systems", system), got({key: block.get(key) for key in ("method", "models")}), allowed)
