"""Figure 4: attention shares, their entropy and reward over training, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.attention import dynamics, read_history
from slmcollab.artifacts import ArtifactError
from slmcollab.report.figure4 import COLUMNS, figure4_rows, group_runs
from slmcollab.report.figure4_drawing import draw_figure4
from slmcollab.report.style import FigureFiles


def main(*, cell: str, histories: list[Path], figure: FigureFiles) -> None:
    """Draw the runs that the cell lists in the order of the histories."""
    runs = json.loads(cell)["runs"]
    if len(runs) != len(histories):
        raise ArtifactError(f"{len(histories)} histories for the {len(runs)} runs of the cell")
    pairs = zip(runs, histories, strict=True)
    groups = group_runs(runs, [dynamics(str(path), read_history(path), run["experts"]) for run, path in pairs])
    figure.write(draw_figure4(groups), COLUMNS, figure4_rows(groups))


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
