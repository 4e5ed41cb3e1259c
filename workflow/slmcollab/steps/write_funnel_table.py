"""What each stage of each system kept and dropped."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.funnel_table import COLUMNS, funnel_rows
from slmcollab.report.slices_stages import Stages
from slmcollab.report.tables import csv_text


def main(*, cell: str, runs: str, table: Path) -> None:
    """Write a row per count; cell: {"runs": [entries of `Stages`]}, runs: pattern of run folders."""
    rows = [row for entry in json.loads(cell)["runs"] for row in funnel_rows(Stages(entry, runs))]
    write_text(table, csv_text(COLUMNS, rows))


if __name__ == "__main__":
    tyro.cli(main)
