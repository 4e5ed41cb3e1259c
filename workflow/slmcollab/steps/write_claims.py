"""Every claim of n-Musketeers, what was measured of it, and whether it holds."""

import json
from pathlib import Path

import tyro

from slmcollab.analysis.attention import read_history
from slmcollab.analysis.claims.claims import CLAIMS
from slmcollab.analysis.claims.evidence import HIDDEN
from slmcollab.analysis.claims.gather import gather
from slmcollab.analysis.claims.verdicts import judge
from slmcollab.artifacts import read_json, write_text
from slmcollab.report.claims import COLUMNS, claim_rows
from slmcollab.report.tables import csv_text, read_published


def main(
    *,
    cell: str,
    runs: str,
    manifests: list[Path],
    published: Path,
    claims: Path,
) -> None:
    """Judge the claims on the runs that the cell lists; runs: the pattern of their folders."""
    asked = json.loads(cell)
    folders = [Path(runs.format(**run)) for run in asked["runs"]]
    scores, histories = ([folder / name for folder in folders] for name in ("scores.json", "history.csv"))
    attention = [f / "attention.json" for f, run in zip(folders, asked["runs"], strict=True) if run["method"] == HIDDEN]
    evidence = gather(
        asked,
        scores={str(path): read_json(path) for path in scores},
        histories={str(path): read_history(path) for path in histories},
        attention={str(path): read_json(path) for path in attention},
        manifests={str(path): read_json(path) for path in manifests},
        published=read_published(published),
    )
    write_text(claims, csv_text(COLUMNS, claim_rows(judge(CLAIMS, evidence))))


if __name__ == "__main__":
    tyro.cli(main)
