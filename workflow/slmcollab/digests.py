"""What a job read and wrote, by path: `steps/verify_provenance.py` follows these from a table to its first inputs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slmcollab.artifacts import digest

DIGESTS = "digests"  # the key of path -> sha256 in a record


def digests(*paths: Path) -> dict[str, dict[str, str]]:
    """Return {DIGESTS: {path: sha256}} of files and of all files in folders, without those that are hidden.

    Paths stay as they are given, so relative ones are relative to the working directory.
    """
    inside = {path: sorted(file for file in path.rglob("*") if file.is_file()) for path in paths if path.is_dir()}
    files = [file for path in paths for file in inside.get(path, [path]) if not _is_hidden(file, path)]
    return {DIGESTS: {file.as_posix(): digest(file) for file in files}}


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def with_outputs(record: Mapping[str, Any], outputs: Mapping[str, Path]) -> dict[str, Any]:
    """Return a job's record with the digests of what it wrote, by label and by path; outputs: label -> path."""
    made = digests(*outputs.values())[DIGESTS]
    by_label = {label: digest(path) for label, path in outputs.items()}
    return {**record, "outputs": by_label, DIGESTS: {**record.get(DIGESTS, {}), **made}}
