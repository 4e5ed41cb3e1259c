"""Every digest behind a table is recomputed: through scores, records, manifests and the headers of features."""

from pathlib import Path

import pytest
import torch
from edited import refusals

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json
from slmcollab.digests import digests
from slmcollab.experts.features import write_features
from slmcollab.report.faults import EVERY, Fault
from slmcollab.report.provenance import refer
from slmcollab.report.run_record import NAME
from slmcollab.report.verification import read_manifests, verify
from slmcollab.steps import verify_provenance

HEADER = {"expert": "toy", "id": "", "revision": "", "code": "abc", "truncated": "0"}
ONE, TWO = "musketeers sums single none", "musketeers sums hidden_state toy"
TABLE = """\
paper,benchmark,method,team,metric,mean,std,n_seeds
musketeers,sums,single,none,accuracy,50.00,,1
musketeers,sums,hidden_state,toy,accuracy,50.00,,1
"""


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A table of two cells; behind both a run on the same problems, behind the second one an expert too."""
    monkeypatch.chdir(tmp_path)
    folder = (tmp_path / "made").relative_to(tmp_path)
    (folder / "weights").mkdir(parents=True)
    for name in ("table.csv", "own.csv"):
        (folder / name).write_text(TABLE)
    for name in ("published.csv", "problems.jsonl", "corpus.jsonl", "weights/model.bin"):
        (folder / name).write_text(f"{name}\n")
    files = {"model.bin": digest(folder / "weights/model.bin")}
    manifest = {"architecture": "Toy", "model": "toy", "files": files, **digests(folder / "corpus.jsonl")}
    write_json(folder / "manifest.json", manifest)
    header = HEADER | digests(folder / "manifest.json")
    write_features(folder / "toy.safetensors", {"last_token": torch.ones(1, 2)}, header, ["x"])
    cells = [scored(folder, "single", "none", []), scored(folder, "hidden_state", "toy", [folder / "toy.safetensors"])]
    record = {"table": "table.csv", "tables": ["own.csv"], "published": ["published.csv"]}
    referred = {kind: [refer(folder / name) for name in named] for kind, named in record.items() if kind != "table"}
    write_json(folder / "provenance.json", {"table": refer(folder / "table.csv"), **referred, "cells": cells})
    return folder


def scored(folder, method, team, features):
    """Write a run and its scores; return the record of the cell."""
    run, scores = folder / f"{method}.run.json", folder / f"{method}.json"
    problems = folder / "problems.jsonl"
    ran = {"seed": 0, "code": f"code of {method}", "inputs": {"problems": digest(problems)}}
    write_json(run, ran | digests(problems, *features))
    origin = {"run": read_json(run), "code": {"answers": ran["code"]}, **digests(run, problems)}
    told = {"policy": "toy", "experts": [], "seed": 0, "provenance": origin}
    key = {"benchmark": "sums", "method": method, "team": team}
    write_json(scores, {**key, **told, "metrics": {"accuracy": 50.0}})
    return {"paper": "musketeers", **key, "metrics": ["accuracy"], "seeds": [0], "scores": [{**refer(scores), **told}]}


BEHIND = {
    "table.csv": {EVERY},
    "own.csv": {EVERY},
    "published.csv": {EVERY},
    "single.json": {ONE},
    "hidden_state.json": {TWO},
    "single.run.json": {ONE},
    "hidden_state.run.json": {TWO},
    "problems.jsonl": {ONE, TWO},
    "toy.safetensors": {TWO},
    "manifest.json": {TWO},
    "weights/model.bin": {TWO},
    "corpus.jsonl": {TWO},
}


def check(results):
    return verify(results / "provenance.json", results.parent)


def test_all_that_was_recorded_is_read(results):
    found = check(results)
    assert found.faults == []
    assert found.files == {str(results / name): digest(results / name) for name in BEHIND}
    assert found.codes == {
        "code of single": str(results / "single.run.json"),
        "code of hidden_state": str(results / "hidden_state.run.json"),
        "abc": str(results / "toy.safetensors"),
    }


@pytest.mark.parametrize("name", BEHIND)
@pytest.mark.parametrize("lost", [False, True])
def test_a_changed_or_lost_file_is_named_with_the_cells_that_depend_on_it(results, name, lost):
    path = results / name
    before, content = digest(path), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink() if lost else path.write_bytes(content)
    (fault,) = check(results).faults
    assert (fault.path, fault.cells) == (str(path), BEHIND[name])
    assert fault.told.startswith(f"recorded {before} by ")
    assert fault.told.endswith("found no such file" if lost else f"found {digest(path)}")


def test_two_records_that_disagree_are_both_held_against_the_file(results):
    again = read_json(results / "manifest.json")
    again["digests"][str(results / "problems.jsonl")] = "0" * 64
    write_json(results / "manifest.json", again)
    header = HEADER | digests(results / "manifest.json")
    write_features(results / "toy.safetensors", {"last_token": torch.ones(1, 2)}, header, ["x"])
    cells = [
        scored(results, "single", "none", []),
        scored(results, "hidden_state", "toy", [results / "toy.safetensors"]),
    ]
    write_json(results / "provenance.json", read_json(results / "provenance.json") | {"cells": cells})
    (fault,) = check(results).faults
    assert (fault.path, fault.cells) == (str(results / "problems.jsonl"), {ONE, TWO})
    assert f"recorded {'0' * 64} by {results / 'manifest.json'}" in fault.told


def test_scores_that_lead_nowhere_or_say_other_things_than_the_provenance_are_faults(results):
    record = read_json(results / "provenance.json")
    record["cells"][0]["scores"][0]["policy"] = "another"
    silent = read_json(results / "hidden_state.json") | {"provenance": {}}
    write_json(results / "hidden_state.json", silent)
    record["cells"][1]["scores"][0] |= {**refer(results / "hidden_state.json"), "provenance": {}}
    write_json(results / "provenance.json", record)
    other, nowhere = check(results).faults
    assert (other.path, other.cells) == ("provenance.json", {ONE})
    assert other.told == f"tells other things of {results / 'single.json'} than that file itself"
    assert nowhere == (str(results / "hidden_state.json"), "does not say what it came from", {TWO})


def test_what_is_no_provenance_is_refused(results):
    with pytest.raises(ArtifactError, match=r"single\.json: not the provenance of a table.*make the table again"):
        verify(results / "single.json", results.parent)
    with pytest.raises(ArtifactError, match="no such file"):
        verify(results / "absent.json", results.parent)
    (results / "list.json").write_text("[]")
    with pytest.raises(ArtifactError, match=r"list\.json: not the provenance of a table"):
        verify(results / "list.json", results.parent)


@pytest.mark.parametrize(
    "name", ["provenance.json", "single.json", "hidden_state.json", "single.run.json", "manifest.json"]
)
def test_a_file_that_was_edited_anywhere_is_checked_or_refused_and_ends_in_no_other_error(results, monkeypatch, name):
    recorded = {path: digest(path) for path in results.rglob("*") if path.is_file()}
    monkeypatch.setattr("slmcollab.report.verification.digest_of", recorded.get)  # as if recorded again
    said = refusals(results / name, lambda: verify(results / "provenance.json", Path()))
    assert said
    assert all(text.startswith(f"{results / name}: ") for text in said)


def test_a_provenance_that_nests_too_deep_is_refused(results):
    (results / "provenance.json").write_text("[" * 100_000)
    with pytest.raises(ArtifactError, match=r"provenance\.json: not the provenance of a table \(RecursionError"):
        check(results)


def test_the_step_fails_without_the_record_of_the_run_whatever_code_is_taken(results, capsys):
    (results / "provenance.json").rename(results / verify_provenance.NAME)
    for any_code in (True, False):
        with pytest.raises(SystemExit, match="1"):
            verify_provenance.main(results, any_code=any_code)
        fault, summary = capsys.readouterr().out.splitlines()
        assert fault.startswith(f"made/{NAME}: no such file, so code and other outputs")
        assert "12 files checked, 1 not as recorded; " in summary


def test_a_folder_of_another_name_is_refused_since_paths_begin_with_it(results):
    other = results.rename(results.with_name("other"))
    with pytest.raises(ArtifactError, match=r"tells of made/table\.csv: its folder has to have the name that it had"):
        verify(other / "provenance.json", other.parent)


def test_manifests_are_found_however_deep(results):
    assert read_manifests(results / "provenance.json", results.parent) == [read_json(results / "manifest.json")]


def test_a_file_that_a_record_names_by_label_alone_is_missed(results):
    run = read_json(results / "single.run.json")
    del run["digests"][str(results / "problems.jsonl")]
    write_json(results / "single.run.json", run)
    record = read_json(results / "provenance.json")
    scores = read_json(results / "single.json")
    scores["provenance"] |= {"run": run, **digests(results / "single.run.json")}
    write_json(results / "single.json", scores)
    record["cells"][0]["scores"][0] |= {**refer(results / "single.json"), "provenance": scores["provenance"]}
    write_json(results / "provenance.json", record)
    told = {(fault.path, fault.told) for fault in check(results).faults}
    silent = "names no path of its inputs/problems"
    assert told == {(str(results / "single.run.json"), silent), (str(results / "single.json"), silent)}


@pytest.mark.parametrize(
    ("key", "cut", "told"),
    [
        ("run", None, "names no path of its run"),
        ("digests", "single.run.json", "names no path of its run"),
        ("code", "answers", "names no record of its answers"),
    ],
)
def test_a_run_of_which_scores_hold_no_true_copy_or_no_path_is_missed(results, key, cut, told):
    scores, record = read_json(results / "single.json"), read_json(results / "provenance.json")
    if key == "digests":
        del scores["provenance"]["digests"][str(results / cut)]
    else:
        scores["provenance"][key] |= {cut or "seed": "1"}
    write_json(results / "single.json", scores)
    record["cells"][0]["scores"][0] |= {**refer(results / "single.json"), "provenance": scores["provenance"]}
    write_json(results / "provenance.json", record)
    assert Fault(str(results / "single.json"), told, frozenset([ONE])) in check(results).faults


def test_a_fault_is_one_line_that_ends_in_what_rests_on_it():
    assert str(Fault("a.json", "cut", frozenset([TWO, ONE]))) == f"a.json: cut; behind {TWO}; {ONE}"
    assert str(Fault("a.json", "cut", frozenset([TWO, EVERY]))) == "a.json: cut; behind every cell"
    assert str(Fault("a.json", "cut")) == "a.json: cut"
