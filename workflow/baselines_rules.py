"""What must fit together in the blocks of baselines, systems with a `method`: a file of slmcollab/teams."""

from collections.abc import Iterator, Mapping
from typing import Any

from config_rules import KeyPath, got, line, nearest
from grid import Config
from slices_grid import base_of
from slices_names import PROMPTS, prompt_sections, speakers

# Rows of Table 1 that tables, figures and claims know by the name of their method.
ROWS = ("mad", "agentverse", "aflow", "gptswarm", "magrpo", "maporl", "at_grpo")
REFERENCE = "cl"
ANSWERS = {"at_grpo_more_rounds": "at_grpo"}  # and another row that they know: its name -> its base
OWN = ("prompt", "settings", "search", "learning", "per_benchmark")  # keys that only a baseline has
OTHERS = ("actions", "base", "teacher", "reward", "clip")  # and those that it has not
COMPLAINT, SEEN = "complaint", "seen"  # sections beside the kinds: always, and where $seen is shown
BASED = ("base", "settings", "per_benchmark")  # all that a system may have which answers with what another one learned
BLOCKS = {"settings": "SETTINGS", "learning": "LEARNING", "search": "SEARCH"}  # block -> what the file calls its keys
Teams = Mapping[str, Mapping[str, Any]]  # see choice.teams


def baseline_name_faults(config: Config, teams: Teams) -> Iterator[str]:
    """Yield a fault for each name in a baseline's block that nothing has; teams: what the methods say of themselves."""
    for system, block in config["systems"].items():
        path: KeyPath = ("systems", system)
        if "method" in block and block["method"] not in teams:
            yield line((*path, "method"), got(block["method"], teams), ", ".join(sorted(teams)))
        elif "method" in block and "prompt" in block:
            yield from _prompt_faults((*path, "prompt"), block["prompt"], set(teams[block["method"]]["KINDS"]))
        for benchmark in block.get("per_benchmark", {}):
            if benchmark not in config["benchmarks"]:
                allowed = ", ".join(config["benchmarks"])
                yield line((*path, "per_benchmark"), got(benchmark, config["benchmarks"]), allowed)
        for place, blocks in _places(path, block):
            optimiser, known = blocks.get("search", {}).get("optimiser"), speakers(config)
            if optimiser is not None and optimiser not in known:
                yield line((*place, "search", "optimiser"), got(optimiser, known), ", ".join(sorted(known)))


def _places(path: KeyPath, block: Config) -> Iterator[tuple[KeyPath, Config]]:
    """Yield a baseline's block and what it sets apart for benchmarks, each with its place."""
    yield path, block
    for benchmark, apart in block.get("per_benchmark", {}).items():
        yield (*path, "per_benchmark", benchmark), apart


def _prompt_faults(path: KeyPath, prompt: str, kinds: set[str]) -> Iterator[str]:
    needed, known = {COMPLAINT, *kinds}, prompt_sections(PROMPTS)
    shows = "$seen" in (PROMPTS / f"{prompt}.txt").read_text("utf-8", "replace") if prompt in known else False
    missing = sorted((needed | ({SEEN} if shows else set())) - known.get(prompt, needed))
    if prompt not in known:
        fitting = [name for name, there in known.items() if needed <= there]
        yield line(path, got(prompt, known), ", ".join(fitting) or f"a file with {', '.join(sorted(needed))}")
    elif missing:
        yield line(
            path, f"{got(prompt)}, which lacks [{'], ['.join(missing)}]", f"a prompt with {', '.join(sorted(needed))}"
        )


def baseline_faults(config: Config, teams: Teams) -> Iterator[str]:
    """Yield a fault for each block that lacks what its method needs, or has what it does not know."""
    for system, block in config["systems"].items():
        path: KeyPath = ("systems", system)
        method = config["systems"][base_of(config, system)].get("method")
        if "base" in block and method:
            yield from _based_faults(path, block, method, set(teams[method]["SETTINGS"]))
            continue
        if not method:
            for key in [key for key in OWN if key in block and "method" not in block]:
                yield line((*path, key), got(block[key]), "only beside method")
            if "method" in block:
                yield line((*path, "method"), got(block["method"]), "no such key beside base")
            continue
        for key in [key for key in OTHERS if key in block]:
            yield line((*path, key), got(block[key]), "no such key beside method")
        for key in [key for key in ("models", "prompt", "settings") if key not in block]:
            yield line((*path, key), "missing", f"a baseline has {key}")
        yield from _block_faults(path, block, teams[block["method"]], set(config["slices"]["marl"]) - {"lora"})
        yield from _size_faults(path, block, teams[block["method"]], config)
    yield from _row_faults(config)
    if config["slices"]["marl"]["lora"]["dropout"]:
        dropout = config["slices"]["marl"]["lora"]["dropout"]
        yield line(("slices", "marl", "lora", "dropout"), got(dropout), "0: likelihood ratios have to start at 1")


def _based_faults(path: KeyPath, block: Config, method: str, known: set[str]) -> Iterator[str]:
    """Yield faults of a system whose base is a baseline: it answers with what that learned; settings are its own."""
    for place, blocks in _places(path, block):
        for key in sorted(blocks.keys() - set(BASED)):
            yield line((*place, key), got(blocks[key]), f"with a base of method {method} only {', '.join(BASED)}")
        for key in sorted(blocks.get("settings", {}).keys() - known):
            yield line((*place, "settings", key), f"no such key{nearest(key, known)}", ", ".join(sorted(known)))


def _block_faults(path: KeyPath, block: Config, says: Mapping[str, Any], shared: set[str]) -> Iterator[str]:
    """Yield faults of the keys of settings, learning and search, also of what is set apart for a benchmark."""
    for name, file_key in BLOCKS.items():
        keys, more = set(says.get(file_key, ())), shared if name == "learning" else set()
        if (name in block) != (file_key in says) and name != "settings":
            given = "missing" if file_key in says else got(block[name])
            yield line((*path, name), given, f"{name} where the method's file has {file_key}, nowhere else")
            continue
        for key in sorted(keys - block.get(name, dict.fromkeys(keys)).keys()):
            yield line((*path, name, key), "missing", f"{block['method']} has {', '.join(sorted(keys))}")
        for place, blocks in _places(path, block):
            for key in sorted(blocks.get(name, {}).keys() - keys - more):
                yield line(
                    (*place, name, key), f"no such key{nearest(key, keys | more)}", ", ".join(sorted(keys | more))
                )


def _size_faults(path: KeyPath, block: Config, says: Mapping[str, Any], config: Config) -> Iterator[str]:
    """Yield a fault for each number that does not fit another."""
    slots = len(block.get("models", ()))
    if "SLOTS" in says and slots != says["SLOTS"]:
        yield line(
            (*path, "models"), got(block.get("models")), f"{says['SLOTS']} models: {block['method']} is a fixed graph"
        )
    for place, blocks in _places(path, block):
        rates = blocks.get("learning", {}).get("learning_rates")
        if rates is not None and len(rates) != slots:
            yield line((*place, "learning", "learning_rates"), got(rates), f"one for each of {slots} slots")
    for benchmark in config["slices"]["grid"]["benchmarks"]:
        search = {**block.get("search", {}), **block.get("per_benchmark", {}).get(benchmark, {}).get("search", {})}
        there = config["benchmarks"][benchmark].get("num_dev", 0)
        if search.get("dev_questions", 0) > there:
            allowed = f"at most {there}, benchmarks.{benchmark}.num_dev"
            yield line((*path, "search", "dev_questions"), got(search["dev_questions"]), allowed)


def _row_faults(config: Config) -> Iterator[str]:
    systems = config["systems"]
    for system, base in ANSWERS.items():
        if system in systems and systems[system].get("base") != base:
            yield line(("systems", system), got(systems[system]), f"base: {base}: tables know it by this name")
    reference = systems.get(REFERENCE, {}).get("models")
    for system in [name for name in ROWS if name in systems]:
        block = systems[system]
        if block.get("method") != system or (reference and block.get("models") != reference):
            allowed = f"method: {system}, and the models of {REFERENCE}: tables know it by this name"
            yield line(("systems", system), got({key: block.get(key) for key in ("method", "models")}), allowed)
