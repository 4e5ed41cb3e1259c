"""`make plan`: which jobs an item needs, what they cost, how they are submitted, and how long they take."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest
import yaml
from checkout import MICRO, REPOSITORY, planned_within

from dag.jobs import Asked, Job
from dag.profiles import read
from plan.costs import Cost, CostError, Recorded, costs, estimate, over_limit, record, untold
from plan.items import ITEMS, Groups, allocations, critical_path, needed, wall_bounds
from plan.rows import rows
from slmcollab.artifacts import ArtifactError

ESTIMATES = yaml.safe_load((REPOSITORY / "workflow/plan/estimates.yaml").read_text("utf-8"))
NONE = Recorded()
LOCAL = re.compile(r"^    localrule: True\b.*\n", re.MULTILINE)


def job(rule, needs=(), files=None, gpus=0, minutes=0, **has):
    given = {"wildcards": {}, "done": False, "submitted": True, "resources": None, "log": None, **has}
    asked = (Asked(gpus=gpus, minutes=minutes),)
    return Job(rule=rule, needs=frozenset(needs), files=tuple(files or [f"{rule}.out"]), asked=asked, **given)


#    0 data (local) → 1, 2 train on a GPU → 3, 4 their answers on one → 5, 6 their scores → 7 the table (local)
JOBS = [
    job("data", submitted=False),
    job("train", [0], ["a/adapter"], gpus=1, wildcards={"benchmark": "sums", "method": "long"}),
    job("train", [0], ["b/adapter"], gpus=1, wildcards={"benchmark": "sums", "method": "short"}),
    job("answer", [1], ["a/answers"], gpus=1),
    job("answer", [2], ["b/answers"], gpus=1),
    job("score", [3], ["a/scores"]),
    job("score", [4], ["b/scores"]),
    job("table", [5, 6], ["table.csv"], submitted=False),
]
KNOWN = {
    "data": {"seconds": 360, "gb": 1},
    "train": {"hours": 2, "cpus": 3, "gb": 0.5, "times": {"method": {"short": 0.5}, "benchmark": {"sums": 2}}},
    "answer": {"hours": 0.25},
    "score": {"hours": 0.1, "cpus": 8},
    "table": {"seconds": 36},
}


def test_an_item_needs_what_its_files_need():
    assert needed(JOBS, ["a/scores"]) == {0, 1, 3, 5}
    assert needed(JOBS, ["table.csv"]) == set(range(8))
    assert needed(JOBS, ["of/another/grid"]) == set()


@pytest.mark.parametrize(
    ("group", "sizes", "expected"),
    [
        ({}, {}, 6),  # two trainings, answers, scores; data and table are local
        ({"answer": "g", "score": "g"}, {}, 4),  # answers and scores of a run are one
        ({"answer": "g", "score": "g"}, {"g": 2}, 3),  # of both runs too
        ({"train": "t"}, {"t": 5}, 5),
        ({"score": "s", "train": "t"}, {"s": 2}, 5),  # a size of one for what has none
    ],
)
def test_allocations_by_hand(group, sizes, expected):
    assert allocations(JOBS, range(8), Groups(group, sizes)) == expected


def test_jobs_that_are_not_asked_for_join_nothing():
    groups = Groups({"answer": "g", "score": "g", "train": "g"}, {})
    assert allocations(JOBS, range(8), groups) == 2
    assert allocations(JOBS, {1, 5}, groups) == 2  # what stood between them is done


def test_the_longest_chain_by_hand():
    hours = dict(enumerate([0.1, 4.0, 2.0, 0.25, 0.25, 0.1, 0.1, 0.01]))
    assert critical_path(JOBS, hours) == pytest.approx(0.1 + 4.0 + 0.25 + 0.1 + 0.01)
    assert critical_path(JOBS, {2: 2.0, 4: 0.25, 5: 0.1}) == pytest.approx(2.25)
    assert critical_path(JOBS, {}) == 0.0


def test_a_chain_of_thousands_is_followed():
    chain = [job("step", [place - 1] if place else []) for place in range(5000)]
    assert critical_path(chain, dict.fromkeys(range(5000), 1.0)) == 5000


def test_bounds_on_wall_time_by_hand():
    assert wall_bounds(12.0, 2.0, 4) == (3.0, 5.0)
    assert wall_bounds(12.0, 8.0, 4) == (8.0, 11.0)


def test_an_estimate_is_scaled_by_its_wildcards():
    assert estimate(JOBS[1], KNOWN) == (4.0, 12.0, 1.0)
    assert estimate(JOBS[2], KNOWN) == (2.0, 6.0, 0.5)
    assert estimate(JOBS[0], KNOWN) == (0.1, 0.1, 1.0)


def test_what_was_recorded_comes_first_then_its_benchmark_then_its_rule():
    of = [{"benchmark": name} for name in ("sums", "sums", "sums", "sums", "sets", "sets")]
    jobs = [job("train", gpus=1, wildcards=block) for block in of]
    recorded = [Recorded(hours, 2 * hours, None) for hours in (1.0, 2.0, 9.0)] + [NONE, Recorded(20.0), NONE]
    found = costs(jobs, recorded, KNOWN)
    assert [cost.wall for cost in found] == [1.0, 2.0, 9.0, 2.0, 20.0, 5.5]  # 2: of three; 5.5: of 1, 2, 9, 20
    assert [cost.cpu for cost in found] == [2.0, 4.0, 18.0, 4.0, 4.0, 4.0]
    assert [cost.gpu for cost in found] == [cost.wall for cost in found]
    assert found[3].measured == {"wall", "cpu"}
    assert found[0].gb == 1.0  # as estimated: 0.5, twice for sums


def test_a_job_that_nobody_knows_is_an_error_that_names_its_rule():
    with pytest.raises(CostError, match="rule bake"):
        costs([job("bake")], [NONE], KNOWN)
    assert costs([job("bake")], [Recorded(1.0, 1.0, 1.0)], KNOWN)[0].wall == 1.0
    tables = {"local": {"seconds": 36}}
    assert estimate(job("bake", submitted=False), tables).wall == 0.01
    with pytest.raises(CostError, match="rule bake"):
        estimate(job("bake"), tables)
    with pytest.raises(CostError, match=r"data has \['days'\]"):
        estimate(JOBS[0], {"data": {"days": 1}})


def test_jobs_that_outlast_their_time_limit_are_counted():
    jobs = [job("train", minutes=minutes, done=done) for minutes, done in ((60, 0), (59, 0), (59, 1), (0, 0))]
    jobs.append(job("data", minutes=59, submitted=False))  # nobody ends it
    assert over_limit(jobs, costs(jobs, [Recorded(1.0)] * 5, KNOWN)) == {"train": 1}


def test_what_only_input_will_tell_of_jobs_that_are_left_is_named():
    asked = [({"runtime", "mem_mb"}, False), ({"gpu"}, False), (set(), False), ({"turn"}, True)]
    jobs = [job("train", done=done)._replace(asked=(Asked(unknown=frozenset(names)),)) for names, done in asked]
    jobs.append(job("score")._replace(asked=(Asked(unknown=frozenset({"mem_mb"})),)))  # no hours come from memory
    assert untold(jobs) == {"train": "gpu, runtime"}


def test_a_job_tells_its_time_and_files(tmp_path):
    (tmp_path / "log").write_text("usage: " + json.dumps({"cpu_s": 7200, "max_rss_mb": 1, "gpu_mb": None}) + "\n")
    (tmp_path / "time.tsv").write_text("s\n1800\n")
    (tmp_path / "made/below").mkdir(parents=True)
    (tmp_path / "made/below/file").write_bytes(b"x" * 3000)
    ran = job("train", files=["made", "gone"], log="log", resources="time.tsv", done=True)
    assert record(ran, tmp_path) == (0.5, 2.0, 3e-6)
    assert record(ran._replace(done=False, log="gone", resources="gone"), tmp_path) == (None, None, None)


def test_a_job_that_is_still_to_be_done_may_be_writing_its_log(tmp_path):
    (tmp_path / "log").write_text('usage: {"cpu_')
    assert record(job("train", log="log"), tmp_path) == NONE
    with pytest.raises(ArtifactError, match="log"):
        record(job("train", log="log", done=True), tmp_path)


def test_rows_by_hand(monkeypatch):
    monkeypatch.setattr("plan.rows.ITEMS", {"first": ["a/scores"], "table": ["table.csv"], "elsewhere": ["no"]})
    jobs = [found._replace(done=place in (0, 1)) for place, found in enumerate(JOBS)]
    paid = [
        Cost(1.0, float(found.asked[0].gpus), 3.0, 0.5, frozenset({"wall"} if place < 2 else ()))
        for place, found in enumerate(jobs)
    ]
    first, second, total = rows(jobs, paid, Groups({"answer": "g", "score": "g"}, {}), 2)
    # first: 0, 1 done; 3 and 5 are left, in one allocation, one after the other
    assert first[:6] == ("first", 4, 2, 4, 1, 1.0)
    assert (first.gpu_hours_spent, first.gpu_hours_spent_from) == (1.0, "measured")
    assert (first.cpu_hours, first.disk_gb, first.gpu_hours_from) == (6.0, 2.0, "estimated")
    assert (first.wall_hours_least, first.wall_hours_most) == (2.0, 2.5)
    # table: all eight, new are 2, 4, 6, 7, of which 4 and 6 share an allocation; three GPU jobs are left on two GPUs
    assert second[:6] == ("table", 8, 2, 4, 2, 2.0)
    assert (second.wall_hours_least, second.wall_hours_most) == (4.0, 5.5)  # 2, 4, 6, 7 is the longest chain
    assert total[:6] == ("total", 8, 2, 8, 3, 3.0)
    assert total.disk_gb == first.disk_gb + second.disk_gb


def bodies() -> dict[str, str]:
    """Return the text of every rule; that of a copy with its original's before it."""
    text = "".join(file.read_text("utf-8") for file in sorted((REPOSITORY / "workflow/rules").glob("*.smk")))
    found = re.findall(r"^(?:use rule (\w+) as (\w+) with|rule (\w+)):\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    originals = {name: body for _, _, name, body in found if name}
    # A copy takes over all but `localrule`.
    copies = {copy: LOCAL.sub("", originals[source]) + body for source, copy, _, body in found if source}
    return originals | copies


def submitted_rules() -> set[str]:
    return {name for name, body in bodies().items() if not LOCAL.search(body)}


def test_what_needs_the_network_runs_beside_snakemake():
    online = {name for name, body in bodies().items() if "HF_HUB_OFFLINE=0" in body}
    assert online == {"download_model", "download_problems", "download_team_problems"}
    assert online & submitted_rules() == set()


@pytest.mark.parametrize("scale", ["paper", "tiny"])
def test_every_rule_that_is_submitted_has_an_estimate_and_says_how_it_was_reckoned(scale):
    assert submitted_rules() <= set(ESTIMATES[scale])
    for rule, block in ESTIMATES[scale].items():
        estimate(job(rule), ESTIMATES[scale])
        assert block["because"], rule


@pytest.mark.parametrize(
    ("system", "calls"),
    [
        *(("mad", 9), ("maporl", 9), ("agentverse", 13), ("gptswarm", 7), ("magrpo", 6)),
        *(("at_grpo", 3), ("at_grpo_more_rounds", 12)),
    ],
)
def test_answers_of_a_baseline_are_estimated_from_its_calls(system, calls):
    hours = 2 / 60 + 1000 * calls * 270 / 1200 / 3600
    found = estimate(job("answer_with_baseline", wildcards={"system": system}), ESTIMATES["paper"])
    assert found.wall == pytest.approx(hours, abs=0.02)


def test_groups_hold_short_jobs_alone_and_ask_for_little():
    """All of a group runs again when one of it fails, so that no job in one may take an hour."""
    slurm = read(REPOSITORY, "slurm")
    assert set(slurm["group-components"]) <= set(slurm["groups"].values())
    for rule in slurm["groups"]:
        block = ESTIMATES["paper"][rule]
        longest = [max(factors.values()) for factors in block.get("times", {}).values()]
        hours = estimate(job(rule), ESTIMATES["paper"]).wall
        for factor in longest:
            hours *= max(factor, 1)
        assert hours < 1, rule


def make_plan(folder: Path, *arguments: str) -> tuple[dict[str, dict[str, str]], str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "workflow")}
    command = [sys.executable, "-m", "plan", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    written = folder / ("runs/tiny/plan.csv" if "tiny" in arguments else "plan.csv")
    return {row["item"]: row for row in csv.DictReader(written.open(encoding="utf-8"))}, done.stdout


@pytest.mark.alone
def test_the_paper_grid_is_costed_in_a_clean_clone(clone):
    with planned_within(15):
        found, shown = make_plan(clone.folder, "--gpus", "16")
    assert "longer than their time limit" not in shown
    *items, total = found.values()
    assert [row["item"] for row in items] == list(ITEMS)
    assert all(re.search(rf"│ {re.escape(item)} +│", shown) for item in found)
    command = [sys.executable, "-m", "snakemake", "-n", "all", "--cores", "1", "--quiet", "rules", "reason"]
    plain = subprocess.run(command, cwd=clone.folder, check=True, capture_output=True, text=True)
    assert total["jobs"] == re.findall(r"^total +(\d+)$", plain.stdout, re.MULTILINE)[0]
    assert sum(int(row["new"]) for row in items) + 1 == int(total["new"])  # `all` is a job too
    assert sum(float(row["gpu_hours"]) for row in items) == pytest.approx(float(total["gpu_hours"]), abs=1e-4)
    assert {row["gpu_hours_from"] for row in items if float(row["gpu_hours"])} == {"estimated"}
    assert int(total["allocations"]) < 0.75 * int(total["jobs"])
    least, most = float(total["wall_hours_least"]), float(total["wall_hours_most"])
    assert float(total["gpu_hours"]) / 16 - 1e-4 <= least < most
    status = subprocess.run(["git", "check-ignore", "plan.csv"], cwd=REPOSITORY, capture_output=True)
    assert status.returncode == 0


def seconds(path: Path) -> float:
    return float(path.read_text("utf-8").splitlines()[1].split("\t")[0])


def test_a_finished_run_is_measured_and_so_is_what_was_lost_of_it(checkout):
    resources = checkout.run / "results/resources"
    found, _ = make_plan(checkout.folder, "--scale", "tiny", "--configfile", str(MICRO))
    assert all(row["jobs"] == row["done"] and float(row["gpu_hours"]) == 0 for row in found.values())
    of_gpu = ("train_grpo", "answer_problems", "analyse_attention", "extract_features", "embed_questions")
    spent = sum(
        seconds(path) for rule in (*of_gpu, "generate_expert_answers") for path in resources.glob(f"{rule}/**/*.tsv")
    )
    assert float(found["total"]["gpu_hours_spent"]) == pytest.approx(spent / 3600, abs=1e-5)
    assert (found["total"]["gpu_hours_spent_from"], found["total"]["disk_gb_from"]) == ("measured", "measured")

    run = "toy_sums/single/none/seed1"
    shutil.rmtree(checkout.run / "results/musketeers" / run)
    for rule in ("train_grpo", "answer_problems"):
        (resources / rule / f"{run}.resources.tsv").unlink()
    lost, _ = make_plan(checkout.folder, "--scale", "tiny", "--configfile", str(MICRO))
    table1, total = lost["musketeers: Table 1"], lost["total"]
    assert int(table1["jobs"]) - int(table1["done"]) == 4  # training, answers, scores, the table
    left = sum(median(map(seconds, resources.glob(f"{rule}/**/*.tsv"))) for rule in ("train_grpo", "answer_problems"))
    assert float(total["gpu_hours"]) == pytest.approx(left / 3600, abs=1e-5)
    assert total["gpu_hours_from"] == "measured"
    assert total["cpu_hours_from"] == total["wall_hours_from"] == "mixed"  # nobody times scores and tables
