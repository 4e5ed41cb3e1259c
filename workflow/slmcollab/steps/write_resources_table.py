"""Wall time, CPU time and peak memory of the jobs of each rule, from Snakemake's resources files and the jobs' logs."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.resources import COLUMNS, read_job, resource_rows
from slmcollab.report.tables import csv_text


def main(*, cell: str, table: Path) -> None:
    """Write one row a rule; what is gone is counted, since only its job, run again, could bring it back."""
    settings = json.loads(cell)
    files = {kind: settings[kind] for kind in ("resources", "log")}
    jobs = [read_job(rule, name, **files) for rule, names in settings["jobs"].items() for name in names]
    write_text(table, csv_text(COLUMNS, resource_rows(jobs)))


if __name__ == "__main__":
    tyro.cli(main)
