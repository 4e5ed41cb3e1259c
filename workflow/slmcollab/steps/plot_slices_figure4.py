"""Figure 4 of slices: cost against performance, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.slices_claims.collect import of_stage, scorers
from slmcollab.artifacts import read_json
from slmcollab.report.budgets_table import total_size
from slmcollab.report.slices_figure4 import COLUMNS, circles, figure4_rows, read_spent
from slmcollab.report.slices_figure4_drawing import draw_figure4
from slmcollab.report.slices_published import read_other, read_table1
from slmcollab.report.style import FigureFiles


def main(
    *,
    cell: str,
    runs: str,
    manifests: list[Path],
    published: Path,
    published_other: Path,
    figure: FigureFiles,
) -> None:
    """Draw what the runs that the cell lists cost and reach.

    cell: {"runs", "models": [those that a weighted token is over], "sizes": {model: billions}, as counted where not
    given, "step_scorer"}; runs: the pattern of the runs' folders; manifests: of all these models.
    """
    asked = json.loads(cell)
    described = {str(path): read_json(path) for path in manifests}
    divisor = total_size(asked["models"], asked["sizes"], described)
    found = {run: read_spent(Path(runs.format(**run._asdict())) / "eval", run) for run in of_stage(asked, "eval")}
    shown = circles({run: of for run, of in found.items() if of is not None}, divisor)
    rows = figure4_rows(shown, scorers(asked), read_table1(published), read_other(published_other))
    figure.write(draw_figure4(shown, asked["step_scorer"]), COLUMNS, rows)


if __name__ == "__main__":
    tyro.cli(main, config=(tyro.conf.OmitArgPrefixes,))
