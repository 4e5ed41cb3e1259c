"""Whether the outputs and the code of a run are still those that the record of the run tells of."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from slmcollab.artifacts import ArtifactError, digest, read_json, read_text
from slmcollab.code_digest import code_digest
from slmcollab.made_by import advice, made_by
from slmcollab.report.faults import Fault
from slmcollab.report.page import table_page
from slmcollab.report.records import reading
from slmcollab.report.run_record import CODE_OF, FORMATS, NAME, RULE

Entities = Mapping[str, Mapping[str, Any]]


class RecordCheck(NamedTuple):
    """What a check of a record found; files: path -> sha256 of the outputs, which begins with their folder's name.

    other_code: what was made with other code than there is now, or with code that no rule of the record has.
    """

    files: dict[str, str]
    faults: list[Fault]
    other_code: list[Fault]


def check_record(folder: Path, used: Mapping[str, str], root: Path) -> RecordCheck:
    """Hold outputs and code against the record of a run, NAME in the folder of its results.

    Returns what `check_outputs` and `check_code` find; a record that is missing is a fault and the only one, since
    neither can be checked without it. Raises ArtifactError where there is a file and it is no record of a run.
    """
    path = folder / NAME
    if not path.is_file():
        missing = f"no such file, so code and other outputs than those of table 1 are not checked{advice(path)}"
        return RecordCheck({}, [Fault(f"{folder.name}/{NAME}", missing)], [])
    with reading(path, "the record of a run"):
        entities = {one["@id"]: one for one in read_json(path, "@graph")["@graph"]}
        if NAME not in entities:
            raise ArtifactError(f"{path}: not the record of a run, it does not describe {NAME}")
        return RecordCheck(*check_outputs(folder, entities), check_code(entities, used, root))


def check_outputs(folder: Path, entities: Entities) -> tuple[dict[str, str], list[Fault]]:
    """Return (path -> sha256 of the outputs, faults).

    A fault is an output that is gone, or not as the record lists it, or not in the record at all, and a page that is
    not that of the table beside it.
    """
    listed = {name: one["sha256"] for name, one in entities.items() if one["@type"] == "File"}
    found = {name: digest(folder / name) for name in listed if (folder / name).is_file()}
    told = {
        name: f"recorded {sha256} by {NAME}, found {found.get(name, 'no such file')}"
        for name, sha256 in listed.items()
        if found.get(name) != sha256
    }
    told |= {name: f"not in {NAME}" for name in _made(folder) if name not in listed and name != NAME}
    pages = [name for name in found if name.endswith(".html") and {name, name[:-4] + "csv"}.isdisjoint(told)]
    told |= {name: "not the page of the table beside it" for name in pages if not _is_page(folder / name)}
    faults = [Fault(f"{folder.name}/{name}", said) for name, said in sorted(told.items())]
    return {f"{folder.name}/{name}": sha256 for name, sha256 in found.items()}, faults


def _made(folder: Path) -> list[str]:
    """Return the tables, figures and records that lie in the folder or in a paper's."""
    files = [*folder.glob("*.*"), *folder.glob("*/*.*")]
    made = [file for file in files if file.suffix.removeprefix(".") in FORMATS and made_by(file)]
    return [file.relative_to(folder).as_posix() for file in made]


def _is_page(page: Path) -> bool:
    table = page.with_suffix(".csv")
    try:
        return page.read_text("utf-8") == table_page(read_text(table), table.stem)
    except (ValueError, csv.Error):  # no table, or none beside it
        return False


def check_code(entities: Entities, used: Mapping[str, str], root: Path) -> list[Fault]:
    """Return a fault for every code of a rule that is another one now, and for what was made with code of no rule.

    used: digest of code -> a file that says it was made with it; root: the folder that holds the package.
    """
    codes = [
        (name.removeprefix(RULE).partition("/")[0], one["name"].removeprefix(CODE_OF), one["value"])
        for name, one in entities.items()
        if name.startswith(RULE) and one["name"].startswith(CODE_OF)
    ]
    faults = [
        Fault(f"rule {rule}", f"ran with other code of {modules} than there is now")
        for rule, modules, sha256 in codes
        if _code_now(modules, root) != sha256
    ]
    known = {sha256 for _, _, sha256 in codes}
    strange = [(path, code) for code, path in used.items() if code not in known]
    return faults + [Fault(path, f"made with code {code}, which is of no rule in {NAME}") for path, code in strange]


def _code_now(modules: str, root: Path) -> str | None:
    try:
        return code_digest(*modules.split(), root=root)
    except ValueError:  # a module that is gone
        return None
