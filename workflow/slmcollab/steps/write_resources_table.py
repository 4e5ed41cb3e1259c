"""Wall time, CPU time and peak memory of the jobs of each rule, from Snakemake's resources files."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.resources import COLUMNS, read_resources, resource_rows
from slmcollab.report.tables import csv_text


def main(*, cell: str, table: Path) -> None:
    """Write one row a rule; a file that is gone is counted, since only its job, run again, could bring it back."""
    files = {name: read_resources(Path(name)) if Path(name).exists() else None for name in json.loads(cell)["files"]}
    write_text(table, csv_text(COLUMNS, resource_rows(files)))


if __name__ == "__main__":
    tyro.cli(main)
