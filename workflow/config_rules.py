"""What must fit together in a config whose values are right one by one: names, teams, batches, heads."""

import json
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from grid import BASE, NO_TEAM, TRAINED_HERE, Config, listed_methods, reads_experts, runs, teams_of, uses
from results_grid import variants

KeyPath = tuple[str | int, ...]
BATCHES = {"prompts_per_step", "group_size", "completions_per_device"}
# Methods that tables and claims know by their names, and what these mean.
FIXED: dict[str, Config] = {
    "single": {"operator": "none"},
    "prefix": {"operator": "prefix"},
    BASE: {"operator": BASE},
    "hidden_state_shuffled": {"operator": BASE, "shuffled": True},
}
HEADS = {"latent_dim", "num_heads"}
# Loaders of the toy benchmarks whose problems say which facts they need: what toy members learn and the oracle judges.
TAUGHT = {"toy_musique", "toy_gsm_hard", "toy_math", "toy_multipl_e", "toy_conifer"}


def line(path: KeyPath, given: str, allowed: str) -> str:
    """Return one fault as a line: `grid.seeds[1]: got -3; allowed: …`."""
    keys = "".join(f"[{key}]" if isinstance(key, int) else f".{key[:80]}" for key in path).removeprefix(".")
    return f"{keys or 'config'}: {given}; allowed: {allowed}"


def got(value: Any, names: Iterable[str] = ()) -> str:
    """Return `got <value>`, shortened, and the nearest of `names`, if one is near."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):  # no JSON, 5000 digits, endless
        text = f"something of type {type(value).__name__}"
    near = nearest(value, names) if isinstance(value, str) else ""
    return f"got {text if len(text) <= 60 else text[:57] + '...'}{near}"


def nearest(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name[:80], names, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def name_faults(config: Config, modules: dict[str, set[str]]) -> Iterator[str]:
    """Yield a fault for each name that nothing has; modules: the known operators, loaders and scorers."""
    for path, names, known in _uses(config, modules):
        for name in [names] if isinstance(names, str) else names:
            if name not in known:
                yield line(path, got(name, known), ", ".join(sorted(known)))


def _uses(config: Config, modules: dict[str, set[str]]) -> Iterator[tuple[KeyPath, Any, Iterable[str]]]:
    """Yield the place of each name or list of names in the config, and the names that are known there."""
    models, teams, corpora = config["models"], config["teams"], config.get("corpora", {})
    yield ("policy", "model"), config["policy"]["model"], models
    yield ("router", "encoder"), config["router"]["encoder"], models
    for kind in ("benchmarks", "methods", "teams"):
        yield ("grid", kind), config["grid"][kind], config[kind]
        for index, entry in enumerate(config["grid"].get("fewer_seeds", [])):
            known = [*config[kind], NO_TEAM] if kind == "teams" else config[kind]
            yield ("grid", "fewer_seeds", index, kind), entry.get(kind, []), known
    yield ("grid", "ablations"), config["grid"].get("ablations", []), config["methods"]
    for team, experts in teams.items():
        yield ("teams", team), experts, models
    for method, block in config["methods"].items():
        yield ("methods", method, "operator"), block["operator"], modules["operator"]
        yield ("methods", method, "teams"), block.get("teams", []), teams
        yield ("methods", method, "benchmarks"), block.get("benchmarks", []), config["benchmarks"]
        yield ("methods", method, "encoder"), block.get("encoder", []), models
    for benchmark, block in config["benchmarks"].items():
        yield ("benchmarks", benchmark, "loader"), block["loader"], modules["loader"]
        yield ("benchmarks", benchmark, "scorer"), block["scorer"], modules["scorer"]
    for model, block in config["models"].items():
        yield ("models", model, "corpora"), block.get("corpora", []), corpora
        taught = [name for name, other in config["benchmarks"].items() if other["loader"] in TAUGHT]
        yield ("models", model, "lessons", "benchmarks"), block.get("lessons", {}).get("benchmarks", []), taught
    for role, names in config["claims"].items():
        known = {"team": teams}.get(role, models if role.endswith("_expert") else config["benchmarks"])
        yield ("claims", role), [] if names is None else names, known


def team_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each method that needs a team and has none, or sets what its operator does not use."""
    for method, block in config["methods"].items():
        path, operator = ("methods", method), block["operator"]
        used = {"operator", "benchmarks", *(key for name in uses(operator) for key in config[name])}
        used |= {"teams"} if reads_experts(operator) else set()
        used |= {"shuffled"} if "features" in uses(operator) else set()
        for key in sorted(block.keys() - used):
            yield line((*path, key), got(block[key]), f"no such key where the operator is {operator}")
        if method in listed_methods(config) and not teams_of(config, method):
            known = ", ".join(config["grid"]["teams"]) or "none there"
            teams = block.get("teams", config["grid"]["teams"])
            yield line((*path, "teams"), got(teams), f"at least one of grid.teams: {known}")


def grid_faults(config: Config) -> Iterator[str]:
    """Yield a fault for a grid of no run, a method that is not what its name says, an ablation that nothing shows."""
    grid = config["grid"]
    if not runs(config):
        yield line(("grid", "fewer_seeds"), got(grid.get("fewer_seeds", [])), "what leaves at least one run")
    for method, fixed in FIXED.items():
        block = config["methods"].get(method, fixed)
        if {key: value for key, value in block.items() if key not in ("teams", "benchmarks")} != fixed:
            allowed = f"{json.dumps(fixed)}, teams and benchmarks: tables and claims know it by this name"
            yield line(("methods", method), got(block), allowed)
    shown = {method for key in ("pooling", "m") for method in variants(config, key).values()}
    for method in grid.get("ablations", []):
        if method in grid["methods"] or method not in shown:
            yield line(
                ("grid", "ablations"), got(method), f"methods that differ from {BASE} in pooling or m alone, once"
            )
    for index, entry in enumerate(grid.get("fewer_seeds", [])):
        if entry["seeds"] and not set(entry["seeds"]) & set(grid["seeds"]):
            allowed = f"[] or some of grid.seeds: {', '.join(map(str, grid['seeds']))}"
            yield line(("grid", "fewer_seeds", index, "seeds"), got(entry["seeds"]), allowed)


def size_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each number that does not fit another, and for a policy of a kind that cannot be one."""
    yield from _batch_faults(("grpo",), config["grpo"])
    yield from _head_faults(("adapter",), config["adapter"])
    for method, block in config["methods"].items():
        if HEADS & block.keys():
            yield from _head_faults(("methods", method), {**config["adapter"], **block})
    for benchmark, block in config["benchmarks"].items():
        if BATCHES & block.get("grpo", {}).keys():
            yield from _batch_faults(("benchmarks", benchmark, "grpo"), {**config["grpo"], **block["grpo"]})
        for split in ("num_train", "num_test"):
            if block[split] == 0 and benchmark in config["grid"]["benchmarks"]:
                yield line(("benchmarks", benchmark, split), got(0), "at least 1 for a benchmark of the grid")
        if block["num_train"] + block["num_test"] == 0:
            yield line(("benchmarks", benchmark, "num_train"), got(0), "num_train + num_test above 0")
    for model, block in config["models"].items():
        if block["source"] in TRAINED_HERE:
            yield from _toy_faults(("models", model, "architecture"), block["architecture"])
            if model == config["policy"]["model"] and block["architecture"]["type"] == "gpt2":
                yield line(("policy", "model"), got(model), "a model with rotary positions, so not gpt2")


def _batch_faults(path: KeyPath, grpo: Config) -> Iterator[str]:
    """Yield a fault where the completions of one update are no whole number of device batches, as TRL wants them."""
    prompts, group, batch = (grpo[key] for key in ("prompts_per_step", "group_size", "completions_per_device"))
    if prompts * group % batch:
        allowed = f"a divisor of prompts_per_step x group_size = {prompts} x {group} = {prompts * group}"
        yield line((*path, "completions_per_device"), got(batch), allowed)


def _head_faults(path: KeyPath, adapter: Config) -> Iterator[str]:
    width, heads = adapter["latent_dim"], adapter["num_heads"]
    if width % heads:
        yield line((*path, "latent_dim"), got(width), f"a multiple of num_heads = {heads}")


def _toy_faults(path: KeyPath, architecture: Config) -> Iterator[str]:
    """Yield a fault where a head is no whole number of columns; rotary positions turn pairs of them."""
    size, heads = architecture["hidden_size"], architecture["num_heads"]
    if architecture["type"] == "gpt2" and size % heads:
        yield line((*path, "hidden_size"), got(size), f"a multiple of num_heads = {heads}")
    if architecture["type"] != "gpt2" and size % (2 * heads):
        yield line((*path, "hidden_size"), got(size), f"a multiple of 2 x num_heads = 2 x {heads}")
