"""The names in the blocks `slices:` and `systems:` of a config, and what has them. Standard library only."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from config_rules import KeyPath, got, line
from grid import Config

PROMPTS = Path(__file__).with_name("prompts")
HEADER = re.compile(r"^\[([a-z_]+)\]\s*$", re.MULTILINE)
TOLD = {"user", "history", "step"}
# Where a prompt file is named -> the sections that it needs, and those that only prompts of another kind have.
PROMPT_KINDS: dict[tuple[str, str], tuple[set[str], set[str]]] = {
    ("protocol", "prompt"): ({*TOLD, "complaint", "handoff"}, {"gold", "broken"}),
    ("protocol", "solo_prompt"): ({"user", "complaint"}, {"history", "gold"}),
    ("evaluator", "prompt"): ({*TOLD, "gold", "broken", "terminated", "step_limit", "anomalies"}, {"handoff"}),
}
PLAYED = ("musique", "gsm_hard", "math", "multipl_e", "conifer")


def slices_name_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each name that nothing has, or nothing of the kind that is wanted there."""
    for path, names, known in _uses(config):
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            if name not in known:
                yield line(path, got(name, known), ", ".join(sorted(known)))


def _uses(config: Config) -> Iterator[tuple[KeyPath, Any, Iterable[str]]]:
    slices, systems, speaking = config["slices"], config["systems"], speakers(config)
    for kind in ("systems", "ablations", "controls", "sampled"):
        yield ("slices", "grid", kind), slices["grid"][kind], systems
    with_slices = [name for name, block in config["benchmarks"].items() if "slices" in block]
    playable = [name for name in with_slices if "num_dev" in config["benchmarks"][name]]
    yield ("slices", "grid", "benchmarks"), slices["grid"]["benchmarks"], playable
    for index, entry in enumerate(slices["grid"].get("fewer_seeds", [])):
        yield ("slices", "grid", "fewer_seeds", index, "systems"), entry.get("systems", []), systems
        yield ("slices", "grid", "fewer_seeds", index, "benchmarks"), entry.get("benchmarks", []), config["benchmarks"]
    yield ("slices", "evaluator", "model"), slices["evaluator"]["model"], speaking
    for benchmark in PLAYED:
        yield ("slices", "claims", benchmark), slices["claims"][benchmark] or [], with_slices
    for block, key in PROMPT_KINDS:
        yield ("slices", block, key), slices[block][key], prompts(block, key)
    for system, block in systems.items():
        yield ("systems", system, "models"), block.get("models", []), speaking
        for key in ("base", "teacher"):
            yield ("systems", system, key), block.get(key, []), systems


def speakers(config: Config) -> list[str]:
    """Return the models that may speak: all but the router's encoder from the hub, which writes no text."""
    encoder = config["router"]["encoder"]
    return [name for name, block in config["models"].items() if name != encoder or block["source"] != "hub"]


def prompts(block: str, key: str, folder: Path = PROMPTS) -> list[str]:
    """Return the prompt files, without their ending, of the kind that slices.<block>.<key> names, by their sections."""
    needed, foreign = PROMPT_KINDS[block, key]
    return [name for name, there in prompt_sections(folder).items() if needed <= there and not foreign & there]


def prompt_sections(folder: Path) -> dict[str, set[str]]:
    """Return prompt file, without its ending -> its sections."""
    files = sorted(folder.glob("*.txt"))
    return {file.stem: set(HEADER.findall(file.read_text("utf-8", "replace"))) for file in files}
