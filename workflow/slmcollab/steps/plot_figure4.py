"""Figure 4: attention shares, their entropy and reward over training, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.attention import dynamics, read_history
from slmcollab.artifacts import ArtifactError, write_text
from slmcollab.report.figure4 import COLUMNS, figure4_rows, group_runs
from slmcollab.report.figure4_drawing import draw_figure4
from slmcollab.report.style import write_figure
from slmcollab.report.tables import csv_text


def main(*, cell: str, histories: list[Path], figure_pdf: Path, figure_png: Path, figure_csv: Path) -> None:
    """Draw the runs that the cell lists in the order of the histories."""
    runs = json.loads(cell)["runs"]
    if len(runs) != len(histories):
        raise ArtifactError(f"{len(histories)} histories for the {len(runs)} runs of the cell")
    measured = []
    for run, path in zip(runs, histories, strict=True):
        try:
            measured.append(dynamics(read_history(path), run["experts"]))
        except ValueError as error:
            raise ArtifactError(f"{path}: {error}") from error
    groups = group_runs(runs, measured)
    pages = draw_figure4(groups)
    write_figure(pages, figure_pdf)
    write_figure(pages, figure_png)
    write_text(figure_csv, csv_text(COLUMNS, figure4_rows(groups)))


if __name__ == "__main__":
    tyro.cli(main)
