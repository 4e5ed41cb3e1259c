"""What the jobs of each rule cost: wall time from Snakemake's `benchmark:` files, all else from the jobs' own logs."""

import csv
import io
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import format_number
from slmcollab.usage import MACHINE, MARK

USED = ("cpu_s", "max_rss_mb", "gpu_mb")
ON = ("cpu", "cpus", "memory_mb", "gpus", "platform", "python")
NUMBERS = ("wall_s_median", "wall_s_max", "cpu_s_median", "cpu_s_max", "max_rss_mb", "max_gpu_mb")
COLUMNS = ("rule", "jobs", "without_file", "without_usage", *NUMBERS)


class Job(NamedTuple):
    """What is known of a job: wall_s and usage (USED) are None where the file or the line that said it is gone."""

    rule: str
    wall_s: float | None
    usage: dict[str, float | None] | None


def read_job(rule: str, name: str, resources: str, log: str) -> Job:
    """Return what is known of a job; resources and log: the paths of its files, with {rule} and {job}."""
    place = {"rule": rule, "job": name}
    return Job(rule, read_wall(Path(resources.format(**place))), read_usage(Path(log.format(**place))))


def read_wall(path: Path) -> float | None:
    """Return the wall seconds of the one job in a file of `benchmark:`, None where there is no such file.

    The file's CPU time and memory are not read: Snakemake takes them every half minute only, and never at the end.
    Raises ArtifactError for a file that is cut or of another form.
    """
    if not Path(path).exists():
        return None
    text = Path(path).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    if len(rows) != 1 or not text.endswith("\n"):
        raise ArtifactError(f"{path}: {len(rows)} jobs, or cut in its last line; expected one whole row")
    try:
        seconds = float(rows[0]["s"])
    except (KeyError, TypeError, ValueError) as error:
        raise ArtifactError(f"{path}: its wall time `s` is missing or no number") from error
    return _checked(path, "s", seconds)


def read_usage(path: Path) -> dict[str, float | None] | None:
    """Return what the last line of `report_usage` in a log says; None where the log or such a line is missing.

    Raises ArtifactError for a line that is cut or of another form.
    """
    usage = _last(path, MARK, USED)
    return None if usage is None else {name: _checked(path, name, usage[name]) for name in USED}


def read_machine(path: Path) -> dict[str, Any] | None:
    """Return what the last line of `report_usage` in a log says of the machine; None where log or line is missing.

    Raises ArtifactError for a line that is cut or of another form.
    """
    return _last(path, MACHINE, ON)


def _last(path: Path, mark: str, keys: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the JSON behind the last `mark` of a log; anywhere in a line: a progress bar may have left it open."""
    text = Path(path).read_text("utf-8", errors="replace") if Path(path).exists() else ""
    found = re.findall(rf"{re.escape(mark)}(\{{.*)$", text, re.MULTILINE)
    if not found:
        return None
    try:
        told = json.loads(found[-1])
    except ValueError as error:
        raise ArtifactError(f"{path}: {mark}{found[-1]} is no JSON") from error
    if told.keys() != set(keys):
        raise ArtifactError(f"{path}: its {mark.partition(':')[0]} has {sorted(told)}, not {sorted(keys)}")
    return told


def resource_rows(jobs: Iterable[Job]) -> list[dict[str, str]]:
    """Return one printed row a rule, in the order in which the rules first occur.

    jobs: all of them; without_file: those without a wall time; without_usage: those without CPU time and memory. The
    numbers are of what is left, empty where nothing is. Memory (MiB) is the highest of all jobs.
    """
    rules: dict[str, list[Job]] = {}
    for job in jobs:
        rules.setdefault(job.rule, []).append(job)
    rows = []
    for rule, found in rules.items():
        wall = [job.wall_s for job in found if job.wall_s is not None]
        usages = [job.usage for job in found if job.usage is not None]
        cpu, memory, gpu = ([usage[name] for usage in usages if usage[name] is not None] for name in USED)
        numbers = [fold(values) if values else None for values in (wall, cpu) for fold in (median, max)]
        numbers += [max(values, default=None) for values in (memory, gpu)]
        counts = (len(found), len(found) - len(wall), len(found) - len(usages))
        texts = (rule, *map(str, counts), *map(format_number, numbers))
        rows.append(dict(zip(COLUMNS, texts, strict=True)))
    return rows


def gpu_seconds(jobs: Iterable[Job]) -> float | None:
    """Return how long these jobs held a GPU, one each; None where that of one is unknown, or none used any.

    A job holds its GPU from its start to its end, whatever it does with it.
    """
    known = [(job.wall_s, job.usage) for job in jobs]
    if any(wall is None or usage is None for wall, usage in known):
        return None
    held = [wall for wall, usage in known if usage and usage["gpu_mb"] is not None]
    return sum(held) if held else None


def _checked(path: Path, name: str, value: Any) -> float | None:
    if value is None and name == "gpu_mb":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ArtifactError(f"{path}: {name} is {value!r}, not a number of seconds or MiB")
    return float(value)
