"""A table of the results as a page to read in a browser."""

from pathlib import Path

import tyro

from slmcollab.artifacts import write_text
from slmcollab.report.page import table_page


def main(*, table: Path, page: Path) -> None:
    """Write the page; table: a CSV file with a header."""
    write_text(page, table_page(table.read_text("utf-8"), table.stem))


if __name__ == "__main__":
    tyro.cli(main)
