"""What the jobs of a grid ask SLURM for, where they go, and what they would fetch."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement
from types import SimpleNamespace
from typing import NamedTuple

from snakemake.resources import GroupResources, Resource, Resources

from dag.jobs import NAMES, Job


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
    account: str = ""
    jobs: int = 1


class Place(NamedTuple):
    """Where jobs are sent: partition and account, "" for the site's own choice.

    models: the kinds of GPU that they ask for there, "" for any; none where no job wants a GPU.
    """

    partition: str
    account: str
    models: frozenset[str]


def needs(jobs: Iterable[Job], attempt: int) -> list[Need]:
    """Return, per rule, partition, account and model, the most that any of its jobs that are left asks for.

    attempt: which of the attempts that were planned, -1 for the last. Rules that run on the login node are left out.
    """
    most: dict[tuple[str, ...], Need] = {}
    for job in jobs:
        if job.submitted and not job.done:
            need = Need(job.rule, *job.asked[attempt])
            key = (need.rule, need.partition, need.account, need.model)
            known = most.get(key)
            most[key] = replace(_larger(known, need), jobs=known.jobs + 1) if known else need
    return sorted(most.values(), key=lambda need: need.rule)


def places(jobs: Iterable[Job]) -> list[Place]:
    """Return where the jobs of a grid go, those that are done too."""
    models: dict[tuple[str, str], set[str]] = {}
    for asked in {asked for job in jobs if job.submitted for asked in job.asked}:
        here = models.setdefault((asked.partition, asked.account), set())
        here.update([asked.model] if asked.gpus else [])
    return [Place(*key, frozenset(names)) for key, names in sorted(models.items())]


def grouped(alone: Iterable[Need], profile: Mapping[str, object]) -> list[Need]:
    """Return the most that an allocation of each of the profile's groups asks for, as Snakemake adds up its members.

    Members run side by side as far as the profile's cores, GPUs and turns allow. A group with a size (group-components)
    joins so many jobs, none of which waits for another; one without joins one job of each rule, one after the other.
    """
    members: dict[str, list[Need]] = {}
    for need in alone:
        if group := profile.get("groups", {}).get(need.rule):
            members.setdefault(group, []).append(need)
    most = Resources.from_mapping(profile.get("resources", {}))
    limits = Resources({**most, "_cores": Resource("_cores", profile.get("cores"))})
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
    return Need(name, *numbers, *(asked.get(resource, "") for resource in NAMES))


def _resources(need: Need) -> dict[str, int | str]:
    amounts = {"_cores": need.cpus, "mem_mb": need.megabytes, "runtime": need.minutes, "gpu": need.gpus, "turn": 1}
    names = zip(NAMES, (need.model, need.partition, need.account), strict=True)
    return amounts | {resource: name for resource, name in names if name}


def _larger(one: Need, other: Need) -> Need:
    amounts = ("cpus", "megabytes", "minutes", "gpus")
    return replace(one, **{name: max(getattr(one, name), getattr(other, name)) for name in amounts})


def fetched(jobs: Iterable[Job], rules: Iterable[str], wildcard: str) -> list[str]:
    """Return the values of a wildcard in the jobs of these rules that are left."""
    return sorted({job.wildcards[wildcard] for job in jobs if job.rule in rules and not job.done})


def sandboxes(jobs: Iterable[Job], benchmarks: Mapping[str, Mapping]) -> list[dict[str, object]]:
    """Return, each once, how programs of the grid's benchmarks are to be shut in: unsafe, toolchains, image.

    benchmarks: the config's blocks. Where none has options of its own: one without any, the scorers' own choice.
    """
    names = sorted({job.wildcards["benchmark"] for job in jobs if job.submitted and "benchmark" in job.wildcards})
    blocks = [benchmarks.get(name, {}).get("scoring") for name in names]
    found = [
        {key: block[key] for key in ("unsafe", "toolchains", "image") if key in block} for block in blocks if block
    ]
    return [block for place, block in enumerate(found) if block not in found[:place]] or [{}]
