"""What each slot of each system does, the shapes of its trajectories, and how often it breaks the protocol."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.roles_table import COLUMNS, KEYS, failure_quantities, printed_role, role_quantities
from slmcollab.report.slices_published import read_other
from slmcollab.report.slices_runs import run_files
from slmcollab.report.tables import csv_text
from slmcollab.report.tidy import Measured, tidy_rows
from slmcollab.scoring.equality import EQUALITIES


def main(*, cell: str, runs: str, published: Path, table: Path) -> None:
    """Write a row per measure of each slot, and of the whole team; of baselines, only how often the form is broken.

    cell: {"runs": [entries of `RunFiles`], "normalise": {benchmark: one of EQUALITIES}}; runs: pattern of run folders.
    """
    asked = json.loads(cell)
    measured = []
    for run in run_files(asked["runs"], runs):
        said = run.trajectories(), run.calls(), run.models
        equal = EQUALITIES[asked["normalise"][run.entry["benchmark"]]]
        found = failure_quantities(*said) if run.baseline else role_quantities(*said, equal)
        measured.append(Measured(run.names, run.seed, found))
    rows = tidy_rows(measured, KEYS, read_other(published), printed_role)
    write_text(table, csv_text(COLUMNS, rows))


if __name__ == "__main__":
    tyro.cli(main)
