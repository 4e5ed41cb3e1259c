"""What jobs cost: as it was recorded when they ran, as the same rule's jobs took, or as estimates.yaml says."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from dag.jobs import Job
from slmcollab.artifacts import ArtifactError
from slmcollab.report.resources import read_usage, read_wall

ENOUGH = 3  # recorded jobs of one rule and benchmark, for their median to be taken rather than that of the whole rule
HOUR, GB = 3600, 1e9
LOCAL = "local"  # the estimate of rules that run beside Snakemake and have none of their own
KEYS = {"hours", "seconds", "cpus", "gb", "times", "because"}


class Recorded(NamedTuple):
    """What is known of a job that ran, None where it is not: hours from start to end, hours of CPU, GB of its files."""

    wall: float | None = None
    cpu: float | None = None
    gb: float | None = None


class Cost(NamedTuple):
    """Hours from start to end, of a GPU and of a CPU, GB of files; measured: the names of those that were recorded."""

    wall: float
    gpu: float
    cpu: float
    gb: float
    measured: frozenset[str]


class CostError(ValueError):
    """A job whose cost nobody knows, or an estimate that cannot be read."""


def record(job: Job, folder: Path) -> Recorded:
    """Return what a job left of itself; CPU time is without child processes. Files count once the job is done.

    Raises ArtifactError for a record that is cut or foreign, unless the job is still to be done: it may be writing it.
    """
    try:
        wall = read_wall(folder / job.resources) if job.resources else None
        usage = read_usage(folder / job.log) if job.log else None
    except ArtifactError:
        if job.done:
            raise
        return Recorded()
    size = sum(map(_bytes, (folder / file for file in job.files))) / GB if job.done and job.files else None
    return Recorded(wall / HOUR if wall is not None else None, usage["cpu_s"] / HOUR if usage else None, size)


def _bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def estimate(job: Job, estimates: Mapping[str, Mapping[str, Any]]) -> Recorded:
    """Return the estimate of a job. `times` holds factors of its hours and GB by the value of a wildcard.

    Raises CostError, naming the rule, where there is none or it has a key that is not known.
    """
    block = estimates.get(job.rule, None if job.submitted else estimates.get(LOCAL))
    if block is None:
        raise CostError(f"rule {job.rule} was never measured and has no estimate in workflow/plan/estimates.yaml")
    if unknown := block.keys() - KEYS:
        raise CostError(f"workflow/plan/estimates.yaml: {job.rule} has {sorted(unknown)}; allowed: {sorted(KEYS)}")
    factor = 1.0
    for wildcard, factors in block.get("times", {}).items():
        factor *= factors.get(job.wildcards.get(wildcard), 1.0)
    wall = factor * (block["hours"] if "hours" in block else block["seconds"] / HOUR)
    return Recorded(wall, wall * block.get("cpus", 1), factor * block.get("gb", 0.0))


def costs(jobs: Sequence[Job], recorded: Sequence[Recorded], estimates: Mapping[str, Mapping[str, Any]]) -> list[Cost]:
    """Return the cost of each job: its own, else the median of its rule and benchmark, of its rule, else the estimate.

    Rules that make no files, as `all`, cost nothing. Raises CostError as `estimate`.
    """
    kinds = _kinds(jobs, recorded)
    found = []
    for job, own in zip(jobs, recorded, strict=True):
        if not job.files:
            found.append(Cost(0.0, 0.0, 0.0, 0.0, frozenset()))
            continue
        values = {name: _known(name, getattr(own, name), job, kinds) for name in Recorded._fields}
        measured = frozenset(name for name, value in values.items() if value is not None)
        if len(measured) < len(values):
            guess = estimate(job, estimates)._asdict()
            values = {name: guess[name] if value is None else value for name, value in values.items()}
        found.append(Cost(values["wall"], values["wall"] * job.asked[0].gpus, values["cpu"], values["gb"], measured))
    return found


def over_limit(jobs: Iterable[Job], paid: Iterable[Cost]) -> Counter[str]:
    """Return rule -> how many of its jobs that are left and are submitted take longer than their first attempt may."""
    left = [(job, cost) for job, cost in zip(jobs, paid, strict=True) if job.submitted and not job.done]
    return Counter(job.rule for job, cost in left if 0 < job.asked[0].minutes < 60 * cost.wall)


def untold(jobs: Iterable[Job]) -> dict[str, str]:
    """Return rule -> those of gpu and runtime that only the input of its jobs will tell, and which count as 0 here."""
    found = defaultdict(set)
    for job in jobs:
        if job.submitted and not job.done and (names := job.asked[0].unknown & {"gpu", "runtime"}):
            found[job.rule] |= names
    return {rule: ", ".join(sorted(names)) for rule, names in found.items()}


def _kinds(jobs: Iterable[Job], recorded: Iterable[Recorded]) -> dict[tuple, list[float]]:
    """Return (what, rule) and (what, rule, benchmark) -> all that was recorded of it."""
    kinds = defaultdict(list)
    for job, own in zip(jobs, recorded, strict=True):
        for name, value in own._asdict().items():
            if value is not None:
                kinds[name, job.rule].append(value)
                kinds[name, job.rule, job.wildcards.get("benchmark")].append(value)
    return kinds


def _known(name: str, own: float | None, job: Job, kinds: Mapping[tuple, list[float]]) -> float | None:
    if own is not None:
        return own
    near = kinds.get((name, job.rule, job.wildcards.get("benchmark")), [])
    same = near if len(near) >= ENOUGH else kinds.get((name, job.rule), [])
    return median(same) if same else None
