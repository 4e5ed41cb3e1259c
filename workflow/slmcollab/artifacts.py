"""File formats of the pipeline: readers refuse a file that is not whole, writers rename a whole one into place."""

import contextlib
import csv
import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


class ArtifactError(ValueError):
    """A file of the pipeline is missing, cut or foreign; the message names it."""


@dataclass(frozen=True)
class Problem:
    """One item of a benchmark: what the policy and the experts read, and what the scorer needs.

    question identifies repeats (train and test may share it); messages is the chat as it is sent; answer is None where
    a task has no single gold text; metadata is whatever the benchmark's scorer reads.
    """

    id: str
    question: str
    messages: list[dict[str, str]]
    answer: str | None
    metadata: dict[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it (file or folder) to `path` on success, remove it on failure."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    _remove(temporary)  # a killed process of the same number may have left one
    try:
        yield temporary
        _share(temporary)
        if path.is_dir() and temporary.is_dir():
            shutil.rmtree(path)
        os.replace(temporary, path)
    finally:
        _remove(temporary)


def _share(path: Path) -> None:
    """Give files the permissions of any new file: some writers keep theirs to the owner, and groups share results."""
    mask = os.umask(0)
    os.umask(mask)
    for file in [path, *path.rglob("*")]:
        if file.is_file():
            file.chmod(0o666 & ~mask)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write `rows`, at least one, as CSV: None as an empty field, floats so that reading them gives the same bits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def write_json(path: Path, value: Any) -> None:
    """Write `value` with sorted keys; raises ValueError for NaN and infinities, which JSON does not have."""
    write_text(path, json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ArtifactError(f"{path}: no such file") from error
    except ValueError as error:
        raise ArtifactError(f"{path}: not a whole JSON file ({error})") from error


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write one object a line; every line, the last too, ends in a newline, so that a cut file shows."""
    lines = [json.dumps(row, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n" for row in rows]
    write_text(path, "".join(lines))


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON-lines file, split at newlines only (U+2028 is text); raises ArtifactError if cut."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise ArtifactError(f"{path}: no such file") from error
    if not content.endswith(b"\n"):
        raise ArtifactError(f"{path}: empty, or cut in its last line")
    try:
        rows = [json.loads(line) for line in content.decode("utf-8").split("\n")[:-1]]
    except ValueError as error:
        raise ArtifactError(f"{path}: not JSON lines ({error})") from error
    if not all(isinstance(row, dict) for row in rows):
        raise ArtifactError(f"{path}: a line is no JSON object")
    return rows


def write_problems(path: Path, problems: Iterable[Problem]) -> None:
    write_jsonl(path, (asdict(problem) for problem in problems))


def read_problems(path: Path) -> list[Problem]:
    try:
        return [Problem(**row) for row in read_jsonl(path)]
    except TypeError as error:
        raise ArtifactError(f"{path}: not a file of problems ({error})") from error


def digest(path: Path) -> str:
    """Return the sha256 of a file, or of the names and contents of a folder's files; what is hidden does not count."""
    path = Path(path)
    if path.is_dir():
        files = {p.relative_to(path): p for p in path.rglob("*") if p.is_file()}
        shown = sorted(name for name in files if not any(part.startswith(".") for part in name.parts))
        return digest_text("".join(f"{name.as_posix()}\0{digest(files[name])}\n" for name in shown))
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise ArtifactError(f"{path}: no such file") from error


def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
