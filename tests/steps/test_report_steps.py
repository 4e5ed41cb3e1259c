"""The four steps of tables and figures, through their command lines, from small files to exact bytes."""

import json

import jsonschema
import pytest
import tyro

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json
from slmcollab.steps import make_musketeers_table1, make_table1, plot_figure4, write_probe_table

CELL = json.dumps(
    {
        "cells": [
            {"benchmark": "sums", "method": "hidden_state", "team": "toy", "seeds": [0, 1]},
            {"benchmark": "logic", "method": "single", "team": "none", "seeds": [0]},
        ],
        "paper": "musketeers",
    }
)
TABLE = """\
paper,benchmark,method,team,metric,mean,std,n_seeds,published,published_source,difference
musketeers,sums,hidden_state,toy,accuracy,50.00,14.14,2,52.34,page 6,-2.34
musketeers,sums,hidden_state,toy,accuracy_seen,50.00,14.14,2,,,
musketeers,sums,hidden_state,toy,accuracy_unseen,,,0,,,
musketeers,sums,hidden_state,toy,score_mean,50.00,14.14,2,,,
musketeers,logic,single,none,accuracy,12.50,,1,,,
musketeers,logic,single,none,accuracy_seen,12.50,,1,,,
musketeers,logic,single,none,accuracy_unseen,,,0,,,
musketeers,logic,single,none,score_mean,12.50,,1,,,
"""
HEX = {"type": "string", "pattern": "^[0-9a-f]+$"}
TEXTS = {"type": "array", "items": {"type": "string"}}
PATH = {"type": "string", "pattern": "^[^/]"}
DIGESTS = {"type": "object", "additionalProperties": HEX}


def form(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


RUN = {
    "type": "object",
    "properties": {"code": HEX, "inputs": DIGESTS},
    "required": ["code", "inputs", "models", "packages", "seed"],
}
SCORES = form(
    path=PATH,
    sha256=HEX,
    seed={"type": "integer"},
    policy={"type": "string"},
    experts=TEXTS,
    provenance=form(run=RUN, inputs=DIGESTS, code={"type": "object", "additionalProperties": HEX}),
)
NAME = {"type": "string"}
SEEDS = {"type": "array", "items": {"type": "integer"}}
RECORD = form(
    paper=NAME,
    benchmark=NAME,
    method=NAME,
    team=NAME,
    metrics=TEXTS,
    seeds=SEEDS,
    scores={"type": "array", "items": SCORES},
)
SCHEMA = form(
    code=HEX,
    tables={"type": "array", "items": form(path=PATH, sha256=HEX)},
    cells={"type": "array", "items": RECORD},
)


def run_step(step, **options):
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", *([value] if isinstance(value, str) else value)]
    tyro.cli(step.main, args=words)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with three scores files and a published number."""
    monkeypatch.chdir(tmp_path)
    for key, seed, value in (("sums", 0, 40.0), ("sums", 1, 60.0), ("logic", 0, 12.5)):
        method, team = ("hidden_state", "toy") if key == "sums" else ("single", "none")
        metrics = {"accuracy": value, "accuracy_seen": value, "accuracy_unseen": None, "score_mean": value}
        run = {"code": "aa", "inputs": {"policy": "11"}, "models": {}, "packages": {"torch": "2.13.0"}, "seed": seed}
        content = {"benchmark": key, "method": method, "team": team, "seed": seed, "metrics": metrics}
        content |= {"policy": "toy_policy", "experts": ["toy_math"] if key == "sums" else []}
        write_json(tmp_path / f"{key}{seed}.run.json", run)
        content |= {"provenance": {"run": run, "inputs": {"answers": "22"}, "code": {"answers": "aa", "scores": "bb"}}}
        write_json(tmp_path / f"{key}{seed}.json", content)
    (tmp_path / "published.csv").write_text(
        "benchmark,method,team,metric,mean,std,source\nsums,hidden_state,toy,accuracy,52.34,1.78,page 6\n"
    )
    return tmp_path


def make_tables(scores, table="all.csv"):
    run_step(make_musketeers_table1, cell=CELL, scores=scores, published="published.csv", table="one.csv")
    runs = [name.replace(".json", ".run.json") for name in scores]
    joined = {"tables": ["one.csv"], "scores": scores, "runs": runs, "table": table, "provenance": "provenance.json"}
    run_step(make_table1, cell=CELL, code="ab", **joined)


def test_table1_from_scores_to_bytes(folder):
    # 40 and 60: deviations ±10, 200 / (2 - 1), root 14.14; 50 - 52.34 = -2.34.
    make_tables(["logic0.json", "sums1.json", "sums0.json"])
    assert (folder / "one.csv").read_text() == TABLE
    assert (folder / "all.csv").read_text() == TABLE


def test_provenance_has_its_form_and_names_files_by_digest(folder):
    make_tables(["logic0.json", "sums1.json", "sums0.json"])
    record = read_json(folder / "provenance.json")
    jsonschema.validate(record, SCHEMA)
    assert record["tables"] == [{"path": "one.csv", "sha256": digest(folder / "one.csv")}]
    first = record["cells"][0]["scores"]
    assert [(file["path"], file["seed"]) for file in first] == [("sums0.json", 0), ("sums1.json", 1)]
    assert first[1]["sha256"] == digest(folder / "sums1.json")
    before = (folder / "provenance.json").read_bytes()
    make_tables(["sums0.json", "sums1.json", "logic0.json"])
    assert (folder / "provenance.json").read_bytes() == before


def test_scores_of_another_run_than_the_one_on_disk_stop_the_table(folder):
    write_json(folder / "sums1.run.json", {"code": "other"})
    with pytest.raises((ArtifactError, AssertionError), match=r"sums1\.json: scores of another run"):
        make_tables(["sums0.json", "sums1.json", "logic0.json"])
    assert not (folder / "all.csv").exists()


def test_a_missing_seed_stops_the_table_and_leaves_none(folder):
    with pytest.raises(ArtifactError, match=r"sums.*seed 1"):
        make_tables(["logic0.json", "sums0.json"])
    assert not (folder / "one.csv").exists()


def test_absolute_paths_stay_out_of_the_provenance(folder):
    with pytest.raises(ArtifactError, match="relative"):
        make_tables([str(folder / "logic0.json"), "sums1.json", "sums0.json"])


HISTORY = """\
step,reward,reward_without_context,attention_entropy,attention_entropy_prompt,attention_share/a,attention_share/b
1,0.0,0.0,0.6931471805599453,0.6,0.5,0.5
2,0.5,,0.5623351446188083,0.5,0.25,0.75
"""


def figure_cell(**changes):
    run = {"benchmark": "sums", "experts": ["a", "b"], "method": "hidden_state", "seed": 0, "team": "toy"}
    return json.dumps({"runs": [run | changes]})


def plot(cell, name="figure4"):
    outputs = {f"figure_{suffix}": f"{name}.{suffix}" for suffix in ("pdf", "png", "csv")}
    run_step(plot_figure4, cell=cell, histories=["history.csv"], **outputs)


def test_figure4_writes_picture_and_numbers_the_same_each_time(folder):
    (folder / "history.csv").write_text(HISTORY)
    plot(figure_cell())
    plot(figure_cell(), "again")
    for suffix in ("pdf", "png", "csv"):
        assert (folder / f"figure4.{suffix}").read_bytes() == (folder / f"again.{suffix}").read_bytes()
    lines = (folder / "figure4.csv").read_text().splitlines()
    assert lines[:3] == [
        "benchmark,team,seed,step,quantity,expert,value",
        "sums,toy,0,1,attention_share,a,0.500000",
        "sums,toy,0,2,attention_share,a,0.250000",
    ]
    assert lines[-1] == "sums,toy,mean,,spearman_entropy_reward,,-1.000000"


def test_figure4_names_the_history_that_does_not_fit(folder):
    (folder / "history.csv").write_text(HISTORY)
    with pytest.raises(ArtifactError, match=r"^history\.csv: attention shares"):
        plot(figure_cell(experts=["a", "c"]))
    with pytest.raises(ArtifactError, match="1 histories for the 0 runs"):
        plot(json.dumps({"runs": []}))


def test_probe_table_from_probes_to_bytes(folder):
    found = {"accuracy": 0.5, "chance": 0.25, "n_test": 25, "n_train": 75, "reason": None}
    none = {
        "accuracy": None,
        "chance": None,
        "n_test": 0,
        "n_train": 75,
        "reason": "every test question occurs in train",
    }
    for name, result in (("a", found), ("b", none)):
        write_json(folder / f"{name}.json", {"benchmark": "sums", "expert": name, "poolings": {"last_token": result}})
    run_step(
        write_probe_table,
        cell=json.dumps({"benchmarks": ["sums"]}),
        probes=["b.json", "a.json"],
        table="probe.csv",
    )
    assert (folder / "probe.csv").read_text() == (
        "benchmark,expert,pooling,accuracy,chance,n_train,n_test,reason\n"
        "sums,b,last_token,,,75,0,every test question occurs in train\n"
        "sums,a,last_token,50.00,25.00,75,25,\n"
    )
