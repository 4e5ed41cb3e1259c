"""Whether the files behind a table are those that were recorded: from its provenance on, as deep as records go."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from slmcollab.artifacts import ArtifactError, digest, read_json
from slmcollab.digests import DIGESTS
from slmcollab.report.provenance import KEY, RECORDED

WEIGHTS = "weights"  # the folder beside a model's manifest, which holds the files that the manifest lists
EVERY = "every cell"
Cells = frozenset[str]


class Fault(NamedTuple):
    """A file that is not as recorded; cells: those of the table that depend on it."""

    path: str
    told: str
    cells: Cells


class Check(NamedTuple):
    """What a verification found; files: path -> sha256 of all that it read, as the records name them."""

    files: dict[str, str]
    faults: list[Fault]


def verify(provenance: Path, base: Path) -> Check:
    """Recompute every digest that a table's provenance leads to; base: the folder that its paths are relative to.

    A file that is as recorded is read for the digests of what it came from in turn: records, manifests, headers of
    features. What lies behind a file that differs is checked only as far as other files lead to it. Raises
    ArtifactError where the provenance is none, or its paths do not lead from `base` to the table beside it.
    """
    record = _read_provenance(provenance)
    table = record["table"]["path"]
    if (base / table).parent.resolve() != provenance.parent.resolve():
        raise ArtifactError(f"{provenance}: tells of {table}: its folder has to have the name that it had")
    found: dict[str, str | None] = {}
    behind: dict[str, dict[str, str]] = {}
    wrong: dict[tuple[str, str], str] = {}
    roots = dict(_roots(record))
    waiting = [(path, sha256, provenance.name) for (path, sha256) in roots]
    while waiting:
        path, sha256, by = waiting.pop()
        if path not in found:
            found[path] = _digest(base / path)
        if found[path] != sha256:
            wrong.setdefault((path, sha256), by)
        elif path not in behind:
            behind[path] = dict(read_digests(base, path))
            waiting += [(inner, recorded, path) for inner, recorded in behind[path].items()]
    of_cells = _cells(roots, behind)
    faults = [
        Fault(path, f"recorded {sha256} by {by}, found {found[path] or 'no such file'}", of_cells[path])
        for (path, sha256), by in sorted(wrong.items())
    ]
    faults += _silent(record, base, behind, provenance.name)
    return Check({path: sha256 for path, sha256 in found.items() if sha256}, faults)


def read_digests(base: Path, path: str) -> Iterator[tuple[str, str]]:
    """Yield (path, sha256) of all that a file says it came from: none for a file that says nothing."""
    if path.endswith(".json"):
        content = read_json(base / path)
        if is_manifest(content):
            folder = Path(path).parent / WEIGHTS
            yield from (((folder / name).as_posix(), sha256) for name, sha256 in content["files"].items())
        yield from digests_in(content)
    elif path.endswith(".safetensors"):
        yield from digests_in(_read_header(base / path))


def digests_in(content: Any) -> Iterator[tuple[str, str]]:
    """Yield (path, sha256) of all that a record, and every record in it, names."""
    for named in find(content, DIGESTS):
        yield from named.items()


def find(content: Any, key: str) -> Iterator[Any]:
    """Yield what `key` holds in a value of JSON, at any depth, but not inside of what it holds."""
    if isinstance(content, list):
        for value in content:
            yield from find(value, key)
    elif isinstance(content, dict):
        for name, value in content.items():
            yield from [value] if name == key else find(value, key)


def read_manifests(provenance: Path, base: Path) -> list[dict[str, Any]]:
    """Return the manifests of all models that a table's provenance leads to, by name; computes no digests."""
    seen: set[str] = set()
    waiting = [path for (path, _), _ in _roots(_read_provenance(provenance))]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += [inner for inner, _ in read_digests(base, path)]
    read = [read_json(base / path) for path in seen if path.endswith(".json")]
    return sorted(filter(is_manifest, read), key=lambda manifest: manifest["model"])


def is_manifest(content: Any) -> bool:
    """Return whether this is what a model's manifest holds."""
    return isinstance(content, dict) and {"architecture", "files", "model"} <= content.keys()


def _read_provenance(path: Path) -> dict[str, Any]:
    record = read_json(path)
    absent = {"cells", "published", "table", "tables"} - set(record if isinstance(record, dict) else ())
    if absent:
        raise ArtifactError(f"{path}: not the provenance of a table, it lacks {sorted(absent)}: make the table again")
    return record


def _roots(record: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Cells]]:
    """Yield ((path, sha256), the cells that come from it) of the files that the provenance itself names."""
    of_files: dict[tuple[str, str], set[str]] = {}
    for one in [record["table"], *record["tables"], *record["published"]]:
        of_files.setdefault((one["path"], one["sha256"]), set()).add(EVERY)
    for cell in record["cells"]:
        for one in cell["scores"]:
            of_files.setdefault((one["path"], one["sha256"]), set()).add(" ".join(cell[key] for key in ("paper", *KEY)))
    yield from ((file, frozenset(cells)) for file, cells in of_files.items())


def _cells(roots: Mapping[tuple[str, str], Cells], behind: Mapping[str, Mapping[str, str]]) -> dict[str, Cells]:
    """Return path -> the cells that come from it, directly or through others."""
    found: dict[str, set[str]] = {}
    waiting = [(path, cells) for (path, _), cells in roots.items()]
    while waiting:
        path, cells = waiting.pop()
        if not cells <= found.setdefault(path, set()):
            found[path] |= cells
            waiting += [(inner, cells) for inner in behind.get(path, {})]
    return {path: frozenset(cells) for path, cells in found.items()}


def _silent(
    record: Mapping[str, Any], base: Path, behind: Mapping[str, Mapping[str, str]], name: str
) -> Iterator[Fault]:
    """Yield a fault for every scores file that leads nowhere, or of which the provenance tells something else."""
    for cell in record["cells"]:
        about = frozenset([" ".join(cell[key] for key in ("paper", *KEY))])
        for one in cell["scores"]:
            content = read_json(base / one["path"]) if one["path"] in behind else {}
            if content and not behind[one["path"]]:
                yield Fault(one["path"], "does not say what it came from", about)
            if content and any(one.get(key) != content.get(key) for key in RECORDED[cell["paper"]]):
                yield Fault(name, f"tells other things of {one['path']} than that file itself", about)


def _digest(path: Path) -> str | None:
    return digest(path) if path.is_file() else None


def _read_header(path: Path) -> dict[str, Any]:
    """Return the pipeline's own header of a file of tensors, {} where it has none; without a library of tensors."""
    with path.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        metadata = json.loads(stream.read(size)).get("__metadata__", {})
    return json.loads(metadata.get("header", "{}"))
