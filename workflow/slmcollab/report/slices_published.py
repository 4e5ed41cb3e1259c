"""The numbers that the paper of slices prints, Table 1 and what its text says."""

from pathlib import Path

from slmcollab.artifacts import ArtifactError
from slmcollab.report.table1 import NO_TEAM
from slmcollab.report.tables import read_csv

TABLE1_COLUMNS = ("benchmark", "method", "metric", "value", "dagger", "source")
OTHER_COLUMNS = ("quantity", "benchmark", "condition", "value", "source_section")


def read_table1(path: Path) -> dict[tuple[str, ...], tuple[float, str]]:
    """Return (benchmark, method, "none", metric) -> (percent points, where they stand)."""
    found: dict[tuple[str, ...], tuple[float, str]] = {}
    for row in read_csv(path, TABLE1_COLUMNS):
        key = (row["benchmark"], row["method"], NO_TEAM, row["metric"])
        if key in found:
            raise ArtifactError(f"{path}: {key} is there twice")
        found[key] = (_number(path, key, row["value"]), row["source"])
    return found


def read_other(path: Path) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Return (quantity, benchmark, condition) -> (the value as it is printed, where it stands)."""
    found: dict[tuple[str, str, str], tuple[str, str]] = {}
    for row in read_csv(path, OTHER_COLUMNS):
        key = (row["quantity"], row["benchmark"], row["condition"])
        if key in found:
            raise ArtifactError(f"{path}: {key} is there twice")
        found[key] = (row["value"], row["source_section"])
    return found


def _number(path: Path, key: tuple[str, ...], text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ArtifactError(f"{path}: the value of {key} is {text!r}, not a number") from error
