"""What a search leaves: the workflow that it found, and what every iteration tried."""

from collections.abc import Sequence
from pathlib import Path

from slmcollab.artifacts import write_csv, write_text
from slmcollab.search import tree
from slmcollab.search.tree import Trial


def write_workflow(path: Path, trials: Sequence[Trial]) -> None:
    """Write the best workflow of the trials, a node a line."""
    found = tree.best(trials).workflow
    assert found is not None
    write_text(path, found.written())


def write_search(path: Path, trials: Sequence[Trial]) -> None:
    """Write `tree.rows` as CSV."""
    write_csv(path, tree.rows(trials))
