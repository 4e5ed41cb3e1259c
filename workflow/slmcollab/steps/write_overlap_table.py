"""How much of each slot's reasoning repeats what came before it."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_problems, write_text
from slmcollab.report.overlap_table import COLUMNS, KEYS, overlap_quantities, printed_overlap
from slmcollab.report.slices_published import read_other
from slmcollab.report.slices_runs import run_files
from slmcollab.report.tables import csv_text
from slmcollab.report.tidy import Measured, tidy_rows


def main(*, cell: str, runs: str, problems: str, published: Path, table: Path) -> None:
    """Write a row per slot, text and measure.

    cell: {"runs": [entries of `RunFiles`]}; runs: pattern of run folders; problems: pattern of the test problems, with
    {benchmark}.
    """
    asked = json.loads(cell)
    questions = {
        benchmark: {found.id: found.question for found in read_problems(Path(problems.format(benchmark=benchmark)))}
        for benchmark in sorted({entry["benchmark"] for entry in asked["runs"]})
    }
    measured = []
    for run in run_files(asked["runs"], runs):
        levels = run.levels() if run.baseline else None
        found = overlap_quantities(run.trajectories(), run.models, questions[run.entry["benchmark"]], levels)
        measured.append(Measured(run.names, run.seed, found))
    rows = tidy_rows(measured, KEYS, read_other(published), printed_overlap)
    write_text(table, csv_text(COLUMNS, rows))


if __name__ == "__main__":
    tyro.cli(main)
