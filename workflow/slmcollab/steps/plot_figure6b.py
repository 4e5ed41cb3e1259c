"""Figure 6b: accuracy against the number m of context tokens, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_json, write_text
from slmcollab.report.figure6b import COLUMNS, figure6b_rows, sweeps
from slmcollab.report.figure6b_drawing import draw_figure6b
from slmcollab.report.style import write_figure
from slmcollab.report.tables import csv_text


def main(*, cell: str, scores: list[Path], figure_pdf: Path, figure_png: Path, figure_csv: Path) -> None:
    """Draw the points that the cell lists; the scores files, in any order, name their runs themselves."""
    contents = {str(path): read_json(path) for path in scores}
    panels = sweeps(contents, json.loads(cell)["points"])
    pages = draw_figure6b(panels)
    write_figure(pages, figure_pdf)
    write_figure(pages, figure_png)
    write_text(figure_csv, csv_text(COLUMNS, figure6b_rows(panels)))


if __name__ == "__main__":
    tyro.cli(main)
