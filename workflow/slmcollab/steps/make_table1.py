"""Both papers' Table 1 in one file, and for every cell the files and the record that it came from."""

import json
from pathlib import Path

import tyro

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json, write_text
from slmcollab.report.provenance import cell_provenance, check_runs, refer
from slmcollab.report.slices_table1 import as_cells
from slmcollab.report.table1 import COLUMNS, join_tables
from slmcollab.report.tables import csv_text, read_csv


def main(
    *,
    cell: str,
    code: str,
    tables: list[Path],
    published: list[Path],
    scores: list[Path],
    runs: list[Path],
    table: Path,
    provenance: Path,
) -> None:
    """Join the papers' tables and write where their numbers come from; scores and runs: of all papers, in one order."""
    absolute = [str(path) for path in [*tables, *published, *scores] if path.is_absolute()]
    if absolute:
        raise ArtifactError(f"provenance names files relative to the working directory, not as {absolute}")
    rows = join_tables({str(path): read_csv(path, COLUMNS) for path in tables})
    contents = {str(path): read_json(path) for path in scores}
    check_runs(contents, {str(path): read_json(path) for path in runs})
    digests = {str(path): digest(path) for path in scores}
    of_teams = as_cells({name: content for name, content in contents.items() if "system" in content})
    by_paper = {"slices": of_teams, "musketeers": {name: contents[name] for name in contents.keys() - of_teams.keys()}}
    grids = json.loads(cell)["papers"]
    write_text(table, csv_text(COLUMNS, rows))
    record = {
        "code": code,
        "table": refer(table),
        "tables": [refer(path) for path in tables],
        "published": [refer(path) for path in published],
        "cells": [one for grid in grids for one in cell_provenance(rows, by_paper[grid["paper"]], digests, grid)],
    }
    write_json(provenance, record)


if __name__ == "__main__":
    tyro.cli(main)
