"""Figure 4 of slices: cost against performance, as PDF, PNG and the numbers behind them."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.slices_claims.collect import of_stage, scorers
from slmcollab.analysis.slices_claims.gather import read_scores
from slmcollab.artifacts import read_json, write_text
from slmcollab.generation.calls import read_calls
from slmcollab.report.budgets_table import total_size
from slmcollab.report.slices_figure4 import COLUMNS, circles, figure4_rows, spent
from slmcollab.report.slices_figure4_drawing import draw_figure4
from slmcollab.report.style import write_figure
from slmcollab.report.tables import csv_text


def main(*, cell: str, runs: str, manifests: list[Path], figure_pdf: Path, figure_png: Path, figure_csv: Path) -> None:
    """Draw what the runs that the cell lists cost and reach.

    cell: {"runs": [entries with "models": [one a slot]], "sizes": {model: billions}, as counted where not given,
    "step_scorer"}; runs: the pattern of their folders; manifests: of all these models.
    """
    asked = json.loads(cell)
    described = {str(path): read_json(path) for path in manifests}
    divisor = total_size([model for entry in asked["runs"] for model in entry["models"]], asked["sizes"], described)
    found = {}
    for run in of_stage(asked, "eval"):
        folder = Path(runs.format(**run._asdict())) / "eval"
        scores = read_scores(folder / "scores.json", run, "eval")
        found[run] = spent(str(folder / "calls.parquet"), scores, read_calls(folder / "calls.parquet"))
    shown = circles({run: of for run, of in found.items() if of is not None}, divisor)
    pages = draw_figure4(shown, asked["step_scorer"])
    write_figure(pages, figure_pdf)
    write_figure(pages, figure_png)
    write_text(figure_csv, csv_text(COLUMNS, figure4_rows(shown, scorers(asked))))


if __name__ == "__main__":
    tyro.cli(main)
