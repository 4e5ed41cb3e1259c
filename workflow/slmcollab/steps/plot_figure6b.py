"""Figure 6b: accuracy against the number m of context tokens, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_json
from slmcollab.report.figure6b import COLUMNS, figure6b_rows, sweeps
from slmcollab.report.figure6b_drawing import draw_figure6b
from slmcollab.report.style import FigureFiles


def main(*, cell: str, scores: list[Path], figure: FigureFiles) -> None:
    """Draw the points that the cell lists; the scores files, in any order, name their runs themselves."""
    contents = {str(path): read_json(path) for path in scores}
    panels = sweeps(contents, json.loads(cell)["points"])
    figure.write(draw_figure6b(panels), COLUMNS, figure6b_rows(panels))


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
