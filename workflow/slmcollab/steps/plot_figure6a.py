"""Figure 6a: reward with context tokens and with the prompt alone over training, as PDF, PNG and the numbers behind."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError
from slmcollab.report.figure6a import COLUMNS, figure6a_rows, group_rewards, read_rewards
from slmcollab.report.figure6a_drawing import draw_figure6a
from slmcollab.report.style import FigureFiles


def main(*, cell: str, histories: list[Path], figure: FigureFiles) -> None:
    """Draw the runs that the cell lists in the order of the histories."""
    runs = json.loads(cell)["runs"]
    if len(runs) != len(histories):
        raise ArtifactError(f"{len(histories)} histories for the {len(runs)} runs of the cell")
    groups = group_rewards(runs, [read_rewards(path) for path in histories])
    figure.write(draw_figure6a(groups), COLUMNS, figure6a_rows(groups))


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
