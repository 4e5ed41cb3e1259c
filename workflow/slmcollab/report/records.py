"""What files say of the jobs that made them: what these read and wrote, by path and by label, and with which code."""

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from slmcollab.artifacts import ArtifactError, digest_text, read_json
from slmcollab.digests import DIGESTS

WEIGHTS = "weights"  # the folder beside a model's manifest, which holds the files that the manifest lists
CODE, LABELS = "code", ("inputs", "outputs")
# What taking apart a file of another form ends in: lists for objects, missing keys, numbers out of range, odd paths.
_BROKEN = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError, csv.Error)


class Told(NamedTuple):
    """What a file names; digests: path -> sha256 of what its job read and wrote, codes: digests of code.

    unnamed: the labels under which a record in it has the digest of what it names no path of; same: what tells its own
    record from others, copies: (key, the same of the record that its own one holds a copy of there).
    """

    digests: dict[str, str]
    codes: list[str]
    unnamed: list[str]
    same: str | None
    copies: list[tuple[str, str]]


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Raise ArtifactError, which names the file and says that it is no `kind`, where what is done with it fails.

    Files that were edited, or are of others, have any form; ArtifactErrors are passed on, they name a file already.
    """
    try:
        yield
    except ArtifactError:
        raise
    except _BROKEN as error:
        raise ArtifactError(f"{path}: not {kind} ({type(error).__name__}: {error})") from error


def read_record(base: Path, path: str) -> Any:
    """Return what a file says: all that a JSON file holds, the header of a file of tensors, {} for every other file.

    A model's own files say nothing: its vocabulary may hold any key. Raises ArtifactError for a file that is not whole.
    """
    if WEIGHTS in Path(path).parts:
        return {}
    if path.endswith(".json"):
        return read_json(base / path)
    with reading(base / path, "a whole file of tensors"):
        return _read_header(base / path) if path.endswith(".safetensors") else {}


def _read_header(path: Path) -> dict[str, Any]:
    """Return the pipeline's own header of a file of tensors, {} where it has none; without a library of tensors."""
    with path.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        metadata = json.loads(stream.read(min(size, path.stat().st_size))).get("__metadata__", {})
    return json.loads(metadata.get("header", "{}"))


def find(content: Any, key: str) -> Iterator[Any]:
    """Yield what `key` holds in a value of JSON, at any depth, but not inside of what it holds."""
    if isinstance(content, list):
        for value in content:
            yield from find(value, key)
    elif isinstance(content, dict):
        for name, value in content.items():
            yield from [value] if name == key else find(value, key)


def is_manifest(content: Any) -> bool:
    """Return whether this is what a model's manifest holds."""
    return isinstance(content, dict) and {"architecture", "files", "model"} <= content.keys()


def tell(path: str, content: Any) -> Told:
    """Return what a file, and every record in it, names; content: what `read_record` returns for the path.

    Raises TypeError where a key of a record holds something else than it should.
    """
    same = _same(content) if _is_record(content) else None
    told = Told({}, [], [], same, [(key, _same(copy)) for key, copy in _copies(content)])
    if is_manifest(content):
        folder = Path(path).parent / WEIGHTS
        told.digests.update({(folder / name).as_posix(): sha256 for name, sha256 in texts(content["files"]).items()})
    for record in _records(content):
        told.digests.update(texts(record.get(DIGESTS, {})))
        code = record.get(CODE, {})
        told.codes.extend(texts(code if isinstance(code, dict) else {CODE: code}).values())
        told.unnamed.extend(_unnamed(record) if CODE in record else [])
    return told


def texts(content: Any) -> Mapping[str, str]:
    """Return an object of JSON that holds nothing but texts; raises TypeError for any other value."""
    if not isinstance(content, Mapping):
        raise TypeError(f"{content!r:.40} is no object of texts")
    for name, value in content.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} is {value!r:.40}, no text")
    return content


def _is_record(content: Any) -> bool:
    """Return whether this is a job's record, or counts with one."""
    record = content.get("record", content) if isinstance(content, dict) else None
    return isinstance(record, dict) and CODE in record and any(kind in record for kind in LABELS)


def _same(record: Any) -> str:
    return digest_text(json.dumps(record, sort_keys=True))


def _copies(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield (key, record) of the records that a file's own record holds; what these hold is for their own files."""
    own = content.get("provenance", content.get("record", content)) if isinstance(content, dict) else {}
    for key, value in own.items() if isinstance(own, dict) else ():
        copies = value if isinstance(value, list) else [value]
        yield from ((key, copy) for copy in copies if _is_record(copy))


def _records(content: Any) -> Iterator[dict[str, Any]]:
    """Yield every object that names files or code, at any depth."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and (DIGESTS in value or CODE in value):
            yield value
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += [one for one in inner if isinstance(one, dict | list)]


def _unnamed(record: Mapping[str, Any]) -> list[str]:
    """Return the labels of inputs and outputs whose digest is that of no file that the record names by path.

    A label may be that of a folder, of which the record names the files.
    """
    named = record.get(DIGESTS, {})
    labels = {f"{kind}/{name}": sha256 for kind in LABELS for name, sha256 in texts(record.get(kind, {})).items()}
    missing = {label: sha256 for label, sha256 in labels.items() if sha256 not in named.values()}
    folders = _folders(named) if missing else set()
    return [label for label, sha256 in missing.items() if sha256 not in folders]


def _folders(named: Mapping[str, str]) -> set[str]:
    """Return the digests of all folders that these files lie in, as `artifacts.digest` gives them."""
    inside: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {}
    for parts, sha256 in sorted((tuple(path.split("/")), sha256) for path, sha256 in named.items()):
        for depth in range(1, len(parts)):
            inside.setdefault(parts[:depth], []).append((parts[depth:], sha256))
    return {
        digest_text("".join(f"{'/'.join(name)}\0{sha256}\n" for name, sha256 in files)) for files in inside.values()
    }
