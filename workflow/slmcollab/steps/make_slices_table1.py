"""Table 1 of slices from the scores of its runs, beside the published values."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.slices_latex import slices_latex
from slmcollab.report.slices_published import read_table1
from slmcollab.report.slices_runs import run_files
from slmcollab.report.slices_table1 import format_system_rows, slices_rows
from slmcollab.report.table1 import COLUMNS
from slmcollab.report.tables import csv_text


def main(*, cell: str, runs: str, published: Path, table: Path, tex: Path) -> None:
    """Write the tidy table of every cell of the grid, and the paper's metrics as LaTeX; runs: pattern of folders."""
    grid = json.loads(cell)
    entries = [{**entry, "seed": seed} for entry in grid["cells"] for seed in entry["seeds"]]
    contents = {str(run.folder / "scores.json"): run.scores() for run in run_files(entries, runs)}
    rows = slices_rows(contents, grid, read_table1(published))
    write_text(table, csv_text(COLUMNS, format_system_rows(rows)))
    write_text(tex, slices_latex(rows, grid))


if __name__ == "__main__":
    tyro.cli(main)
