"""Table 2 of n-Musketeers, the ablation of pooling, from the scores of its runs, beside the published values."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import read_json, write_text
from slmcollab.report.rows import format_rows
from slmcollab.report.table2 import COLUMNS, table2_latex, table2_rows
from slmcollab.report.tables import csv_text, read_published


def main(*, cell: str, scores: list[Path], published: Path, table: Path, tex: Path) -> None:
    """Write a row per pooling and metric, and the same as LaTeX."""
    contents = {str(path): read_json(path) for path in scores}
    rows = table2_rows(contents, json.loads(cell), read_published(published))
    write_text(table, csv_text(COLUMNS, format_rows(rows)))
    write_text(tex, table2_latex(rows))


if __name__ == "__main__":
    tyro.cli(main)
