"""Whether the files behind a table are those that were recorded: from its provenance on, as deep as records go."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from slmcollab.artifacts import ArtifactError, digest, read_json
from slmcollab.report.faults import EVERY, Cells, Fault
from slmcollab.report.provenance import RECORDED, name_of
from slmcollab.report.records import Told, is_manifest, read_record, reading, tell, texts
from slmcollab.report.shown import check_shown

KIND = "the provenance of a table"


class TableCheck(NamedTuple):
    """What a verification found; files: path -> sha256 of all that it read, as the records name them.

    codes: digest of code -> a file that says it was made with it.
    """

    files: dict[str, str]
    faults: list[Fault]
    codes: dict[str, str]


@dataclass
class _Chain:
    """What was found on the way: digests of files, what is wrong, and what each tells that is as recorded."""

    found: dict[str, str | None] = field(default_factory=dict)
    wrong: dict[tuple[str, str], str] = field(default_factory=dict)  # (path, recorded sha256) -> by which file
    told: dict[str, Told] = field(default_factory=dict)

    def follow(self, base: Path, roots: Mapping[tuple[str, str], Cells], by: str) -> None:
        waiting = [(path, sha256, by) for path, sha256 in roots]
        while waiting:
            path, sha256, by = waiting.pop()
            if path not in self.found:
                self.found[path] = digest_of(base / path)
            if self.found[path] != sha256:
                self.wrong.setdefault((path, sha256), by)
            elif path not in self.told:
                with reading(base / path, "what a job records"):
                    self.told[path] = tell(path, read_record(base, path))
                waiting += [(inner, recorded, path) for inner, recorded in self.told[path].digests.items()]

    def gaps(self) -> Iterator[tuple[str, str]]:
        """Yield (path, label or key) of what a file has the digest or a copy of, and names no path of."""
        for path, told in self.told.items():
            yield from ((path, label) for label in dict.fromkeys(told.unnamed))
            records = {name for name in told.digests if name.endswith(".json")}
            if records <= self.told.keys():
                known = {self.told[name].same for name in records}
                yield from ((path, key) for key, same in told.copies if same not in known)


def verify(provenance: Path, base: Path) -> TableCheck:
    """Recompute every digest that a table's provenance leads to; base: the folder that its paths are relative to.

    A file that is as recorded is read for the digests of what it came from in turn: records, manifests, headers of
    features. What lies behind a file that differs is checked only as far as other files lead to it. The table has to
    show the cells, seeds and means that the provenance and the scores tell of, see `check_shown`. Raises ArtifactError
    where the provenance or a file behind it has not the form that it should have, and where the paths do not lead from
    `base` to the table beside the provenance.
    """
    record, roots = _read_provenance(provenance)
    table, chain = record["table"]["path"], _Chain()
    with reading(provenance, KIND):
        codes = dict.fromkeys(tell(provenance.name, record).codes, provenance.name)
        beside = (base / table).parent.resolve() == provenance.parent.resolve()
    if not beside:
        raise ArtifactError(f"{provenance}: tells of {table}: its folder has to have the name that it had")
    chain.follow(base, roots, provenance.name)
    of_cells = _cells(roots, {path: told.digests for path, told in chain.told.items()})
    faults = [
        Fault(path, f"recorded {sha256} by {by}, found {chain.found[path] or 'no such file'}", of_cells[path])
        for (path, sha256), by in sorted(chain.wrong.items())
    ]
    faults += [Fault(path, f"names no path of its {label}", of_cells[path]) for path, label in chain.gaps()]
    faults += check_shown(record, provenance.name, base, chain.told.keys())
    codes |= {code: path for path, told in chain.told.items() for code in told.codes}
    return TableCheck({path: sha256 for path, sha256 in chain.found.items() if sha256}, faults, codes)


def read_manifests(provenance: Path, base: Path) -> list[dict[str, Any]]:
    """Return the manifests of all models that a table's provenance leads to, by name; computes no digests."""
    seen: dict[str, Any] = {}
    waiting = [path for path, _ in _read_provenance(provenance)[1]]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            with reading(base / path, "what a job records"):
                seen[path] = read_record(base, path)
                waiting += [*tell(path, seen[path]).digests]
    return sorted(filter(is_manifest, seen.values()), key=lambda manifest: manifest["model"])


def digest_of(path: Path) -> str | None:
    """Return the sha256 of a file, None where there is no such file; raises ArtifactError where it cannot be read."""
    with reading(path, "a file that can be read"):
        return digest(path) if path.is_file() else None


def _read_provenance(path: Path) -> tuple[dict[str, Any], dict[tuple[str, str], Cells]]:
    """Return what the provenance says, and (path, sha256) -> the cells that come from it of the files that it names."""
    with reading(path, KIND):
        record = read_json(path)
        absent = {"cells", "published", "table", "tables"} - set(record if isinstance(record, dict) else ())
        if absent:
            raise ArtifactError(f"{path}: not {KIND}, it lacks {sorted(absent)}: make the table again")
        for cell in record["cells"]:
            if cell["paper"] not in RECORDED or not all(isinstance(cell[key], list) for key in ("metrics", "seeds")):
                raise ArtifactError(f"{path}: not {KIND}, {name_of(cell)} has no paper of ours, metrics or seeds")
        return record, {file: frozenset(cells) for file, cells in _roots(record).items()}


def _roots(record: Mapping[str, Any]) -> dict[tuple[str, str], set[str]]:
    of_files: dict[tuple[str, str], set[str]] = {}
    for one in [record["table"], *record["tables"], *record["published"]]:
        of_files.setdefault(_file(one), set()).add(EVERY)
    for cell in record["cells"]:
        for one in cell["scores"]:
            of_files.setdefault(_file(one), set()).add(name_of(cell))
    return of_files


def _file(one: Mapping[str, Any]) -> tuple[str, str]:
    path, sha256 = texts({key: one[key] for key in ("path", "sha256")}).values()
    return path, sha256


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
