"""What the jobs of each rule cost, from the files of Snakemake's `benchmark:` directive."""

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import format_number

NUMBERS = ("wall_s_median", "wall_s_max", "cpu_s_median", "cpu_s_max", "max_rss_mb")
COLUMNS = ("rule", "jobs", "without_file", "too_short", *NUMBERS)
MEASURED = ("s", "cpu_time", "max_rss")
Job = dict[str, float | None]  # MEASURED of one job, None where Snakemake did not measure it
NOT_MEASURED = ("NA", "-", "")  # of a job that ended before Snakemake's first look at it
FOLDER = "resources"


def rule_of(path: Path) -> str:
    """Return the rule that a file belongs to: the segment after the last folder `resources`, without the ending."""
    parts = Path(path).parts
    if FOLDER not in parts[:-1]:
        raise ArtifactError(f"{path}: not below a folder {FOLDER!r}, so its rule is not known")
    return parts[len(parts) - parts[::-1].index(FOLDER)].removesuffix(".resources.tsv")


def read_resources(path: Path) -> list[Job]:
    """Return wall seconds `s`, CPU seconds `cpu_time` and peak memory `max_rss` (MB) of every job in a file.

    Raises ArtifactError for a file that is missing, without rows, cut, or of another form.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ArtifactError(f"{path}: no such file") from error
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    if not rows or not text.endswith("\n"):
        raise ArtifactError(f"{path}: empty, or cut in its last line")
    return [{name: _number(path, row, name) for name in MEASURED} for row in rows]


def resource_rows(files: Mapping[str, list[Job] | None]) -> list[dict[str, str]]:
    """Return one printed row a rule, in the order in which the rules first occur.

    files: name of a file -> `read_resources` of it, None where it is gone. jobs counts those that are left, too_short
    those of them without CPU time or memory: they count in wall seconds only. Memory is the highest of all jobs, MB.
    """
    rules: dict[str, list[list[Job] | None]] = {}
    for name, jobs in files.items():
        rules.setdefault(rule_of(Path(name)), []).append(jobs)
    rows = []
    for rule, found in rules.items():
        jobs = [job for file in found if file is not None for job in file]
        wall, cpu, memory = ([job[name] for job in jobs if job[name] is not None] for name in MEASURED)
        short = sum(job["cpu_time"] is None or job["max_rss"] is None for job in jobs)
        numbers = [fold(values) if values else None for values in (wall, cpu) for fold in (median, max)]
        texts = (rule, str(len(jobs)), str(found.count(None)), str(short))
        texts += tuple(map(format_number, [*numbers, max(memory, default=None)]))
        rows.append(dict(zip(COLUMNS, texts, strict=True)))
    return rows


def _number(path: Path, row: Mapping[str, str | None], name: str) -> float | None:
    text = row.get(name)
    if text in NOT_MEASURED and name != "s":
        return None
    try:
        value = float(text)
    except (TypeError, ValueError) as error:
        raise ArtifactError(f"{path}: {name} is {text!r}, not a number") from error
    if not 0 <= value < math.inf:
        raise ArtifactError(f"{path}: {name} is {text}, not a number of seconds or MB")
    return value
