"""Figure 3 of slices: what each mechanism contributes, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.slices_claims.collect import of_stage, scorers
from slmcollab.analysis.slices_claims.gather import read_scores
from slmcollab.report.slices_figure3 import COLUMNS, ablations, figure3_rows
from slmcollab.report.slices_figure3_drawing import draw_figure3
from slmcollab.report.style import FigureFiles


def main(*, cell: str, runs: str, figure: FigureFiles) -> None:
    """Draw the full method and its variants on the runs that the cell lists; runs: the pattern of their folders."""
    asked = json.loads(cell)
    folders = {run: Path(runs.format(**run._asdict())) for run in of_stage(asked, "eval")}
    scores = {run: read_scores(folder / "eval" / "scores.json", run, "eval") for run, folder in folders.items()}
    panels = ablations(scores)
    figure.write(draw_figure3(panels, asked["step_scorer"]), COLUMNS, figure3_rows(panels, scorers(asked)))


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
