"""What each slot of each system does, the shapes of its trajectories, and how often it breaks the protocol."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.roles_table import COLUMNS, KEYS, printed_role, role_quantities
from slmcollab.report.slices_published import read_other
from slmcollab.report.slices_runs import run_files
from slmcollab.report.tables import csv_text
from slmcollab.report.tidy import Measured, tidy_rows
from slmcollab.scoring.equality import EQUALITIES


def main(*, cell: str, runs: str, published: Path, table: Path) -> None:
    """Write a row per measure of each slot, and of the whole team.

    cell: {"runs": [entries of `RunFiles`], "normalise": {benchmark: one of EQUALITIES}}; runs: pattern of run folders.
    """
    asked = json.loads(cell)
    measured = []
    for run in run_files(asked["runs"], runs):
        normalise = EQUALITIES[asked["normalise"][run.entry["benchmark"]]]
        found = role_quantities(run.trajectories(), run.calls(), run.models, normalise)
        measured.append(Measured(run.names, run.seed, found))
    rows = tidy_rows(measured, KEYS, read_other(published), printed_role)
    write_text(table, csv_text(COLUMNS, rows))


if __name__ == "__main__":
    tyro.cli(main)
