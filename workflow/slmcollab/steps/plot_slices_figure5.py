"""Figure 5 of slices: topologies before and after training, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.slices_claims.collect import of_stage, scorers
from slmcollab.analysis.topology import topologies
from slmcollab.protocol.trajectory import read_trajectories
from slmcollab.report.slices_figure5 import COLUMNS, figure5_rows, shapes
from slmcollab.report.slices_figure5_drawing import draw_figure5
from slmcollab.report.style import FigureFiles


def main(*, cell: str, runs: str, figure: FigureFiles) -> None:
    """Draw the shapes of trajectories of cl_no_training and cl; runs: the pattern of the folders of the cell's runs."""
    asked = json.loads(cell)
    found = {}
    for run in of_stage(asked, "eval"):
        path = Path(runs.format(**run._asdict())) / "eval" / "trajectories.jsonl"
        found[run] = topologies(read_trajectories(path))
    panels = shapes(found)
    figure.write(draw_figure5(panels, asked["step_scorer"]), COLUMNS, figure5_rows(panels, scorers(asked)))


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
