"""Outputs and code are held against the record of a run: what is gone, changed, unlisted or made by other code."""

import json

import pytest
from edited import refusals

from slmcollab.artifacts import ArtifactError, digest, write_json
from slmcollab.code_digest import code_digest, modules, read_module
from slmcollab.report.page import table_page
from slmcollab.report.record_check import check_code, check_outputs, check_record
from slmcollab.report.run_record import NAME, crate

FILES = ("config.json", "slices/figure3.pdf", "table1.csv", "table1.html")
LISTED = f"not in {NAME}"


def entities_of(files=(), codes=()):
    told = {"date": "2026-01-02", "models": [], "data": [], "packages": {}, "seeds": {}, "jobs": [], "commit": None}
    made = crate(files=dict(files), codes=dict(codes), **told)
    return {one["@id"]: one for one in json.loads(json.dumps(made))["@graph"]}


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    (folder / "slices").mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text("a,b\n1,x\n")
    (folder / "table1.html").write_text(table_page("a,b\n1,x\n", "table1"))
    (folder / "notes.csv").write_text("made by hand\n")
    return folder


@pytest.fixture
def entities(results):
    return entities_of({name: digest(results / name) for name in FILES})


def told(results, entities):
    return {fault.path: fault.told for fault in check_outputs(results, entities)[1]}


def test_outputs_that_are_as_recorded_are_read_and_no_fault(results, entities):
    found, faults = check_outputs(results, entities)
    assert (found, faults) == ({f"results/{name}": digest(results / name) for name in FILES}, [])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("lost", [False, True])
def test_one_byte_of_any_output_and_any_lost_one_is_noticed(results, entities, name, lost):
    path = results / name
    before, content = digest(path), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink() if lost else path.write_bytes(content)
    said = told(results, entities)
    found = "no such file" if lost else digest(path)
    assert said[f"results/{name}"] == f"recorded {before} by {NAME}, found {found}"
    assert len(said) == 1


def test_an_output_that_the_record_does_not_list_is_named_and_no_other_file(results, entities):
    cut = {name: one for name, one in entities.items() if name != "slices/figure3.pdf"}
    assert told(results, cut) == {"results/slices/figure3.pdf": LISTED}
    (results / "musketeers").mkdir()
    (results / "musketeers/figure4.png").write_text("")
    (results / NAME).write_text("{}")
    assert told(results, entities) == {"results/musketeers/figure4.png": LISTED}


@pytest.mark.parametrize("text", ["a,b\n2,x\n", "a,b\n1,x,y\n", ""])
def test_a_table_or_page_that_was_edited_and_recorded_again_is_named(results, text):
    (results / "table1.csv").write_text(text)
    again = entities_of({name: digest(results / name) for name in FILES})
    assert told(results, again) == {"results/table1.html": "not the page of the table beside it"}


@pytest.fixture
def package(tmp_path):
    """A package of two modules, the record of what they made, and what files say that they were made with."""
    (tmp_path / "slmcollab").mkdir()
    for name in ("one", "two"):
        (tmp_path / f"slmcollab/{name}.py").write_text(f"X = '{name}'\n")
    codes = {name: code_digest(f"slmcollab.{name}", root=tmp_path) for name in ("one", "two")}
    both = code_digest("slmcollab.one", "slmcollab.two", root=tmp_path)
    known = {"train": {codes["one"]: ["slmcollab.one"], both: ["slmcollab.one", "slmcollab.two"]}}
    known["plot"] = {codes["two"]: ["slmcollab.two"]}
    return tmp_path, entities_of(codes=known), {codes["one"]: "results/a/run.json", both: "results/b/run.json"}


def edit(root, name, text):
    """Replace a module, which this process read before."""
    path = root / f"slmcollab/{name}.py"
    path.write_text(text) if text else path.unlink()
    for cached in (code_digest, modules, read_module):
        cached.cache_clear()


def test_code_that_is_still_the_same_is_no_fault(package):
    root, entities, used = package
    assert check_code(entities, used, root) == []
    edit(root, "one", "X = 'one'  # a comment\n")
    assert check_code(entities, used, root) == []


@pytest.mark.parametrize("text", ["X = 2\n", None])
def test_an_edit_names_the_rules_whose_code_it_is(package, text):
    root, entities, used = package
    edit(root, "two", text)
    assert [str(fault) for fault in check_code(entities, used, root)] == [
        "rule plot: ran with other code of slmcollab.two than there is now",
        "rule train: ran with other code of slmcollab.one slmcollab.two than there is now",
    ]


def test_code_of_no_rule_is_named_with_a_file_that_it_made(package):
    root, entities, used = package
    (fault,) = check_code(entities, {**used, "f00": "results/c/run.json"}, root)
    assert str(fault) == f"results/c/run.json: made with code f00, which is of no rule in {NAME}"


def test_a_record_that_is_missing_is_a_fault_of_the_run_and_none_of_its_code(results, tmp_path):
    files, (missing,), other_code = check_record(results, {}, tmp_path)
    assert (files, other_code, missing.path) == ({}, [], f"results/{NAME}")
    assert missing.told.startswith("no such file")
    assert "made by rule write_run_record" in missing.told


@pytest.mark.parametrize("graph", [[{"@id": "./"}], [], {}, 3, [3], [{"name": "x"}], [{"@id": []}]])
def test_a_file_that_is_no_record_is_refused(results, tmp_path, graph):
    write_json(results / NAME, {"@graph": graph})
    with pytest.raises(ArtifactError, match=r"ro-crate-metadata\.json: not the record of a run"):
        check_record(results, {}, tmp_path)


def test_a_record_that_was_edited_anywhere_is_checked_or_refused_and_ends_in_no_other_error(package, results):
    root, entities, used = package
    entities = entities_of({"table1.csv": digest(results / "table1.csv")}) | entities
    write_json(results / NAME, {"@graph": list(entities.values())})
    said = refusals(results / NAME, lambda: check_record(results, used, root))
    assert said
    assert all(text.startswith(f"{results / NAME}: not ") for text in said)
