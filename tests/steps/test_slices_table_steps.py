"""The steps of slices' tables, through their command lines, from small files of runs to rows."""

import csv
import json
from dataclasses import replace

import pytest
import tyro
from recorded import answer_row, call, step, trajectory, verdict

from slmcollab.artifacts import ArtifactError, Problem, read_json, write_json, write_jsonl, write_problems
from slmcollab.generation.calls import write_calls
from slmcollab.protocol.trajectory import write_trajectories
from slmcollab.steps import (
    make_slices_table1,
    write_budgets_table,
    write_funnel_table,
    write_overlap_table,
    write_retention_table,
    write_roles_table,
)

RUNS = "slices/{benchmark}/{method}/seed{seed}"
PRINTED = """\
quantity,benchmark,condition,value,source_section
correct_answer_retention_pct,sums,CL,80.42,section 3.4
topology_share_pct,sums,"short linear, after CL",60.12,section 3.5
reasoning_overlap_rate_pct,sums,"model 2 of 3 as listed, after CL",0.3,section 3.4
model_invocations_per_question,sums,CL,4.0,section 3.4
"""
TABLE1 = "benchmark,method,metric,value,dagger,source\nsums,cl,accuracy,42.37,false,Table 1\n"


def run_step(step, table, **options):
    words = []
    for name, value in {**options, "table": table}.items():
        words += [f"--{name.replace('_', '-')}", *([value] if isinstance(value, str) else value)]
    tyro.cli(step.main, args=words)
    with open(table, newline="") as stream:
        return list(csv.DictReader(stream))


def write_run(folder, method, right):
    """Write the greedy evaluation of two questions: q0 in two steps, its first answer right; q1 in one."""
    trajectories = [
        trajectory(
            step("a1", "a2", answer="1", reasoning="so it is one"),
            step("a2", "terminate", answer="1" if right else "2", reasoning="so it is two"),
        ),
        trajectory(step("a1", "terminate", answer="3"), problem="q1"),
    ]
    answers = [answer_row("q0", "1" if right else "2", 2, ["1"]), answer_row("q1", "3", 1)]
    problems = {"q0": verdict(right, [True]), "q1": verdict(False)}
    share = 50.0 * right
    scores = {"benchmark": "sums", "system": method, "seed": 0, "stage": "eval", "problems": problems}
    counts = {"num_problems": 2, "counts": {"errors": 0, "timed_out": 1, "not_run": 0}}
    write_json(folder / "scores.json", scores | counts | {"metrics": {"accuracy": share, "f1": share}})
    write_jsonl(folder / "answers.jsonl", answers)
    write_trajectories(folder / "trajectories.jsonl", trajectories)
    write_calls(folder / "calls.parquet", [call(0), call(1, size=4.0, model="large"), call(2, qid="q1")])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the runs of `cl`, of its untrained team and of its teacher."""
    monkeypatch.chdir(tmp_path)
    base = tmp_path / "slices/sums"
    write_run(base / "cl/seed0/eval", "cl", right=True)
    write_run(base / "cl_no_training/seed0/eval", "cl_no_training", right=False)
    training = {"num_examples": 3, "num_tokens": 30, "num_updates": 2, "loss_last": 0.25, "num_negative": None}
    slots = {"stage": "distilled", "slots": {"a1": training, "a2": training | {"num_examples": 4}}}
    write_json(base / "cl/seed0/distilled/training.json", slots)
    write_json(base / "cl/seed0/round1/training.json", slots)
    write_json(base / "cl/seed0/round1/rewards.json", {"kept": 3, "negative": 1, "mean": 0.5})
    write_json(base / "cl/seed0/round1/evaluation.json", {"trajectories": 4, "dropped": 1})
    write_json(base / "homo_mas/seed0/teacher/funnel.json", {"sampled": 4, "anomalous": 1, "kept": 3})
    sampled = [call(0, phase="train"), call(1, phase="train", retry_of="c0"), call(2, qid="q1", phase="train")]
    write_calls(base / "homo_mas/seed0/teacher/calls.parquet", sampled)
    write_calls(base / "cl/seed0/round1/calls.parquet", [call(3, qid="q2", phase="train", tokens=7)])
    write_calls(base / "cl/seed0/round1/evaluator_calls.parquet", [call(4, model="judge", size=14.0, phase="train")])
    (tmp_path / "other.csv").write_text(PRINTED)
    (tmp_path / "table1.csv").write_text(TABLE1)
    write_problems(tmp_path / "data/sums/test.jsonl", [Problem(f"q{i}", "so it is", [], None) for i in range(2)])
    return tmp_path


def entry(method, **more):
    team = {"benchmark": "sums", "method": method, "seed": 0, "models": ["small", "large"]}
    return {**team, "step_scorer": "oracle" if method == "cl" else None, **more}


NOTHING = {"teacher": None, "distilled": None, "sampled": [], "searched": None, "trained": None}
BOTH = [entry("cl"), entry("cl_no_training")]
STAGES = [
    entry("cl", **NOTHING | {"teacher": "homo_mas", "distilled": "cl", "sampled": ["cl"]}),
    entry("cl_no_training", **NOTHING),
]


def pick(rows, *columns, **names):
    return [tuple(row[name] for name in columns) for row in rows if names.items() <= row.items()]


def test_table1(folder):
    cells = [
        {"benchmark": "sums", "method": method, "team": "none", "seeds": [0], "evaluator": scorer}
        for method, scorer in (("cl_no_training", None), ("cl", "oracle"))
    ]
    grid = {"paper": "slices", "reference": "cl", "rows": ["cl_no_training", "cl"], "step_scorer": "oracle"}
    options = {"cell": json.dumps({**grid, "cells": cells}), "runs": RUNS, "published": "table1.csv", "tex": "t.tex"}
    rows = run_step(make_slices_table1, "t.csv", **options)
    # One of two questions differs: McNemar 2 / 2^1; F1, with the bootstrap, no less.
    columns = ("method", "mean", "published", "difference", "p_value", "test", "n_tests", "step_scorer")
    assert pick(rows, *columns, metric="accuracy") == [
        ("cl_no_training", "0.00", "", "", "1.0000", "mcnemar", "2", ""),
        ("cl", "50.00", "42.37", "7.63", "", "", "", "oracle"),
    ]
    assert pick(rows, "p_value", "test", "above_baselines", metric="f1") == [
        ("1.0000", "bootstrap", "0.00"),
        ("", "", "50.00"),
    ]
    assert r"cl & \textbf{50.0} $\uparrow$50.0" in (folder / "t.tex").read_text()
    before = (folder / "t.csv").read_bytes()
    run_step(make_slices_table1, "t.csv", **options)
    assert (folder / "t.csv").read_bytes() == before


def test_roles(folder):
    cell = json.dumps({"runs": BOTH, "normalise": {"sums": "number"}})
    rows = run_step(write_roles_table, "t.csv", cell=cell, runs=RUNS, published="other.csv")
    assert pick(rows, "method", "model", "mean", slot="a2", measure="revision") == [
        ("cl", "large", "0.00"),
        ("cl_no_training", "large", "100.00"),
    ]
    assert pick(rows, "step_scorer", "mean", "n", "published", measure="share_short_linear") == [
        ("oracle", "100.00", "2", "60.12"),
        ("", "100.00", "2", ""),
    ]


def test_overlap(folder):
    # "so it is one" against "so it is two": F1 0.75; without the question's three words nothing is covered, since its
    # text is no 4-gram.
    options = {"cell": json.dumps({"runs": BOTH}), "runs": RUNS, "problems": "data/{benchmark}/test.jsonl"}
    rows = run_step(write_overlap_table, "t.csv", **options, published="other.csv")
    assert pick(rows, "measure", "mean", "published", method="cl", slot="a2", text="whole") == [
        ("rouge_l_0.3", "100.00", ""),
        ("rouge_l_0.5", "100.00", "0.30"),
        ("rouge_l_0.7", "100.00", ""),
        ("containment_4", "0.00", ""),
    ]


def test_retention(folder):
    cell = json.dumps({"runs": BOTH, "reference": "cl", "unranked": ["cl_no_training"]})
    rows = run_step(write_retention_table, "t.csv", cell=cell, runs=RUNS, published="other.csv")
    assert pick(rows, "method", "mean", "n", "published", "rank", measure="retention") == [
        ("cl", "100.00", "1", "80.42", "1"),
        ("cl_no_training", "0.00", "1", "", ""),
    ]
    assert pick(rows, "method", "mean", against="cl_no_training", measure="missed_by_both") == [("cl", "1.00")]


def test_retention_beside_a_run_with_a_late_check_and_not_beside_one_of_other_questions(folder):
    other = folder / "slices/sums/cl_no_training/seed0/eval"
    scores, cell = read_json(other / "scores.json"), json.dumps({"runs": BOTH, "reference": "cl", "unranked": []})
    late = scores["problems"] | {"q1": verdict(False, error="timed_out", metrics={})}
    write_json(other / "scores.json", scores | {"problems": late})
    rows = run_step(write_retention_table, "t.csv", cell=cell, runs=RUNS, published="other.csv")
    # Both have an answer to q0 alone, which we have right.
    assert pick(rows, "method", "mean", "n", against="cl_no_training", measure="missed_by_both") == [
        ("cl", "0.00", "1")
    ]
    write_json(other / "scores.json", scores | {"problems": {"q0": late["q0"], "q9": late["q1"]}})
    write_jsonl(other / "answers.jsonl", [answer_row("q0", "2", 2, ["1"]), answer_row("q9", "3", 1)])
    with pytest.raises(ArtifactError, match=r"cl_no_training.*not the questions of the other runs"):
        run_step(write_retention_table, "t.csv", cell=cell, runs=RUNS, published="other.csv")


def test_funnel(folder):
    rows = run_step(write_funnel_table, "t.csv", cell=json.dumps({"runs": STAGES}), runs=RUNS)
    assert [row["stage"] for row in rows if row["method"] != "cl"] == ["eval"] * 4
    for method in ("cl", "cl_no_training"):
        assert pick(rows, "quantity", "value", stage="eval", method=method) == [
            *(("num_problems", "2"), ("errors", "0"), ("not_run", "0"), ("timed_out", "1")),
        ]
    assert pick(rows, "quantity", "value", stage="teacher") == [("sampled", "4"), ("kept", "3"), ("anomalous", "1")]
    assert pick(rows, "slot", "value", stage="distilled", quantity="num_examples") == [("a1", "3"), ("a2", "4")]
    assert pick(rows, "quantity", "value", stage="round1 rewards") == [
        ("kept", "3"),
        ("mean", "0.5000"),
        ("negative", "1"),
    ]
    assert pick(rows, "value", stage="round1 evaluation", quantity="dropped") == [("1",)]
    assert pick(rows, "value", stage="round1 training", quantity="num_negative") == []  # null: it has no meaning there


def budgets(runs):
    files = {"resources": "{rule}/{job}.tsv", "log": "{rule}/{job}.log"}
    jobs = {
        kind: (kind, "{system}-{stage}") for kind in ("teacher", "distilled", "sampled", "scored", "round", "trained")
    }
    sizes = {"small": 1.0, "large": 4.0, "reference": 14.0}
    cell = {"runs": runs, "reference_model": "reference", "sizes": sizes, "jobs": jobs, **files}
    manifests = ["small.json", "large.json", "reference.json"]
    options = {"cell": json.dumps(cell), "runs": RUNS, "manifests": manifests, "published": "other.csv"}
    return run_step(write_budgets_table, "t.csv", **options)


def test_budgets(folder):
    for name, size in (("small", 10), ("large", 40), ("reference", 80)):
        write_json(folder / f"{name}.json", {"model": name, "num_parameters": size})
    cl, untrained = budgets(STAGES)
    assert (cl["parameters"], cl["reference_parameters"], cl["ratio"]) == ("50", "80", "0.6250")
    # Trained on q0, q1 of the teacher and q2 of the round; examples 2 * (3 + 4), tokens 4 * 30, updates 4 * 2.
    assert [cl[name] for name in ("train_problems", "trajectories")] == ["3", "3"]
    assert [cl[name] for name in ("num_examples", "num_tokens", "num_updates")] == ["14", "120", "8"]
    phases = ("teacher", "rounds", "evaluator", "trained", "search", "eval")
    assert [cl[f"calls_{phase}"] for phase in phases] == list("311003")
    # Prompts: two of the teacher, one of the round; rollouts: three calls and one.
    assert [cl[name] for name in ("train_prompts", "train_rollouts", "gpu_seconds_learning")] == ["3", "4", ""]
    assert (cl["output_tokens_rounds"], cl["b_tokens_evaluator"]) == ("7", "140.000000")
    # Three calls of 10 tokens for two questions: 20 of 1 B and 10 of 4 B, 60 / 2 = 30 B-tokens, by 5 B 6.
    assert (cl["invocations_per_question"], cl["b_tokens_per_question"]) == ("1.50", "30.000000")
    assert (cl["weighted_tokens_per_question"], cl["published_invocations"]) == ("6.00", "4.0")
    assert [untrained[name] for name in ("train_problems", "num_updates", "calls_eval")] == ["0", "0", "3"]
    assert untrained["published_invocations"] == ""


@pytest.fixture
def trained(folder):
    """The runs, and one of a baseline: both slots answer at once, then the second one, with a retry; it was trained."""
    run = folder / "slices/sums/magrpo/seed0"
    write_run(run / "eval", "magrpo", right=True)
    said = ("so it is one of them", "so it is one of those", "so it is one of")
    steps = [step(slot, None, answer="1", reasoning=text) for slot, text in zip(("a1", "a2", "a2"), said, strict=True)]
    broken = trajectory(step("a1", None), step("a2", None), step("a2", None), problem="q1", end="anomalies")
    write_trajectories(run / "eval/trajectories.jsonl", [trajectory(*steps), broken])
    places = [(0, "a1", 0), (1, "a2", 0), (2, "a2", 1)]
    calls = [
        replace(call(f"{qid}/{number}", qid=qid), step=number, agent=slot, round=level)
        for qid in ("q0", "q1")
        for number, slot, level in places
    ]
    retry = replace(call("again", retry_of="cq0/2", anomaly="truncated"), step=2, agent="a2", round=1)
    write_calls(run / "eval/calls.parquet", [call("s", qid="dev", phase="search", tokens=40), *calls, retry])
    slot = {"num_examples": 4, "num_tokens": 40, "num_updates": 1}
    training = {"stage": "trained", "slots": {"a1": slot, "a2": slot}, "num_prompts": 2, "num_rollouts": 8, "seed": 5}
    write_json(run / "trained/training.json", training)
    sampled = [replace(call(number, qid="q7", phase="train"), sample=number // 2) for number in range(8)]
    write_calls(run / "trained/calls.parquet", sampled)
    return folder


def test_a_baseline_has_retention_and_a_rank(trained):
    runs = [*BOTH, entry("magrpo", baseline=True)]
    cell = json.dumps({"runs": runs, "reference": "cl", "unranked": ["cl_no_training"]})
    rows = run_step(write_retention_table, "t.csv", cell=cell, runs=RUNS, published="other.csv")
    assert pick(rows, "method", "mean", "n", "rank", measure="retention") == [
        *(("cl", "100.00", "1", "1"), ("cl_no_training", "0.00", "1", "")),
        ("magrpo", "100.00", "1", "1"),
    ]
    assert pick(rows, "mean", method="cl", against="magrpo", measure="missed_by_both") == [("1.00",)]


def test_a_baseline_hands_nothing_over_and_repeats_only_what_was_there(trained):
    cell = json.dumps({"runs": [entry("magrpo", baseline=True)]})
    options = {"cell": cell, "runs": RUNS, "problems": "data/{benchmark}/test.jsonl", "published": "other.csv"}
    rows = run_step(write_overlap_table, "t.csv", **options)
    assert {(row["mean"], row["n"]) for row in rows if row["measure"].startswith("rouge_l")} == {("", "0")}
    # a2's second reply: "so it is one", "it is one of" were there; its first saw nothing of a1's.
    assert pick(rows, "slot", "mean", "n", measure="containment_4", text="whole") == [
        ("a1", "", "0"),
        ("a2", "100.00", "1"),
    ]
    calls = trained / "slices/sums/magrpo/seed0/eval/calls.parquet"
    write_calls(calls, [call(0)])
    with pytest.raises(ArtifactError, match=r"calls\.parquet: not one level for each of the 3 steps of q0#0"):
        run_step(write_overlap_table, "t.csv", **options)


def test_a_baseline_has_no_roles_but_anomalies(trained):
    cell = json.dumps({"runs": [entry("magrpo", baseline=True)], "normalise": {"sums": "text"}})
    rows = run_step(write_roles_table, "t.csv", cell=cell, runs=RUNS, published="other.csv")
    assert not [row for row in rows if row["measure"] in ("handoff", "revision", "share_short_linear")]
    # Seven calls answer, one of them broken; q1 has no answer.
    assert pick(rows, "mean", "n", slot="all", measure="calls_truncated") == [("14.29", "7")]
    assert pick(rows, "mean", "n", slot="all", measure="no_answer") == [("50.00", "2")]


def test_the_budget_and_the_funnel_of_a_trained_baseline(trained):
    for name, size in (("small", 10), ("large", 40), ("reference", 80)):
        write_json(trained / f"{name}.json", {"model": name, "num_parameters": size})
    (trained / "trained").mkdir()
    (trained / "trained/magrpo-trained.tsv").write_text("s\th:m:s\n90.4\t0:01:30\n")
    used = json.dumps({"cpu_s": 1.0, "max_rss_mb": 2.0, "gpu_mb": 3.0})
    (trained / "trained/magrpo-trained.log").write_text(f"usage: {used}\n")
    runs = [entry("magrpo", **NOTHING | {"trained": "magrpo"})]
    (row,) = budgets(runs)
    # One question drawn twice, four samples of two calls each; tokens 2 * 40.
    assert [row[name] for name in ("train_problems", "train_prompts", "train_rollouts", "trajectories")] == list("1284")
    assert [row[name] for name in ("num_tokens", "gpu_seconds_learning")] == ["80", "90"]
    assert [row[f"calls_{phase}"] for phase in ("teacher", "trained", "search", "eval")] == list("0817")
    # Seven calls of 10 tokens for two questions, and 40 tokens of the search: 110 / 2 tokens of 1 B, by 5 B.
    assert (row["invocations_per_question"], row["weighted_tokens_per_question"]) == ("3.50", "11.00")
    rows = run_step(write_funnel_table, "t.csv", cell=json.dumps({"runs": runs}), runs=RUNS)
    assert pick(rows, "slot", "quantity", "value", stage="trained")[:4] == [
        *(("", "num_prompts", "2"), ("", "num_rollouts", "8")),
        *(("a1", "num_examples", "4"), ("a1", "num_tokens", "40")),
    ]


def test_a_missing_file_is_named_and_leaves_no_table(folder):
    (folder / "slices/sums/cl/seed0/round1/rewards.json").unlink()
    with pytest.raises(ArtifactError, match=r"round1/rewards\.json"):
        run_step(write_funnel_table, "t.csv", cell=json.dumps({"runs": STAGES}), runs=RUNS)
    assert not (folder / "t.csv").exists()
