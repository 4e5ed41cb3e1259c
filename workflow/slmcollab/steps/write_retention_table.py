"""What becomes of first and intermediate answers, of each system alone and of the reference beside the others."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.retention_table import COLUMNS, KEYS, printed_retention, retention_measures, with_ranks
from slmcollab.report.slices_published import read_other
from slmcollab.report.slices_runs import run_files
from slmcollab.report.tables import csv_text
from slmcollab.report.tidy import tidy_rows


def main(*, cell: str, runs: str, published: Path, table: Path) -> None:
    """Write a row per measure, with ranks among the methods.

    cell: {"runs": [entries of `RunFiles`], "reference": method, "unranked": [methods that are no rows of Table 1]};
    runs: pattern of run folders.
    """
    asked = json.loads(cell)
    measured = retention_measures(run_files(asked["runs"], runs), asked["reference"])
    rows = tidy_rows(measured, KEYS, read_other(published), printed_retention)
    write_text(table, csv_text(COLUMNS, with_ranks(rows, asked["unranked"])))


if __name__ == "__main__":
    tyro.cli(main)
