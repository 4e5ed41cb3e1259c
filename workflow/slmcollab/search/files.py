"""What a search leaves: the workflow that it found, and what every iteration tried."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from slmcollab.artifacts import write_text
from slmcollab.search import tree
from slmcollab.search.tree import Trial


def write_workflow(path: Path, trials: Sequence[Trial]) -> None:
    """Write the best workflow of the trials, a node a line."""
    found = tree.best(trials).workflow
    assert found is not None
    write_text(path, found.written())


def write_search(path: Path, trials: Sequence[Trial]) -> None:
    """Write `tree.rows` as CSV: None as an empty field, floats so that reading them gives the same bits."""
    rows, text = tree.rows(trials), io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())
