"""A table, its provenance and its scores files tell of the same cells, seeds and numbers, or what differs is named."""

import copy
import json

import pytest

from slmcollab.artifacts import ArtifactError, read_json, write_json
from slmcollab.report.faults import EVERY
from slmcollab.report.shown import check_shown

SINGLE, TEAM, LEFT = "musketeers sums single none", "slices sums cl none", "slices sums mad none"
HEAD = "paper,benchmark,method,team,metric,mean,std,n_seeds\n"
# Seeds 40 and 60: mean 50, deviations of 10 each, 200 / (2 - 1), root 14.14; f1 of one seed alone.
OWN = "musketeers,sums,single,none,accuracy,50.00,14.14,2\nmusketeers,sums,single,none,f1,30.00,,1\n"
OTHER = "slices,sums,cl,none,accuracy,100.00,,1\nslices,sums,mad,none,accuracy,,,0\n"


def scored(folder, name, content, paper, seed):
    """Write a run and its scores; return what the provenance says of them."""
    run = {"code": name, "seed": seed}
    write_json(folder / f"{name}.run.json", run)
    told = {"policy": "toy", "experts": []} if paper == "musketeers" else {"models": ["toy"], "stage": "untrained"}
    origin = {"run": run, "code": {"answers": name}, "digests": {f"{name}.run.json": "aa", "text.txt": "cc"}}
    told |= {"seed": seed, "provenance": origin}
    write_json(folder / f"{name}.json", {"benchmark": "sums", **content, **told})
    return {"path": f"{name}.json", "sha256": "bb", **told}


@pytest.fixture
def record(tmp_path):
    (tmp_path / "own.csv").write_text(HEAD + OWN)
    (tmp_path / "other.csv").write_text(HEAD + OTHER)
    (tmp_path / "table.csv").write_text(HEAD + OWN + OTHER)
    keys = [
        dict(zip(("paper", "benchmark", "method", "team"), cell.split(), strict=True)) for cell in (SINGLE, TEAM, LEFT)
    ]
    single = {"method": "single", "team": "none"}
    sources = [
        scored(tmp_path, "s0", {**single, "metrics": {"accuracy": 40.0, "f1": 30.0}}, "musketeers", 0),
        scored(tmp_path, "s1", {**single, "metrics": {"accuracy": 60.0, "f1": None}}, "musketeers", 1),
    ]
    team = [scored(tmp_path, "t0", {"system": "cl", "metrics": {"accuracy": 100.0}}, "slices", 0)]
    cells = [
        {**keys[0], "metrics": ["accuracy", "f1"], "seeds": [0, 1], "scores": sources},
        {**keys[1], "metrics": ["accuracy"], "seeds": [0], "scores": team},
        {**keys[2], "metrics": ["accuracy"], "seeds": [], "scores": []},
    ]
    tables = [{"path": "own.csv"}, {"path": "other.csv"}]
    return {"table": {"path": "table.csv"}, "tables": tables, "published": tables, "cells": cells}


@pytest.fixture
def faults(tmp_path):
    """Return a function: path, text and cells of every fault of a record; `lost` files are not as recorded."""

    def faults(record, *lost):
        whole = {path.name for path in tmp_path.iterdir()} - set(lost)
        return [(one.path, one.told, set(one.cells)) for one in check_shown(record, "from.json", tmp_path, whole)]

    return faults


def test_what_belongs_together_has_no_fault(record, faults):
    assert faults(record) == []


@pytest.mark.parametrize(("index", "cell"), enumerate([SINGLE, TEAM, LEFT]))
def test_a_cell_that_is_cut_out_or_there_twice_is_named(record, faults, index, cell):
    cut, twice = copy.deepcopy(record), copy.deepcopy(record)
    del cut["cells"][index]
    assert faults(cut) == [("from.json", "does not tell of a cell that table.csv shows", {cell})]
    twice["cells"].append(twice["cells"][index])
    assert faults(twice) == [("from.json", "tells twice of a cell", {cell})]


def test_a_cell_that_the_table_does_not_show_is_named(record, faults, tmp_path):
    for name, text in (("table.csv", HEAD + OTHER), ("own.csv", HEAD)):
        (tmp_path / name).write_text(text)
    told = [told for path, told, cells in faults(record) if (path, cells) == ("table.csv", {SINGLE})]
    assert told == ["shows metrics [], not ['accuracy', 'f1'] as from.json and the scores say"]


def test_a_seed_that_is_cut_out_shows_in_every_number_that_it_has_a_part_in(record, faults):
    record["cells"][0]["seeds"].remove(1)
    del record["cells"][0]["scores"][1]
    told = [told.removesuffix(" as from.json and the scores say") for _, told, _ in faults(record)]
    assert told == [
        "shows n_seeds 2 of accuracy, not 1",
        "shows mean 50.00 of accuracy, not 40.00",
        "shows std 14.14 of accuracy, not empty",
    ]


@pytest.mark.parametrize("left", [[0], [1], []])
def test_a_scores_file_that_is_cut_out_and_whose_seed_is_not_is_named(record, faults, left):
    record["cells"][0]["scores"] = [record["cells"][0]["scores"][index] for index in left]
    assert (
        "table.csv",
        f"rests on seeds {left} of its scores files, not [0, 1] as from.json and the scores say",
        {SINGLE},
    ) in faults(record)


def test_a_metric_that_is_cut_out_is_named(record, faults):
    record["cells"][0]["metrics"].remove("f1")
    ((path, told, cells),) = faults(record)
    assert (path, cells) == ("table.csv", {SINGLE})
    assert told == "shows metrics ['accuracy', 'f1'], not ['accuracy'] as from.json and the scores say"


@pytest.mark.parametrize(
    ("text", "other"),
    [("50.00,14.14,2", "51.00,14.14,2"), ("50.00,14.14,2", "50.00,14.15,2"), ("50.00,14.14,2", "50.00,14.14,3")],
)
def test_a_number_that_the_scores_do_not_have_is_named(record, faults, tmp_path, text, other):
    for name in ("own.csv", "table.csv"):
        (tmp_path / name).write_text((tmp_path / name).read_text().replace(text, other))
    ((path, told, cells),) = faults(record)
    assert (path, cells, told.startswith("shows ")) == ("table.csv", {SINGLE}, True)


def test_scores_of_another_cell_are_named(record, faults):
    cells = record["cells"]
    cells[1]["scores"][0]["path"] = cells[1]["scores"][0]["path"].replace("t0", "s0")
    assert ("s0.json", "holds scores of slices sums single none", {TEAM}) in faults(record)


def test_scores_that_name_no_record_of_their_answers_are_named(record, faults, tmp_path):
    write_json(tmp_path / "t0.run.json", {"code": "t1", "seed": 0})
    silent = [("t0.json", "names no record of its answers", {TEAM})]
    assert faults(record) == silent
    assert faults(record, "t0.run.json") == []


def test_a_table_of_a_paper_and_its_published_numbers_cannot_be_cut_out(record, faults):
    joined = ("table.csv", "is not own.csv joined", {EVERY})
    assert faults(record | {"tables": record["tables"][:1]})[0] == joined
    told = "names 2 tables of papers and 1 files of their published numbers"
    assert faults(record | {"published": record["published"][:1]}) == [("from.json", told, {EVERY})]


@pytest.mark.parametrize("column", ["method", "metric", "n_seeds"])
def test_a_table_without_a_column_is_refused(record, faults, tmp_path, column):
    (tmp_path / "table.csv").write_text((HEAD + OWN + OTHER).replace(column, "x", 1))
    with pytest.raises(ArtifactError, match=rf"table\.csv: not a table.* lacks the columns \['{column}'\]"):
        faults(record)


@pytest.mark.parametrize("metrics", [[], {"accuracy": "40"}, {"accuracy": float("nan")}, {"accuracy": [40]}])
def test_scores_that_are_no_numbers_are_refused(record, faults, tmp_path, metrics):
    content = read_json(tmp_path / "s0.json") | {"metrics": metrics}
    (tmp_path / "s0.json").write_text(json.dumps(content))
    with pytest.raises(ArtifactError, match=r"s0\.json: not a scores file"):
        faults(record)


@pytest.mark.parametrize("origin", [None, [], "x", {}])
def test_scores_without_an_origin_are_named(record, faults, tmp_path, origin):
    write_json(tmp_path / "t0.json", read_json(tmp_path / "t0.json") | {"provenance": origin})
    assert ("t0.json", "does not say what it came from", {TEAM}) in faults(record)


def test_a_seed_that_is_counted_twice_is_named_although_the_table_says_so_too(record, faults, tmp_path):
    record["cells"][1] |= {"seeds": [0, 0], "scores": record["cells"][1]["scores"] * 2}
    for name, text in (("table.csv", HEAD + OWN + OTHER), ("other.csv", HEAD + OTHER)):
        (tmp_path / name).write_text(text.replace("100.00,,1", "100.00,0.00,2"))
    assert faults(record) == [("from.json", "tells twice of seed 0", {TEAM})]


def test_files_that_are_not_as_recorded_are_not_read(record, faults, tmp_path):
    for name in ("s0.json", "table.csv", "other.csv"):
        (tmp_path / name).write_text("{")
    assert faults(record, "s0.json", "table.csv", "other.csv") == []
