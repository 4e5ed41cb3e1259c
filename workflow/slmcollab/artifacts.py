"""File formats of the pipeline: readers refuse a file that is not whole, writers rename a whole one into place."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from slmcollab.made_by import advice
from slmcollab.whole import replacing

# Where a job tells, beside its files, what it wrote.
_TOLD_IN = ("run", "answering", "training", "funnel", "evaluation", "rewards", "manifest")


class ArtifactError(ValueError):
    """A file of the pipeline is missing, cut or foreign.

    A message that starts with the file's path and a colon gets to end in the rule that makes it, and what to do.
    """

    def __init__(self, message: str) -> None:
        what = advice(Path(message.partition(": ")[0]))
        super().__init__(message if message.endswith(what) else message + what)


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


def read_json(path: Path, *keys: str) -> Any:
    """Return what a JSON file holds; raises ArtifactError where it is not whole, or no object with these keys."""
    text = _read(path)
    try:
        content = json.loads(text.decode("utf-8"))
    except ValueError as error:
        raise ArtifactError(f"{path}: not a whole JSON file ({error})") from error
    if keys and not (isinstance(content, dict) and content.keys() >= set(keys)):
        raise ArtifactError(f"{path}: not an object with {', '.join(keys)}")
    return content


def _read(path: Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise ArtifactError(f"{path}: no such file") from error
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read ({error.strerror})") from error


def read_text(path: Path) -> str:
    """Return a text that ends in a newline, as it was written (line ends are not translated).

    Raises ArtifactError for a file that is cut, no UTF-8, or not the one that a record beside it lists.
    """
    content = _read(path)
    if not content.endswith(b"\n"):
        raise ArtifactError(f"{path}: empty, or cut in its last line")
    check_recorded(path, hashlib.sha256(content).hexdigest())
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError(f"{path}: no text ({error})") from error


def check_recorded(path: Path, found: str) -> None:
    """Raise ArtifactError where the record that its job wrote beside a file lists another digest of it than `found`.

    A text that is cut between two lines shows in nothing else.
    """
    path = Path(path)
    for record in (path.with_name(f"{name}.json") for name in _TOLD_IN):
        content = read_json(record) if record.is_file() else {}
        told = content.get("record", content) if isinstance(content, dict) else None
        lists = [told.get(key) for key in ("outputs", "sha256")] if isinstance(told, dict) else []
        if any(isinstance(listed, dict) and listed.get(path.stem, found) != found for listed in lists):
            raise ArtifactError(f"{path}: not the file that {record} lists")


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write one object a line; every line, the last too, ends in a newline, so that a cut file shows."""
    lines = [json.dumps(row, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n" for row in rows]
    write_text(path, "".join(lines))


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON-lines file, split at newlines only (U+2028 is text); raises ArtifactError if cut."""
    text = read_text(path)
    try:
        rows = [json.loads(line) for line in text.split("\n")[:-1]]
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
