"""What the jobs of a grid ask SLURM for, where they go, and what they would fetch."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement, cycle, islice, product
from math import comb
from types import SimpleNamespace
from typing import NamedTuple

from snakemake.resources import GroupResources, Resource, Resources

from dag.jobs import AMOUNTS, NAMES, Job
from slmcollab import choice

MOST_MIXES = 2000  # of a group's jobs: a second's work


@dataclass(frozen=True)
class Need:
    """The most that any of a rule's `jobs` asks for; minutes of run time, megabytes of memory; model "" is any GPU.

    turns, unknown, cut: as in dag.jobs.Asked.
    """

    rule: str
    cpus: int
    megabytes: int
    minutes: int
    gpus: int
    model: str
    partition: str
    account: str = ""
    turns: int = 0
    unknown: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()
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
    left = [Need(job.rule, *job.asked[attempt]) for job in jobs if job.submitted and not job.done]
    most = [replace(reduce(_larger, alike), jobs=len(alike)) for alike in _alike(left)]
    return sorted(most, key=lambda need: need.rule)


def _alike(found: Iterable[Need]) -> list[list[Need]]:
    """Return the needs of each rule, partition, account and model."""
    kinds: dict[tuple[str, ...], list[Need]] = {}
    for need in found:
        kinds.setdefault((need.rule, need.partition, need.account, need.model), []).append(need)
    return list(kinds.values())


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
    What is unknown of a member counts as nothing. Of too many choices of members the largest possible is taken.
    """
    members: dict[str, list[Need]] = {}
    for need in alone:
        if group := profile.get("groups", {}).get(need.rule):
            members.setdefault(group, []).append(need)
    most = Resources.from_mapping(profile.get("resources", {}))
    limits = Resources({**most, "_cores": Resource("_cores", profile.get("cores"))})
    found = []
    for group, rules in members.items():
        label = f"group {group}"
        if size := profile.get("group-components", {}).get(group):
            size = min(size, sum(need.jobs for need in rules))
            mixes = _mixes(rules, size)
            if comb(len(rules) + size - 1, size) > MOST_MIXES:
                mixes, label = _largest(rules, size, profile.get("cores")), f"group {group}, at most"
            allocations = [[mix] for mix in mixes]
        else:
            names = dict.fromkeys(need.rule for need in rules)
            of_each = ([need for need in rules if need.rule == name] for name in names)
            allocations = [[[need] for need in mix] for mix in product(*of_each)]
        asked = _alike(_together(label, levels, limits) for levels in allocations)
        found += [reduce(_larger, alike) for alike in asked]
    return found


def _mixes(rules: list[Need], size: int) -> Iterator[tuple[Need, ...]]:
    """Yield every choice of so many of the jobs that there are."""
    for mix in combinations_with_replacement(rules, size):
        if all(number <= need.jobs for need, number in Counter(mix).items()):
            yield mix


def _largest(rules: list[Need], size: int, cores: int | None) -> list[tuple[Need, ...]]:
    """Return choices of so many jobs that together ask for no less than any of the rules' own would, and for more.

    Each amount is the most of any rule, but for what keeps jobs from running side by side: the most in the first, which
    takes the longest, the least in the second, which takes the most memory. The third has a job on all cores.
    """
    kinds = list({(need.partition, need.account, need.model): need for need in rules}.values())
    most = reduce(_larger, rules)
    amounts = {name: getattr(most, name) for name in ("cpus", "megabytes", "minutes", "gpus", "turns")}
    least = amounts | {name: min(getattr(need, name) for need in rules) for name in ("cpus", "gpus", "turns")}
    long, wide = ([replace(need, **of) for need in islice(cycle(kinds), size)] for of in (amounts, least))
    all_cores = replace(wide[0], cpus=min(size * most.cpus, cores or size * most.cpus))
    return [tuple(long), tuple(wide), (all_cores, *wide[1:])]


def _together(name: str, levels: Iterable[Iterable[Need]], limits: Resources) -> Need:
    """Return what an allocation asks for; levels: its jobs, those that wait for others after these."""
    jobs = [[SimpleNamespace(resources=_resources(need), pipe_group=None) for need in level] for level in levels]
    asked = GroupResources.basic_layered(jobs, limits, run_local=False)
    megabytes, minutes, gpus, turns = (asked[resource] for resource in AMOUNTS)
    names = (asked.get(resource, "") for resource in NAMES)
    return Need(name, asked["_cores"], megabytes, minutes, gpus, *names, turns)


def _resources(need: Need) -> dict[str, int | str]:
    amounts = zip(AMOUNTS, (need.megabytes, need.minutes, need.gpus, need.turns), strict=True)
    names = zip(NAMES, (need.model, need.partition, need.account), strict=True)
    return {"_cores": need.cpus, **dict(amounts), **{resource: name for resource, name in names if name}}


def _larger(one: Need, other: Need) -> Need:
    amounts = ("cpus", "megabytes", "minutes", "gpus", "turns")
    most = {name: max(getattr(one, name), getattr(other, name)) for name in amounts}
    return replace(one, **most, unknown=one.unknown | other.unknown, cut=one.cut | other.cut)


def fetched(jobs: Iterable[Job], rules: Iterable[str], wildcard: str) -> list[str]:
    """Return the values of a wildcard in the jobs of these rules that are left."""
    return sorted({job.wildcards[wildcard] for job in jobs if job.rule in rules and not job.done})


def sandboxes(jobs: Iterable[Job], benchmarks: Mapping[str, Mapping]) -> list[dict[str, object]]:
    """Return, each once, how the grid's scorers shut in the programs that they run: unsafe, toolchains, image.

    benchmarks: the config's blocks. {} is a scorer's own choice; nothing comes back where no answer is a program.
    """
    names = sorted({job.wildcards["benchmark"] for job in jobs if job.submitted and "benchmark" in job.wildcards})
    blocks = [benchmarks[name].get("scoring", {}) for name in names if _runs_programs(benchmarks[name]["scorer"])]
    found = [{key: block[key] for key in ("unsafe", "toolchains", "image") if key in block} for block in blocks]
    return [block for place, block in enumerate(found) if block not in found[:place]]


def _runs_programs(scorer: str) -> bool:
    return getattr(choice.get(choice.SCORER, scorer), "RUNS_PROGRAMS", False)
