"""What the workflow's jobs ask SLURM for, and what it would fetch, from the output of a dry run."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement
from types import SimpleNamespace

from snakemake.resources import GroupResources, Resources

# In a group of jobs every line stands four spaces further in.
BLOCK = re.compile(r"^(?P<in> *)(localrule|rule) (\w+):\n((?:(?P=in) +.*\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Need:
    """The most that any of a rule's `jobs` asks for; minutes of run time, megabytes of memory; model "" is any GPU."""

    rule: str
    cpus: int
    megabytes: int
    minutes: int
    gpus: int
    model: str
    partition: str
    jobs: int = 1

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
            known = most.get(key)
            most[key] = replace(_larger(known, need), jobs=known.jobs + 1) if known else need
    return sorted(most.values(), key=lambda need: need.rule)


def grouped(alone: Iterable[Need], profile: Mapping[str, object]) -> list[Need]:
    """Return the most that an allocation of each of the profile's groups asks for, as Snakemake adds up its members.

    Members run side by side as far as the profile's cores and GPUs allow. A group with a size (group-components) joins
    so many jobs, none of which waits for another; one without joins one job of each rule, one after the other.
    """
    members: dict[str, list[Need]] = {}
    for need in alone:
        if group := profile.get("groups", {}).get(need.rule):
            members.setdefault(group, []).append(need)
    limits = Resources.from_mapping({**profile.get("resources", {}), "_cores": profile.get("cores")})
    found = []
    for group, rules in members.items():
        if size := profile.get("group-components", {}).get(group):
            allocations = [[mix] for mix in _mixes(rules, min(size, sum(need.jobs for need in rules)))]
        else:
            allocations = [[[need] for need in rules]]
        found.append(reduce(_larger, (_together(f"group {group}", levels, limits) for levels in allocations)))
    return found


def _mixes(rules: list[Need], size: int) -> Iterator[tuple[Need, ...]]:
    """Yield every choice of so many of the jobs that there are."""
    for mix in combinations_with_replacement(rules, size):
        if all(number <= need.jobs for need, number in Counter(mix).items()):
            yield mix


def _together(name: str, levels: Iterable[Iterable[Need]], limits: Resources) -> Need:
    """Return what an allocation asks for; levels: its jobs, those that wait for others after these."""
    jobs = [[SimpleNamespace(resources=_resources(need), pipe_group=None) for need in level] for level in levels]
    asked = GroupResources.basic_layered(jobs, limits, run_local=False)
    numbers = (asked[resource] for resource in ("_cores", "mem_mb", "runtime", "gpu"))
    return Need(name, *numbers, asked.get("gpu_model", ""), asked.get("slurm_partition", ""))


def _resources(need: Need) -> dict[str, int | str]:
    amounts = {"_cores": need.cpus, "mem_mb": need.megabytes, "runtime": need.minutes, "gpu": need.gpus}
    names = {"gpu_model": need.model, "slurm_partition": need.partition}
    return amounts | {resource: name for resource, name in names.items() if name}


def _larger(one: Need, other: Need) -> Need:
    amounts = ("cpus", "megabytes", "minutes", "gpus")
    return replace(one, **{name: max(getattr(one, name), getattr(other, name)) for name in amounts})


def fetched(dry_run: str, rules: Iterable[str], wildcard: str) -> list[str]:
    """Return the values of a wildcard in the jobs of these rules."""
    blocks = [block for _, _, rule, block in BLOCK.findall(dry_run) if rule in rules]
    found = (re.search(rf"^ +wildcards: .*\b{wildcard}=([^,\n]+)", block, re.MULTILINE) for block in blocks)
    return sorted(match[1] for match in found if match)
