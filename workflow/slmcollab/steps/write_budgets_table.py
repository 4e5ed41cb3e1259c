"""Parameters, training data, calls and tokens of every run."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_json, write_text
from slmcollab.report.budgets_table import (
    COLUMNS,
    budget_row,
    parameters,
    printed_invocations,
    read_phases,
    read_trainings,
    total_size,
)
from slmcollab.report.resources import gpu_seconds, read_job
from slmcollab.report.slices_published import read_other
from slmcollab.report.slices_stages import Stages
from slmcollab.report.tables import csv_text, format_number


def main(*, cell: str, runs: str, manifests: list[Path], published: Path, table: Path) -> None:
    """Write a row per run; GPU-seconds are of jobs whose files are still there, as in the table of resources.

    cell: {"runs": [entries of `Stages` with "models": [one a slot]], "reference_model", "sizes": {model: billions}, as
    counted where not given, "jobs": see `Stages.jobs`, "resources" and "log": see `read_job`}; runs: pattern of run
    folders; manifests: of all these models.
    """
    asked, printed, rows = json.loads(cell), read_other(published), []
    described = {str(path): read_json(path) for path in manifests}
    divisor = total_size([model for entry in asked["runs"] for model in entry["models"]], asked["sizes"], described)
    for entry in asked["runs"]:
        stages = Stages(entry, runs)
        row = budget_row(stages, read_phases(stages), read_trainings(stages), divisor)
        row |= parameters(entry["models"], asked["reference_model"], described)
        jobs = [read_job(*job, asked["resources"], asked["log"]) for job in stages.jobs(asked["jobs"])]
        row["gpu_seconds_learning"] = format_number(gpu_seconds(jobs), 0)
        rows.append(row | printed_invocations(row, printed))
    write_text(table, csv_text(COLUMNS, rows))


if __name__ == "__main__":
    tyro.cli(main)
