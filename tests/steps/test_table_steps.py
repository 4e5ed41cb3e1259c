"""The steps of tables, through their command lines, from small files to exact bytes."""

import json
from pathlib import Path

import jsonschema
import pytest
import tyro
import yaml
from scores_files import scores_file

from slmcollab.artifacts import ArtifactError, digest, read_json, write_json
from slmcollab.steps import (
    make_musketeers_table1,
    make_table1,
    make_table2,
    write_probe_table,
    write_resources_table,
)

SUMS, BASE, LOGIC = ("sums", "hidden_state", "toy"), ("sums", "single", "none"), ("logic", "single", "none")
CELL = json.dumps(
    {
        "baseline": "single",
        "cells": [
            {"benchmark": "sums", "method": "hidden_state", "team": "toy", "seeds": [0, 1]},
            {"benchmark": "sums", "method": "single", "team": "none", "seeds": [0]},
            {"benchmark": "logic", "method": "single", "team": "none", "seeds": [0]},
            {"benchmark": "logic", "method": "hidden_state", "team": "toy", "seeds": []},
        ],
        "paper": "musketeers",
    }
)
TABLE = """\
paper,benchmark,method,team,metric,mean,std,n_seeds,published,published_source,difference,ci_low,ci_high,p_value,test,p_holm,n_tests,mark,n_pairs,n_discordant,above_baselines,step_scorer
musketeers,sums,hidden_state,toy,accuracy,50.00,14.14,2,52.34,page 6,-2.34,20.00,80.00,0.1250,permutation,,,,,,,
musketeers,sums,hidden_state,toy,accuracy_seen,,,0,,,,,,,,,,,,,,
musketeers,sums,hidden_state,toy,accuracy_unseen,50.00,14.14,2,,,,20.00,80.00,0.1250,permutation,,,,,,,
musketeers,sums,hidden_state,toy,score_mean,50.00,14.14,2,,,,20.00,80.00,0.1250,permutation,,,,,,,
musketeers,sums,single,none,accuracy,0.00,,1,,,,0.00,0.00,,,,,,,,,
musketeers,sums,single,none,accuracy_seen,,,0,,,,,,,,,,,,,,
musketeers,sums,single,none,accuracy_unseen,0.00,,1,,,,0.00,0.00,,,,,,,,,
musketeers,sums,single,none,score_mean,0.00,,1,,,,0.00,0.00,,,,,,,,,
musketeers,logic,single,none,accuracy,100.00,,1,,,,100.00,100.00,,,,,,,,,
musketeers,logic,single,none,accuracy_seen,100.00,,1,,,,100.00,100.00,,,,,,,,,
musketeers,logic,single,none,accuracy_unseen,,,0,,,,,,,,,,,,,,
musketeers,logic,single,none,score_mean,100.00,,1,,,,100.00,100.00,,,,,,,,,
musketeers,logic,hidden_state,toy,accuracy,,,0,82.81,page 7,,,,,,,,,,,,
musketeers,logic,hidden_state,toy,accuracy_seen,,,0,,,,,,,,,,,,,,
musketeers,logic,hidden_state,toy,accuracy_unseen,,,0,,,,,,,,,,,,,,
musketeers,logic,hidden_state,toy,score_mean,,,0,,,,,,,,,,,,,,
"""
SCHEMA = yaml.safe_load((Path(__file__).parents[2] / "workflow/schemas/provenance.schema.yaml").read_text())
HEX = "0123456789abcdef" * 4


def run_step(step, **options):
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", *([value] if isinstance(value, str) else value)]
    tyro.cli(step.main, args=words)


def write_scores(folder, name, key, seed, points, seen=()):
    """Write a scores file with the record of its run, and the run's own record beside it."""
    read = {"inputs": {"policy": HEX}, "digests": {"policy.json": HEX}}
    models = {"toy_policy": {"id": None, "revision": None}}
    made = {"outputs": {"adapter": HEX}, "models": models, "packages": {"torch": "2.13.0"}}
    run = {"cell": {}, "code": HEX, "seed": seed, **read, **made}
    record = {"run": run, **read, "code": {"answers": HEX, "scores": HEX}}
    made_of = {"policy": "toy_policy", "experts": ["toy_math"] if key[2] == "toy" else [], "provenance": record}
    write_json(folder / f"{name}.run.json", run)
    write_json(folder / f"{name}.json", scores_file(key, seed, points, seen) | made_of)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with four scores files and published numbers."""
    monkeypatch.chdir(tmp_path)
    write_scores(tmp_path, "sums0", SUMS, 0, [1, 1, 0, 0, 0])
    write_scores(tmp_path, "sums1", SUMS, 1, [1, 0, 0, 1, 1])
    write_scores(tmp_path, "base0", BASE, 0, [0, 0, 0, 0, 0])
    write_scores(tmp_path, "logic0", LOGIC, 0, [1, 1], seen=[0, 1])
    (tmp_path / "published.csv").write_text(
        "benchmark,method,team,metric,mean,std,source\n"
        "sums,hidden_state,toy,accuracy,52.34,1.78,page 6\n"
        "logic,hidden_state,toy,accuracy,82.81,,page 7\n"
    )
    return tmp_path


ALL = ("logic0.json", "sums1.json", "base0.json", "sums0.json")


def make_tables(scores=ALL, table="all.csv"):
    options = {"cell": CELL, "scores": scores, "published": "published.csv"}
    run_step(make_musketeers_table1, **options, table="one.csv", tex="one.tex")
    runs = [name.replace(".json", ".run.json") for name in scores]
    joined = {"tables": ["one.csv"], "published": ["published.csv"], "scores": scores, "runs": runs}
    made = {"table": table, "provenance": "provenance.json"}
    run_step(make_table1, cell=json.dumps({"papers": [json.loads(CELL)]}), code=HEX, **joined, **made)


def test_table1_from_scores_to_bytes(folder):
    # Seeds 40 and 60: deviations ±10, 200 / (2 - 1), root 14.14; 50 - 52.34 = -2.34. Questions 100, 50, 0, 50, 50:
    # 3.6 % of the resamples have a mean of 20 or less, 0.5 % of 10 or less. Four are above the baseline: 2 of 16 flips.
    make_tables()
    assert (folder / "one.csv").read_text() == TABLE
    assert (folder / "all.csv").read_text() == TABLE
    before = (folder / "one.tex").read_bytes()
    assert rb"hidden\_state (toy) & \textbf{50.0} $\pm$ 14.1 & -- \\" in before
    make_tables(sorted(ALL))
    assert (folder / "one.csv").read_text() == TABLE
    assert (folder / "one.tex").read_bytes() == before


def test_provenance_has_its_form_and_names_files_by_digest(folder):
    make_tables()
    record = read_json(folder / "provenance.json")
    jsonschema.validate(record, SCHEMA)
    assert record["table"] == {"path": "all.csv", "sha256": digest(folder / "all.csv")}
    assert record["tables"] == [{"path": "one.csv", "sha256": digest(folder / "one.csv")}]
    assert record["published"] == [{"path": "published.csv", "sha256": digest(folder / "published.csv")}]
    first = record["cells"][0]["scores"]
    assert [(file["path"], file["seed"]) for file in first] == [("sums0.json", 0), ("sums1.json", 1)]
    assert first[1]["sha256"] == digest(folder / "sums1.json")
    before = (folder / "provenance.json").read_bytes()
    make_tables(sorted(ALL))
    assert (folder / "provenance.json").read_bytes() == before


def test_scores_of_another_run_than_the_one_on_disk_stop_the_table(folder):
    write_json(folder / "sums1.run.json", {"code": "other"})
    with pytest.raises((ArtifactError, AssertionError), match=r"sums1\.json: scores of another run"):
        make_tables(sorted(ALL))
    assert not (folder / "all.csv").exists()


def test_a_missing_seed_stops_the_table_and_leaves_none(folder):
    with pytest.raises(ArtifactError, match=r"sums.*seed 1"):
        make_tables(["logic0.json", "base0.json", "sums0.json"])
    assert not (folder / "one.csv").exists()


def test_absolute_paths_stay_out_of_the_provenance(folder):
    with pytest.raises(ArtifactError, match="relative"):
        make_tables([str(folder / "logic0.json"), *ALL[1:]])


def test_table2_from_scores_to_bytes(folder):
    key = ("sums", "hidden_state_first_token", "toy")
    write_scores(folder, "first0", key, 0, [1, 1, 1, 1, 1])
    rows = [
        {"benchmark": "sums", "team": "toy", "pooling": "last_token", "method": "hidden_state", "seeds": [0]},
        {"benchmark": "sums", "team": "toy", "pooling": "first_token", "method": key[1], "seeds": [0]},
    ]
    run_step(
        make_table2,
        cell=json.dumps({"paper": "musketeers", "rows": rows}),
        scores=["first0.json", "sums0.json"],
        published="published.csv",
        table="two.csv",
        tex="two.tex",
    )
    lines = (folder / "two.csv").read_text().splitlines()
    assert [line.split(",")[2:8] for line in lines[1::2]] == [
        ["last_token", "hidden_state", "accuracy", "40.00", "", "1"],
        ["first_token", "hidden_state_first_token", "accuracy", "100.00", "", "1"],
    ]
    assert lines[1].split(",")[8:11] == ["52.34", "page 6", "-12.34"]
    assert lines[3].endswith("100.00,100.00,0.2500")  # three of five differ, upwards
    assert r"first\_token & \textbf{100.0} & \textbf{100.0} & 0.2500 \\" in (folder / "two.tex").read_text()


def test_resources_of_jobs_that_are_there_and_of_some_that_lost_a_file(folder):
    for kind in ("resources/train", "logs/train"):
        (folder / kind).mkdir(parents=True)
    for seed, seconds in ((0, "1.5"), (1, "2.5")):
        (folder / f"resources/train/seed{seed}.tsv").write_text(f"s\tmax_rss\tcpu_time\n{seconds}\t1.00\t0.00\n")
    for seed, cpu in ((1, 1.25), (2, 1.75)):
        used = {"cpu_s": cpu, "max_rss_mb": 600 + seed, "gpu_mb": None}
        (folder / f"logs/train/seed{seed}.log").write_text(f"usage: {json.dumps(used)}\n")
    jobs = {"train": [f"seed{seed}" for seed in range(4)], "answer": ["seed0"]}
    patterns = {"resources": "resources/{rule}/{job}.tsv", "log": "logs/{rule}/{job}.log"}
    run_step(write_resources_table, cell=json.dumps({"jobs": jobs, **patterns}), table="resources.csv")
    assert (folder / "resources.csv").read_text() == (
        "rule,jobs,without_file,without_usage,wall_s_median,wall_s_max,cpu_s_median,cpu_s_max,max_rss_mb,max_gpu_mb\n"
        "train,4,2,2,2.00,2.50,1.50,1.75,602.00,\n"
        "answer,1,1,1,,,,,,\n"
    )


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
        write_json(
            folder / f"{name}.json", {"benchmark": "sums", "expert": name, "tasks": {"all": {"last_token": result}}}
        )
    run_step(
        write_probe_table,
        cell=json.dumps({"benchmarks": ["sums"]}),
        probes=["b.json", "a.json"],
        table="probe.csv",
    )
    assert (folder / "probe.csv").read_text() == (
        "benchmark,expert,task,pooling,accuracy,chance,n_train,n_test,reason\n"
        "sums,b,all,last_token,,,75,0,every test question occurs in train\n"
        "sums,a,all,last_token,50.00,25.00,75,25,\n"
    )
