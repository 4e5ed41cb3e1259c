"""How right each expert is by itself, one row per benchmark and expert."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_json, write_text
from slmcollab.report.expert_table import COLUMNS, expert_rows
from slmcollab.report.tables import csv_text


def main(*, cell: str, scores: list[Path], table: Path) -> None:
    """Write the experts' test scores in the order of the cell."""
    settings, found = json.loads(cell), {str(path): read_json(path) for path in scores}
    rows = expert_rows(found, benchmarks=settings["benchmarks"], experts=settings["experts"])
    write_text(table, csv_text(COLUMNS, rows))


if __name__ == "__main__":
    tyro.cli(main)
