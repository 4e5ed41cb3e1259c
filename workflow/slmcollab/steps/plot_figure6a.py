"""Figure 6a: reward with context tokens and with the prompt alone over training, as PDF, PNG and the numbers behind."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, write_text
from slmcollab.report.figure6a import COLUMNS, figure6a_rows, group_rewards, read_rewards
from slmcollab.report.figure6a_drawing import draw_figure6a
from slmcollab.report.style import write_figure
from slmcollab.report.tables import csv_text


def main(*, cell: str, histories: list[Path], figure_pdf: Path, figure_png: Path, figure_csv: Path) -> None:
    """Draw the runs that the cell lists in the order of the histories."""
    runs = json.loads(cell)["runs"]
    if len(runs) != len(histories):
        raise ArtifactError(f"{len(histories)} histories for the {len(runs)} runs of the cell")
    groups = group_rewards(runs, [read_rewards(path) for path in histories])
    pages = draw_figure6a(groups)
    write_figure(pages, figure_pdf)
    write_figure(pages, figure_png)
    write_text(figure_csv, csv_text(COLUMNS, figure6a_rows(groups)))


if __name__ == "__main__":
    tyro.cli(main)
