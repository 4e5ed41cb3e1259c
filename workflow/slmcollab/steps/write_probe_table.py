"""What a linear map reads from each expert's features, one row per benchmark, expert and pooling."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_json, write_text
from slmcollab.report.probe_table import COLUMNS, probe_rows
from slmcollab.report.tables import csv_text


def main(*, cell: str, probes: list[Path], table: Path) -> None:
    """Write the probes in the order given."""
    rows = probe_rows({str(path): read_json(path) for path in probes}, json.loads(cell)["benchmarks"])
    write_text(table, csv_text(COLUMNS, rows))


if __name__ == "__main__":
    tyro.cli(main)
