"""What the workflow's jobs ask SLURM for, and what it would fetch, from the output of a dry run."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

# In a group of jobs every line stands four spaces further in.
BLOCK = re.compile(r"^(?P<in> *)(localrule|rule) (\w+):\n((?:(?P=in) +.*\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Need:
    """The most that any job of a rule asks for; minutes of run time, megabytes of memory; model "" is any GPU."""

    rule: str
    cpus: int
    megabytes: int
    minutes: int
    gpus: int
    model: str
    partition: str

    def __str__(self) -> str:
        gpu = f", {self.gpus} GPU {self.model}".rstrip() if self.gpus else ""
        return f"{self.rule}: {self.cpus} CPUs, {self.megabytes / 1000:.0f} GB, {self.minutes / 60:.1f} h{gpu}"


def needs(dry_run: str) -> list[Need]:
    """Return, per rule and partition, the most that its jobs ask for; rules that run on the login node are left out."""
    most: dict[tuple[str, str, str], Need] = {}
    for _, where, rule, block in BLOCK.findall(dry_run):
        if where == "rule" and (resources := re.search(r"^ +resources: (.*)$", block, re.MULTILINE)):
            asked = dict(item.split("=", 1) for item in resources[1].split(", ") if "=" in item)
            threads = re.search(r"^ +threads: (\d+)$", block, re.MULTILINE)
            need = Need(
                rule,
                int(threads[1]) if threads else 1,
                int(asked.get("mem_mb", 0)),
                int(asked.get("runtime", 0)),
                int(asked.get("gpu", 0)),
                asked.get("gpu_model", ""),
                asked.get("slurm_partition", ""),
            )
            key = (rule, need.partition, need.model)
            most[key] = _larger(most[key], need) if key in most else need
    return sorted(most.values(), key=lambda need: need.rule)


def grouped(alone: Iterable[Need], groups: Mapping[str, str], sizes: Mapping[str, int]) -> list[Need]:
    """Return what a whole group of jobs asks for at most: its members' run times add up, one running after the other.

    groups: rule -> its group; sizes: group -> how many jobs it joins; without a size it joins one job of each rule.
    """
    members: dict[str, list[Need]] = {}
    for need in alone:
        if need.rule in groups:
            members.setdefault(groups[need.rule], []).append(need)
    found = []
    for group, all_of_it in members.items():
        times = [need.minutes for need in all_of_it]
        most = reduce(_larger, all_of_it)
        minutes = sizes[group] * max(times) if group in sizes else sum(times)
        found.append(replace(most, rule=f"group {group}", minutes=minutes))
    return found


def _larger(one: Need, other: Need) -> Need:
    amounts = ("cpus", "megabytes", "minutes", "gpus")
    larger = {name: max(getattr(one, name), getattr(other, name)) for name in amounts}
    return Need(rule=one.rule, model=one.model, partition=one.partition, **larger)


def fetched(dry_run: str, rules: Iterable[str], wildcard: str) -> list[str]:
    """Return the values of a wildcard in the jobs of these rules."""
    blocks = [block for _, _, rule, block in BLOCK.findall(dry_run) if rule in rules]
    found = (re.search(rf"^ +wildcards: .*\b{wildcard}=([^,\n]+)", block, re.MULTILINE) for block in blocks)
    return sorted(match[1] for match in found if match)
