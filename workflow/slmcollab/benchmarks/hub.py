"""Rows of a published data set, from the hub at a pinned revision or from JSON-lines files of the same schema."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from slmcollab import snapshots
from slmcollab.artifacts import ArtifactError, read_jsonl

Source = dict[str, str]


def read_rows(source: Source, split: str, *, name: str | None = None, num_rows: int | None = None) -> list[dict]:
    """Return the rows of a split: of {path}/{split}.jsonl, or of the data set {id, revision} on the hub.

    name: the hub's configuration of the data set, where it has several (source["name"] where it is left out).
    num_rows: what the hub's split holds; a local file may hold a part. Raises ArtifactError if the rows cannot be had,
    or if the hub delivers another number of them.
    """
    if "path" in source:
        return read_jsonl(Path(source["path"]) / f"{split}.jsonl")
    rows = list(read_hub(source, split, name=name or source.get("name")))
    if num_rows is not None and len(rows) != num_rows:
        raise ArtifactError(f"{describe(source, name)} {split}: {len(rows)} rows, {num_rows} are published")
    return rows


def read_hub(source: Source, split: str, *, name: str | None = None) -> Iterable[dict[str, Any]]:
    """Return a split from the local cache or the hub; raises ArtifactError where neither has it.

    The files are read from their folder: asked by its id, `datasets` would make do with any revision in its cache.
    """
    import datasets

    unreadable = (OSError, ValueError, datasets.exceptions.DatasetsError)
    repository, revision = source["id"], source["revision"]
    folder, unread = snapshots.cached(repository, revision, kind="dataset"), None
    if folder is not None:
        try:
            return datasets.load_dataset(str(folder), name, split=split)
        except unreadable as error:
            unread = error  # a part of it, perhaps: the hub has the rest
    try:
        folder = snapshots.fetch(repository, revision, kind="dataset", part=name)
    except snapshots.NotFetchedError as error:
        if unread is None:
            raise
        what = f"what is cached is not readable ({type(unread).__name__}: {unread})"
        raise snapshots.NotFetchedError(f"{error}; {what}") from unread
    try:
        return datasets.load_dataset(str(folder), name, split=split)
    except unreadable as error:
        raise ArtifactError(
            f"{describe(source, name)} {split}: not readable ({type(error).__name__}: {error})"
        ) from error


def describe(source: Source, name: str | None = None) -> str:
    """Return where rows come from, for a sentence: a path, or id, configuration and revision."""
    if "path" in source:
        return source["path"]
    name = name or source.get("name")
    return f"{source['id']} ({', '.join([*([name] if name else []), source['revision']])})"


def text_of(row: dict[str, Any], key: str, where: str) -> str:
    """Return the text row[key]; raises ArtifactError naming row and key where there is none."""
    if not isinstance(row.get(key), str) or not row[key].strip():
        raise ArtifactError(f"{where}: {key} is missing or not a text")
    return row[key]
