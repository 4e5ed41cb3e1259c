"""The rows of the plan: one per item, then all of them together."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dag.jobs import Job
from plan.costs import Cost
from plan.items import ITEMS, Groups, allocations, critical_path, needed, wall_bounds

MEASURED, ESTIMATED, MIXED = "measured", "estimated", "mixed"


class Row(NamedTuple):
    """What an item needs. jobs and done count all of them; new, allocations, hours and GB those that no row above
    needs. Hours are of what is left to run, `gpu_hours_spent` of what is done. The wall time is of the item by itself.
    Each `_from` says where the figures come from: measured, estimated or mixed."""

    item: str
    jobs: int
    done: int
    new: int
    allocations: int
    gpu_hours: float
    gpu_hours_from: str
    gpu_hours_spent: float
    gpu_hours_spent_from: str
    cpu_hours: float
    cpu_hours_from: str
    disk_gb: float
    disk_gb_from: str
    wall_hours_least: float
    wall_hours_most: float
    wall_hours_from: str


def rows(jobs: Sequence[Job], costs: Sequence[Cost], groups: Groups, gpus: int) -> list[Row]:
    """Return a row for each item that the grid has, then the total, in which no job is counted twice."""
    seen: set[int] = set()
    found = []
    for item, files in ITEMS.items():
        places = needed(jobs, files)
        if places:
            found.append(_row(item, jobs, costs, groups, gpus, places, places - seen))
            seen |= places
    every = set(range(len(jobs)))
    return [*found, _row("total", jobs, costs, groups, gpus, every, every)]


def _row(
    item: str, jobs: Sequence[Job], costs: Sequence[Cost], groups: Groups, gpus: int, places: set[int], new: set[int]
) -> Row:
    left, left_new = ({place for place in some if not jobs[place].done} for some in (places, new))
    path = critical_path(jobs, {place: costs[place].wall for place in left})
    least, most = wall_bounds(sum(costs[place].gpu for place in left), path, gpus)
    on_gpus, spent = ({place for place in some if jobs[place].asked[0].gpus} for some in (left_new, new - left_new))
    return Row(
        item=item,
        jobs=len(places),
        done=len(places - left),
        new=len(new),
        allocations=allocations(jobs, left_new, groups),
        gpu_hours=sum(costs[place].gpu for place in on_gpus),
        gpu_hours_from=_source("wall", on_gpus, jobs, costs),
        gpu_hours_spent=sum(costs[place].gpu for place in spent),
        gpu_hours_spent_from=_source("wall", spent, jobs, costs),
        cpu_hours=sum(costs[place].cpu for place in left_new),
        cpu_hours_from=_source("cpu", left_new, jobs, costs),
        disk_gb=sum(costs[place].gb for place in new),
        disk_gb_from=_source("gb", new, jobs, costs),
        wall_hours_least=least,
        wall_hours_most=most,
        wall_hours_from=_source("wall", left, jobs, costs),
    )


def _source(name: str, places: Iterable[int], jobs: Sequence[Job], costs: Sequence[Cost]) -> str:
    """Return where a figure of these jobs comes from; of no jobs it is measured, being 0, and `all` is none."""
    found = {name in costs[place].measured for place in places if jobs[place].files}
    return MIXED if len(found) > 1 else ESTIMATED if False in found else MEASURED
