"""`python -m plan --scale paper`: what each item of the papers takes, as a table and in the run's plan.csv."""

import argparse
import csv
import sys
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from dag.jobs import REFUSALS, planned
from dag.profiles import ProfileError, read, run_folder
from plan.costs import CostError, costs, over_limit, record, untold
from plan.items import Groups
from plan.rows import ESTIMATED, MIXED, Row, rows
from slmcollab.artifacts import ArtifactError

ROOT = Path(__file__).parents[2]
PROFILES = {"paper": "slurm", "tiny": "tiny"}
SIGNS = {ESTIMATED: "~", MIXED: "≈"}
HEADS = ("jobs", "done", "new", "allocations", "GPU-hours", "spent", "CPU-hours", "GB")

NOTE = """\
jobs, done: all that the item needs; new: what no row above needs. allocations, GPU-hours, CPU-hours: of new jobs that
are left to run; spent: GPU-hours of those that are done. GB: files of new jobs, without checkpoints. Hours on k GPUs,
for all that is left of the item: from max(GPU-hours / k, longest chain of jobs) to GPU-hours / k + longest chain.
~ estimated (workflow/plan/estimates.yaml), ≈ in part; else recorded by jobs that ran. The same in plan.csv."""


def table(found: list[Row], gpus: int) -> Table:
    """Return the rows as they are shown: ~ before what is estimated, ≈ before what is estimated in part."""
    shown = Table("item", *(head for head in HEADS), f"hours on {gpus} GPU{'s' * (gpus > 1)}")
    for column in shown.columns[1:]:
        column.justify = "right"
    for row in found:
        figures = [
            (row.gpu_hours, row.gpu_hours_from),
            (row.gpu_hours_spent, row.gpu_hours_spent_from),
            (row.cpu_hours, row.cpu_hours_from),
            (row.disk_gb, row.disk_gb_from),
        ]
        wall = f"{SIGNS.get(row.wall_hours_from, '')}{_number(row.wall_hours_least)} to {_number(row.wall_hours_most)}"
        counts = map(str, (row.jobs, row.done, row.new, row.allocations))
        shown.add_row(row.item, *counts, *(f"{SIGNS.get(source, '')}{_number(x)}" for x, source in figures), wall)
    return shown


def _number(value: float) -> str:
    """Return three digits of a number, or as many as stand before its point."""
    return f"{value:.0f}" if value >= 100 or value == 0 else f"{value:.3g}"


def write(found: list[Row], path: Path) -> None:
    """Write the rows as CSV, six digits behind the point."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, Row._fields, lineterminator="\n")
        writer.writeheader()
        for row in found:
            writer.writerow({k: round(v, 6) if isinstance(v, float) else v for k, v in row._asdict().items()})


def main() -> None:
    parser = argparse.ArgumentParser(prog="plan", description=__doc__)
    parser.add_argument("--scale", choices=PROFILES, default="paper")
    parser.add_argument("--configfile", nargs="*", type=Path, default=[], help="config files on top of the scale's")
    parser.add_argument("--profile", nargs="*", default=[], help="the site's own, after the scale's and after slurm")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs that work at once")
    asked = parser.parse_args()
    if asked.gpus < 1:
        parser.error(f"--gpus {asked.gpus}: at least 1")
    estimates = yaml.safe_load((ROOT / "workflow/plan/estimates.yaml").read_text("utf-8"))[asked.scale]
    try:
        profile, slurm = (read(ROOT, name, asked.profile) for name in (PROFILES[asked.scale], "slurm"))
        jobs, folder = planned(ROOT, profile, asked.configfile).jobs, run_folder(ROOT, profile)
        paid = costs(jobs, [record(job, folder) for job in jobs], estimates)
    except (ArtifactError, CostError, ProfileError, *REFUSALS, OSError) as error:
        sys.exit(str(error))
    found = rows(jobs, paid, Groups(slurm["groups"], slurm["group-components"]), asked.gpus)
    write(found, folder / "plan.csv")
    Console(width=160).print(table(found, asked.gpus))
    print(NOTE)
    for rule, count in over_limit(jobs, paid).items():
        print(f"{rule}: {count} jobs take longer than their time limit, and will need a second attempt")
    for rule, names in untold(jobs).items():
        print(f"{rule}: {names} unknown before its input is there, and taken as 0")


if __name__ == "__main__":
    main()
