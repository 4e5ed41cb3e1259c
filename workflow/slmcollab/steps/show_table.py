"""A table of the results as a page to read in a browser."""

import csv
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, read_text, write_text
from slmcollab.report.page import table_page


def main(*, table: Path, page: Path) -> None:
    """Write the page; table: a CSV file with a header."""
    try:
        content = table_page(read_text(table), table.stem)
    except (ValueError, csv.Error) as error:
        raise ArtifactError(f"{table}: no table ({error})") from error
    write_text(page, content)


if __name__ == "__main__":
    tyro.cli(main)
