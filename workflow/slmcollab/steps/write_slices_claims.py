"""Every claim of slices, what was measured of it, and whether it holds."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.claims.verdicts import judge
from slmcollab.analysis.slices_claims.claims import CLAIMS
from slmcollab.analysis.slices_claims.collect import collect
from slmcollab.artifacts import write_text
from slmcollab.report.claims import COLUMNS, claim_rows
from slmcollab.report.slices_published import read_other, read_table1
from slmcollab.report.tables import csv_text


def main(*, cell: str, runs: str, published: Path, published_other: Path, claims: Path) -> None:
    """Judge the claims on the runs that the cell lists; runs: the pattern of their folders."""
    asked = json.loads(cell)
    evidence = collect(asked, runs, table1=read_table1(published), other=read_other(published_other))
    rows = [row | {"step_scorer": asked["step_scorer"]} for row in claim_rows(judge(CLAIMS, evidence))]
    write_text(claims, csv_text([*COLUMNS, "step_scorer"], rows))


if __name__ == "__main__":
    tyro.cli(main)
