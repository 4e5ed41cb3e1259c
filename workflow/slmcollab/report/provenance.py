"""Where a table's numbers come from: for every cell its scores files, and what each recorded about its run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slmcollab.artifacts import ArtifactError, digest
from slmcollab.digests import DIGESTS
from slmcollab.report.tables import Scores, group_scores

KEY = ("benchmark", "method", "team")
# What a scores file says of its run, by paper.
RECORDED = {
    "musketeers": ("policy", "experts", "seed", "provenance"),
    "slices": ("models", "stage", "seed", "provenance"),
}


def cell_provenance(
    rows: Sequence[Mapping[str, str]], scores: Mapping[str, Scores], digests: Mapping[str, str], grid: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return one record per cell of the grid: its key, the table's metrics of it, its seeds, and its scores files.

    A file's record is its path, its sha256 and what it says itself (RECORDED), with its provenance (the run's
    settings, code digests, package versions, and the digests of all that was read, by path). Raises ArtifactError for a
    file that says less, and for a cell without rows in the table.
    """
    metrics: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        metrics.setdefault((row["paper"], *(row[name] for name in KEY)), []).append(row["metric"])
    records = []
    for key, files in group_scores(scores, grid["cells"]).items():
        if (grid["paper"], *key) not in metrics:
            raise ArtifactError(f"the table has no row for {grid['paper']}, {key}")
        record: dict[str, Any] = {"paper": grid["paper"], **dict(zip(KEY, key, strict=True))}
        record |= {"metrics": metrics[grid["paper"], *key], "seeds": list(files)}
        sources = [
            {"path": name, "sha256": digests[name], **_recorded(name, scores[name], grid["paper"])}
            for name in files.values()
        ]
        records.append({**record, "scores": sources})
    return records


def name_of(cell: Mapping[str, str]) -> str:
    """Return what a cell is called, from its record or from a row of it."""
    return " ".join(str(cell.get(key)) for key in ("paper", *KEY))


def refer(path: Path) -> dict[str, str]:
    """Return {path, sha256} of a file."""
    return {"path": path.as_posix(), "sha256": digest(path)}


def _recorded(name: str, scores: Scores, paper: str) -> dict[str, Any]:
    absent = [key for key in RECORDED[paper] if key not in scores]
    told = scores.get("provenance", {})
    absent += [f"provenance.{key}" for key in ("run", "inputs", "code", DIGESTS) if key not in told]
    run = told.get("run", {})
    absent += [f"provenance.run.{key}" for key in ("code", "inputs", "models", "packages", DIGESTS) if key not in run]
    if absent:
        raise ArtifactError(f"{name}: does not say what it came from, it lacks {absent}")
    return {key: scores[key] for key in RECORDED[paper]}


def check_runs(scores: Mapping[str, Scores], runs: Mapping[str, Any]) -> None:
    """Raise ArtifactError for a scores file whose run is not the one on disk; both are named and given in one order."""
    for (name, content), (run_name, run) in zip(scores.items(), runs.items(), strict=True):
        if content.get("provenance", {}).get("run") != run:
            raise ArtifactError(f"{name}: scores of another run than {run_name} records")
