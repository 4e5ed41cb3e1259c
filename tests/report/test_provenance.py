"""Where Table 1 comes from: every cell names its files, and what they say of themselves is copied, never made up."""

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.provenance import cell_provenance
from slmcollab.report.rows import format_rows
from slmcollab.report.table1 import table_rows

GRID = {
    "paper": "musketeers",
    "baseline": "single",
    "cells": [{"benchmark": "sums", "method": "single", "team": "none", "seeds": [1, 0]}],
}
METRICS = {"accuracy": 50.0, "accuracy_seen": None, "accuracy_unseen": 50.0, "score_mean": 50.0}


def scores(seed, **changes):
    run = {"code": "aa", "inputs": {"policy": "11"}, "models": {}, "packages": {"torch": "2.13.0"}, "seed": seed}
    run |= {"digests": {"policy.json": "11"}}
    content = {"benchmark": "sums", "method": "single", "team": "none", "seed": seed, "metrics": METRICS}
    content["problems"] = {"q0": {"score": 1.0, "seen": False}, "q1": {"score": 0.0, "seen": False}}
    record = {"run": run, "inputs": {"answers": "22"}, "digests": {"answers.jsonl": "22"}, "code": {"answers": "aa"}}
    return content | {"policy": "toy_policy", "experts": [], "provenance": record} | changes


FILES, DIGESTS = {"r/0.json": scores(0), "r/1.json": scores(1)}, {"r/0.json": "d0", "r/1.json": "d1"}


def rows(files):
    return format_rows(table_rows(files, GRID, {}))


def test_a_cell_names_its_files_in_the_order_of_its_seeds():
    (record,) = cell_provenance(rows(FILES), FILES, DIGESTS, GRID)
    assert [record[name] for name in ("paper", "benchmark", "method", "team")] == [
        "musketeers",
        "sums",
        "single",
        "none",
    ]
    assert record["metrics"] == ["accuracy", "accuracy_seen", "accuracy_unseen", "score_mean"]
    assert record["seeds"] == [1, 0]
    assert [(file["path"], file["sha256"], file["seed"]) for file in record["scores"]] == [
        ("r/1.json", "d1", 1),
        ("r/0.json", "d0", 0),
    ]
    assert record["scores"][0]["provenance"] == scores(1)["provenance"]
    assert (record["scores"][0]["policy"], record["scores"][0]["experts"]) == ("toy_policy", [])


@pytest.mark.parametrize(
    ("changes", "lacking"),
    [
        ({"provenance": {}}, "provenance.run"),
        ({"provenance": {"run": {"code": "a", "inputs": {}}, "inputs": {}, "code": "b"}}, "provenance.run.models"),
        ({"provenance": {"run": {}, "inputs": {}, "code": {}}}, "'provenance.digests'"),
    ],
)
def test_a_file_that_does_not_say_where_it_comes_from_is_refused(changes, lacking):
    files = FILES | {"r/1.json": scores(1, **changes)}
    with pytest.raises(ArtifactError, match=rf"^r/1\.json: .*{lacking}"):
        cell_provenance(rows(files), files, DIGESTS, GRID)


def test_a_cell_that_the_table_does_not_have_is_refused():
    with pytest.raises(ArtifactError, match="no row for musketeers"):
        cell_provenance([], FILES, DIGESTS, GRID)


def test_a_cell_without_seeds_has_a_record_without_files():
    missing = {"benchmark": "sums", "method": "text", "team": "toy", "seeds": []}
    grid = GRID | {"cells": [*GRID["cells"], missing]}
    record = cell_provenance(format_rows(table_rows(FILES, grid, {})), FILES, DIGESTS, grid)[1]
    assert (record["method"], record["seeds"], record["scores"]) == ("text", [], [])
