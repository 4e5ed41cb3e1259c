"""Every claim of n-Musketeers, what was measured of it, and whether it holds."""

import json
from pathlib import Path

import pandas as pd
import tyro

from slmcollab.analysis.attention import read_history
from slmcollab.analysis.claims.claims import judge
from slmcollab.analysis.claims.gather import gather
from slmcollab.artifacts import ArtifactError, read_json, write_text
from slmcollab.report.claims import COLUMNS, claim_rows
from slmcollab.report.tables import csv_text, read_published


def read_whole(path: Path) -> pd.DataFrame:
    try:
        return read_history(path)
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{path}: {error}") from error


def main(
    *,
    cell: str,
    scores: list[Path],
    histories: list[Path],
    attention: list[Path],
    manifests: list[Path],
    published: Path,
    claims: Path,
) -> None:
    """Judge the claims on the runs that the cell lists; histories are in its order."""
    evidence = gather(
        json.loads(cell),
        scores={str(path): read_json(path) for path in scores},
        histories={str(path): read_whole(path) for path in histories},
        attention={str(path): read_json(path) for path in attention},
        manifests={str(path): read_json(path) for path in manifests},
        published=read_published(published),
    )
    write_text(claims, csv_text(COLUMNS, claim_rows(judge(evidence))))


if __name__ == "__main__":
    tyro.cli(main)
