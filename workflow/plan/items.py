"""Which jobs each item of the papers needs, how many allocations they take, and how long they take on k GPUs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dag.jobs import Job

# In the order of the first table of the README. An item that the config leaves out has no files in the grid.
ITEMS = {
    "musketeers: Table 1": ["results/musketeers/table1.tex"],
    "slices: Table 1": ["results/slices/table1.tex"],
    "both papers: Table 1": ["results/table1.csv"],
    "musketeers: Table 2": ["results/musketeers/table2.tex"],
    "musketeers: Figure 4": ["results/musketeers/figure4.pdf"],
    "musketeers: Figure 6a": ["results/musketeers/figure6a.pdf"],
    "musketeers: Figure 6b": ["results/musketeers/figure6b.pdf"],
    "musketeers: claims": ["results/musketeers/claims.csv"],
    "musketeers: experts alone": ["results/musketeers/table_experts.csv", "results/musketeers/table_probe.csv"],
    "slices: Figure 3": ["results/slices/figure3.pdf"],
    "slices: Figure 4": ["results/slices/figure4.pdf"],
    "slices: Figure 5": ["results/slices/figure5.pdf"],
    "slices: claims": ["results/slices/claims.csv"],
    "slices: roles, retention, overlap, funnel, budgets": [
        f"results/slices/table_{kind}.csv" for kind in ("roles", "retention", "overlap", "funnel", "budgets")
    ],
    "time and memory": ["results/table_resources.csv"],
    "record of the run": ["results/ro-crate-metadata.json"],
}


class Groups(NamedTuple):
    """group: rule -> the group that its jobs are submitted in; sizes: group -> how many of them share an allocation."""

    group: dict[str, str]
    sizes: dict[str, int]


def needed(jobs: Sequence[Job], files: Iterable[str]) -> set[int]:
    """Return the places of all jobs that these files need; none for a file that no job makes."""
    maker = {file: place for place, job in enumerate(jobs) for file in job.files}
    found: set[int] = set()
    waiting = [maker[file] for file in files if file in maker]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += jobs[place].needs
    return found


def allocations(jobs: Sequence[Job], places: Iterable[int], groups: Groups) -> int:
    """Return how many times these jobs are submitted to SLURM: jobs that need each other and are of one group are
    one submission, and so are as many of these as the group's size says. Local jobs are none."""
    submitted = {place for place in places if jobs[place].submitted}
    joined = {place: place for place in submitted}

    def first(place: int) -> int:
        while joined[place] != place:
            place = joined[place]
        return place

    group = {place: groups.group.get(jobs[place].rule) for place in submitted}
    for place in submitted:
        for other in jobs[place].needs & submitted:
            if group[place] and group[place] == group[other]:
                joined[first(place)] = first(other)
    parts = Counter(group[place] for place in submitted if first(place) == place)
    return sum(-(-number // (groups.sizes.get(name, 1) if name else 1)) for name, number in parts.items())


def critical_path(jobs: Sequence[Job], hours: Mapping[int, float]) -> float:
    """Return the hours of the longest chain among the jobs that `hours` names, each after those that it needs."""
    ends: dict[int, float] = {}
    waiting = list(hours)
    while waiting:
        place = waiting[-1]
        before = [other for other in jobs[place].needs if other in hours]
        if left := [other for other in before if other not in ends]:
            waiting += left
            continue
        ends[place] = hours[place] + max((ends[other] for other in before), default=0.0)
        waiting.pop()
    return max(ends.values(), default=0.0)


def wall_bounds(work: float, path: float, gpus: int) -> tuple[float, float]:
    """Return the least and the most hours on `gpus` GPUs that are never idle while a job waits.

    work: GPU-hours; path: hours of the longest chain. Not below work / gpus nor the path, and not above their sum if
    CPUs are not short and no job waits for another of its group: at any time all GPUs are busy or the longest chain of
    what is left gets shorter.
    """
    return max(work / gpus, path), work / gpus + path
