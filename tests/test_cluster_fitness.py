"""Whether a cluster is fit, judged from what SLURM printed of some (recorded, shortened) and what jobs ask for."""

import json
import math
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from snakemake.exceptions import WorkflowError

from cluster import check, compute_node, fitness, here, needs, probe, scontrol
from cluster.fitness import FAIL, OK, WARN
from cluster.needs import Need, Place
from dag.jobs import Asked, Grid, Job

CONFIG = """\
Configuration data as of 2026-11-30T09:54:12
AccountingStorageEnforce = none
AccountingStorageType   = accounting_storage/none
AuthInfo                = socket=/run/munge.sock,cred_expire=5
EnforcePartLimits       = ALL
MinJobAge               = 300 sec
PreemptMode             = REQUEUE
PreemptType             = preempt/partition_prio

Slurmctld(primary) at login is UP
"""
PARTITIONS = """\
PartitionName=main AllowGroups=ALL Default=YES QoS=N/A DefaultTime=00:10:00 MaxTime=1-00:00:00 Nodes=n[1-3] \
PreemptMode=REQUEUE State=UP TotalCPUs=12 TotalNodes=3 MaxMemPerNode=UNLIMITED TRES=cpu=12,mem=900000M,node=3,billing=12
PartitionName=low AllowGroups=ALL Default=NO MaxTime=UNLIMITED Nodes=n3 PreemptMode=CANCEL State=DOWN TotalNodes=1
"""
NODES = """\
NodeName=n1 Arch=x86_64 CPUTot=4 Gres=gpu:a100:2(S:0-1) OS=Linux 6.18.44-fc-v657 #1 SMP  RealMemory=300000 \
State=IDLE Partitions=main CfgTRES=cpu=4,mem=300000M,billing=4 AllocTRES= CapWatts=n/a
NodeName=n2 CPUTot=64 Gres=(null) RealMemory=500000 State=MIXED Partitions=main
NodeName=n3 CPUTot=4 Gres=gpu:h100:8 RealMemory=900000 State=IDLE+DRAIN Partitions=main,low
"""
PROFILE = {"slurm-status-command": "squeue", "slurm-init-seconds-before-status-checks": 60}
GROWN = Asked(4, 64000, 720, 1, "a100", "main"), Asked(4, 192000, 2160, 1, "a100", "main")


def job(rule: str, *asked: Asked, done: bool = False, submitted: bool = True, **wildcards: str) -> Job:
    return Job(rule, wildcards, done, submitted, frozenset(), (), None, None, asked or (Asked(), Asked()))


JOBS = [
    job("train_grpo", *GROWN, benchmark="arithmetic"),
    job("train_grpo", Asked(8, 1000, 60, 1, "a100", "main"), Asked(8, 3000, 180, 1, "a100", "main")),
    job("train_grpo", Asked(99, 999000, 9999, 9, "a100", "main"), GROWN[1], done=True),
    job("download_model", Asked(1, 999000), Asked(1, 999000), submitted=False, model="gpt2"),
    job("download_model", submitted=False, model="albert"),
    job("download_model", submitted=False, done=True, model="bert"),
    job("score_answers", Asked(1, 4000, 30, partition="cpu"), Asked(1, 12000, 90, partition="cpu"), benchmark="code"),
    job("answer_problems", Asked(2, 32000, 60, 1), Asked(2, 96000, 180, 1)),
]

config, partitions, nodes = scontrol.config(CONFIG), scontrol.records(PARTITIONS), scontrol.records(NODES)
MAIN = partitions[0]


def test_what_scontrol_shows_is_read():
    assert config["AuthInfo"] == "socket=/run/munge.sock,cred_expire=5"
    assert config["MinJobAge"] == "300 sec"
    assert MAIN["TRES"] == "cpu=12,mem=900000M,node=3,billing=12"
    assert [node["NodeName"] for node in nodes] == ["n1", "n2", "n3"]
    assert nodes[0]["RealMemory"] == "300000"
    assert nodes[0]["AllocTRES"] == ""


@pytest.mark.parametrize(
    ("time", "minutes"),
    [("1-00:00:00", 1440), ("02:30:30", 150.5), ("90", 90), ("2-12", 3600), ("05:30", 5.5), ("UNLIMITED", math.inf)],
)
def test_minutes(time, minutes):
    assert scontrol.minutes(time) == minutes


def test_gpus_are_counted_by_model():
    assert scontrol.gpus("gpu:a100:4(S:0-1),gpu:2,lustre:1,gpu:a100:1") == {"a100": 5, "": 2}
    assert scontrol.gpus("gpu") == {"": 1}
    assert scontrol.gpus("(null)") == {}


def test_states_of_jobs_need_accounting_or_a_queue_that_remembers():
    assert fitness.status(config, PROFILE).state == OK
    hasty = fitness.status({**config, "MinJobAge": "10 sec"}, PROFILE)
    assert (hasty.state, "slurm-init-seconds-before-status-checks: 3 " in hasty.todo) == (FAIL, True)
    accounting = {**config, "AccountingStorageType": "accounting_storage/slurmdbd"}
    assert fitness.status({**accounting, "MinJobAge": "179 sec"}, PROFILE).state == WARN
    assert fitness.status({**accounting, "MinJobAge": "180 sec"}, PROFILE).state == OK
    assert fitness.status(config, {}).state == FAIL
    assert fitness.status(accounting, {}).state == OK
    newer = {**config, "AccountingStorageType": "(null)"}
    assert fitness.status(newer, {}).state == FAIL
    assert fitness.status({**newer, "MinJobAge": "10 sec"}, PROFILE).state == FAIL


def test_accounts():
    there = {"sacctmgr": "/usr/bin/sacctmgr", "sshare": "/usr/bin/sshare"}
    accounting = {"AccountingStorageType": "accounting_storage/slurmdbd"}
    assert fitness.account(config, "", there).state == OK
    assert fitness.account({"AccountingStorageEnforce": "associations,limits"}, "", there).state == WARN
    assert fitness.account(config, "lab", there).state == FAIL
    assert fitness.account({"AccountingStorageType": "(null)"}, "lab", there).state == FAIL
    assert fitness.account(accounting, "lab", there).state == OK
    assert "no sshare" in fitness.account(accounting, "lab", {**there, "sshare": None}).found


def test_the_partition_is_there_and_up():
    chosen, finding = fitness.partition(partitions, "")
    assert (chosen["PartitionName"], finding.state) == ("main", OK)
    assert fitness.partition(partitions, "low")[1].state == FAIL
    chosen, finding = fitness.partition(partitions, "gpu")
    assert chosen is None
    assert finding.found == "gpu is not one of main, low"
    assert fitness.partition(partitions[1:], "")[1].state == FAIL


def test_preemption():
    assert fitness.preemption(config, MAIN).state == OK
    assert fitness.preemption(config, partitions[1]).state == WARN
    assert fitness.preemption({"PreemptType": "preempt/none"}, partitions[1]).found == "none"
    assert fitness.preemption({"PreemptType": "(null)", "PreemptMode": "GANG,SUSPEND"}, {}).found == "none"
    assert fitness.preemption({**config, "PreemptMode": "SUSPEND,GANG"}, {}).state == WARN
    assert fitness.enforcement(config).state == OK
    assert fitness.enforcement({"EnforcePartLimits": "NO"}).state == WARN


def test_gpus_of_usable_nodes():
    usable = fitness.nodes_of(nodes, MAIN)
    assert [node["NodeName"] for node in usable] == ["n1", "n2"]
    assert fitness.gpus(usable, "").found == "2 × a100"
    assert fitness.gpus(usable, "a100").state == OK
    assert "one of a100" in fitness.gpus(usable, "h100").todo
    assert fitness.gpus(usable[1:], "").state == FAIL
    assert fitness.gpus(nodes, "").state == WARN  # two models


@pytest.mark.parametrize(
    ("state", "usable"),
    [
        ("IDLE", True),
        ("MIXED", True),
        ("IDLE+CLOUD+POWERED_DOWN", True),
        ("IDLE+POWERING_DOWN", True),
        ("DOWN*", False),
        ("IDLE+DRAIN", False),
        ("IDLE+DRAIN+INVALID_REG", False),
        ("IDLE+NOT_RESPONDING", False),
        ("IDLE+FAIL", False),
    ],
)
def test_a_node_that_saves_power_can_be_used(state, usable):
    assert bool(fitness.nodes_of([{"NodeName": "n1", "Partitions": "main", "State": state}], MAIN)) is usable


def test_the_most_that_the_jobs_of_a_rule_ask_for():
    assert needs.needs(JOBS, 0) == [
        Need("answer_problems", 2, 32000, 60, 1, "", ""),
        Need("score_answers", 1, 4000, 30, 0, "", "cpu"),
        Need("train_grpo", 8, 64000, 720, 1, "a100", "main", jobs=2),
    ]
    assert needs.needs(JOBS, -1)[2] == Need("train_grpo", 8, 192000, 2160, 1, "a100", "main", jobs=2)
    accounts = [job("train", Asked(account=name)) for name in ("one", "other")]
    assert [need.account for need in needs.needs(accounts, 0)] == ["one", "other"]


def test_what_is_left_to_fetch():
    assert needs.fetched(JOBS, ["download_model"], "model") == ["albert", "gpt2"]
    assert needs.fetched(JOBS, ["download_problems"], "benchmark") == []


def test_where_jobs_go():
    assert needs.places(JOBS) == [("", "", {""}), ("cpu", "", set()), ("main", "", {"a100"})]
    assert needs.places([job("train", *GROWN, done=True)]) == [("main", "", {"a100"})]
    assert needs.places([job("a", Asked(partition="p", account="lab")), job("b", Asked(partition="p"))]) == [
        ("p", "", set()),
        ("p", "lab", set()),
    ]


def test_sandboxes_that_the_benchmarks_of_a_grid_name():
    runs, own = {"scorer": "multipl_e"}, {"time_limit_s": 15.0, "unsafe": False}
    image = runs | {"scoring": own | {"image": "tools.sif"}}
    text = {"scorer": "gsm_hard", "scoring": own}  # has no program run, whatever its block says
    elsewhere = {"elsewhere": image}  # no job of the grid is of it
    assert needs.sandboxes(JOBS, {"arithmetic": runs, "code": image} | elsewhere) == [
        {},
        {"unsafe": False, "image": "tools.sif"},
    ]
    assert needs.sandboxes(JOBS, {"arithmetic": text, "code": image}) == [{"unsafe": False, "image": "tools.sif"}]
    assert needs.sandboxes(JOBS, {"arithmetic": runs, "code": runs}) == [{}]
    assert needs.sandboxes(JOBS, {"arithmetic": text, "code": text} | elsewhere) == []


LIMITS = {"cores": 8, "resources": {"gpu": 1}}


def test_members_of_a_group_that_wait_for_each_other_run_one_after_the_other():
    answer, score = Need("answer_problems", 2, 32000, 60, 1, "", ""), Need("score_answers", 1, 4000, 30, 0, "", "")
    groups = {"groups": {"answer_problems": "answers", "score_answers": "answers"}}
    assert needs.grouped([answer, score], LIMITS | groups) == [Need("group answers", 2, 32000, 90, 1, "", "")]
    assert needs.grouped([answer], LIMITS) == []
    other = Need("answer_problems", 4, 16000, 45, 1, "a100", "")  # the same rule on another GPU: another allocation
    assert needs.grouped([answer, other, score], LIMITS | groups) == [
        Need("group answers", 2, 32000, 90, 1, "", ""),
        Need("group answers", 4, 16000, 75, 1, "a100", ""),
    ]


# As in the papers' grid, third attempt.
SCORE = Need("score_expert_answers", 1, 24000, 180, 0, "", "main", jobs=32)
PROBE = Need("probe_experts", 4, 24000, 60, 0, "", "main", jobs=32)
EXTRACT = Need("extract_features", 4, 192000, 180, 1, "a100", "", jobs=64)
GENERATE = Need("generate_expert_answers", 4, 192000, 360, 1, "a100", "", jobs=44)
TEAM = Need("score_team", 8, 48000, 360, 0, "", "", jobs=285)


@pytest.mark.parametrize(
    ("rules", "size", "asked"),
    [
        ([SCORE], 8, Need("group g", 8, 192000, 180, 0, "", "main")),  # side by side
        ([PROBE], 8, Need("group g", 8, 48000, 240, 0, "", "main")),  # two at once
        ([SCORE, PROBE], 8, Need("group g", 8, 192000, 360, 0, "", "main")),  # all score; 180 + 3 * 60 with 6 probes
        ([EXTRACT, GENERATE], 4, Need("group g", 4, 192000, 1440, 1, "a100", "")),  # one GPU
        ([TEAM], 4, Need("group g", 8, 48000, 1440, 0, "", "")),  # eight threads each
        ([replace(SCORE, jobs=3)], 8, Need("group g", 3, 72000, 180, 0, "", "main")),  # no more are left
    ],
)
def test_members_of_a_group_that_run_side_by_side_add_up_as_in_snakemake(rules, size, asked):
    groups = {"groups": {need.rule: "g" for need in rules}, "group-components": {"g": size}}
    assert needs.grouped(rules, LIMITS | groups) == [asked]


def test_members_of_a_group_that_take_turns_ask_for_the_time_of_all_and_the_rest_of_one():
    limits = {"cores": 8, "resources": {"gpu": 1, "turn": 1}, "group-components": {"g": 8}}
    groups = {"groups": {"score_expert_answers": "g", "probe_experts": "g"}}
    score, probe = replace(SCORE, turns=1), replace(PROBE, turns=1)
    assert needs.grouped([score, probe], limits | groups) == [
        Need("group g", 4, 24000, 8 * 180, 0, "", "main", turns=1)
    ]
    # whose rule names no turn runs beside the others: eight at once
    assert needs.grouped([SCORE], limits | groups) == [Need("group g", 8, 192000, 180, 0, "", "main")]


def test_a_group_of_too_many_mixes_asks_for_what_the_largest_jobs_would():
    rules = [Need(f"rule{place}", 1 + place % 4, 1000, 30, 0, "", "main", jobs=50) for place in range(10)]
    rules[3] = replace(rules[3], minutes=60)
    sized = {"groups": {need.rule: "g" for need in rules}, "group-components": {"g": 12}}
    # 293,930 mixes: two of four cores at once are six hours; eight of one core at once are 8000 MB
    assert needs.grouped(rules, LIMITS | sized) == [Need("group g, at most", 8, 8000, 6 * 60, 0, "", "main")]
    rules[0] = replace(rules[0], partition="low")
    with pytest.raises(WorkflowError, match="slurm_partition"):
        needs.grouped(rules, LIMITS | sized)


def test_the_largest_jobs_ask_for_no_less_than_any_mix(monkeypatch):
    five, three = Need("five", 5, 1000, 30, 1, "", "", jobs=9), Need("three", 3, 4000, 10, 0, "", "", jobs=9)
    sized = {"groups": {"five": "g", "three": "g"}, "group-components": {"g": 3}}
    # exact: five beside three, then one more; side by side two of three; three of five in turn
    assert needs.grouped([five, three], LIMITS | sized) == [Need("group g", 8, 8000, 90, 1, "", "")]
    monkeypatch.setattr(needs, "MOST_MIXES", 3)
    assert needs.grouped([five, three], LIMITS | sized) == [Need("group g, at most", 8, 8000, 90, 1, "", "")]


@pytest.mark.parametrize("target", ["check-cluster", "plan"])
def test_config_files_and_profiles_are_given_to_make(target):
    command = ["make", "--dry-run", target, "CONFIG=a.yaml b.yaml", "PROFILE=mine"]
    said = subprocess.run(command, cwd=check.CHECKOUT, capture_output=True, text=True, check=True).stdout
    assert " --configfile a.yaml b.yaml --profile mine\n" in said


def test_a_job_fits_if_one_node_gives_all_that_it_asks_for():
    usable = fitness.nodes_of(nodes, MAIN)
    assert fitness.misfits(Need("train", 4, 300000, 1440, 2, "a100", ""), MAIN, usable) == []
    assert fitness.misfits(Need("train", 4, 300001, 1440, 2, "a100", ""), MAIN, usable) == ["300001 > 300000 MB"]
    assert fitness.misfits(Need("train", 1, 1, 1441, 0, "", ""), MAIN, usable) == ["24.0 h > MaxTime 24.0 h"]
    assert fitness.misfits(Need("train", 4, 1, 1, 1, "h100", ""), MAIN, usable) == ["1 > 0 GPUs h100"]
    assert fitness.misfits(Need("train", 1, 1, 1, 0, "", ""), MAIN, []) == ["no usable node"]
    assert fitness.misfits(Need("x", 1, 2000, 1, 0, "", ""), {**MAIN, "MaxMemPerNode": "1000"}, usable) == [
        "2000 > 1000 MB"
    ]


def test_a_last_attempt_that_does_not_fit_is_a_warning_and_a_first_one_a_fault():
    usable = fitness.nodes_of(nodes, MAIN)
    first, last = Need("train", 4, 150000, 720, 1, "", ""), Need("train", 4, 450000, 2160, 1, "", "")
    [finding] = fitness.resources([first], [last], MAIN, usable, 3)
    assert (finding.state, finding.found) == (
        WARN,
        "train, attempt 3: 36.0 h > MaxTime 24.0 h; 450000 > 300000 MB",
    )
    [finding] = fitness.resources([last], [last], MAIN, usable, 3)
    assert finding.state == FAIL
    [finding] = fitness.resources([], [first], MAIN, usable, 3)
    assert (finding.state, finding.found) == (OK, "1 rules fit, at attempt 3 too")
    assert fitness.resources([], [], MAIN, usable, 3) == []  # all that goes there is done


def test_what_only_the_input_of_a_job_will_tell_is_said_to_be_unknown():
    sized = Asked(1, 0, 10, unknown=frozenset({"mem_mb"}))
    found = needs.needs([job("score", sized), job("score", Asked(1, 500, 20))], 0)
    assert found == [Need("score", 1, 500, 20, 0, "", "", unknown=frozenset({"mem_mb"}), jobs=2)]
    [finding] = fitness.resources(found, found, MAIN, fitness.nodes_of(nodes, MAIN), 3)
    assert (finding.state, finding.found) == (WARN, "score: mem_mb unknown before its input is there")


def test_what_a_profile_takes_from_its_jobs_is_named_with_its_key():
    gpu, both = frozenset({"gpu"}), frozenset({"gpu", "mem_mb"})
    first = [Need("answer", 1, 1, 1, 0, "", "", cut=gpu), Need("train", 1, 1, 1, 0, "", "", cut=gpu)]
    faults = fitness.caps(first, [replace(need, cut=both) for need in first], 3)
    assert [(each.state, each.found) for each in faults] == [
        (FAIL, "`resources: gpu` gives less than named to answer, train"),
        (WARN, "attempt 3: `resources: mem_mb` gives less than named to answer, train"),
    ]
    assert all(each.todo for each in faults)
    whole = [replace(need, cut=frozenset()) for need in first]
    assert fitness.caps(whole, whole, 3) == []


def test_a_grid_whose_profile_takes_all_gpus_is_a_fault(monkeypatch):
    monkeypatch.setattr(check, "ask", SHOWN.get)
    asked = Asked(1, 1000, 10, cut=frozenset({"gpu"}))
    jobs = [job("train_grpo", asked, asked)]
    assert [each.found for each in check.cluster(SITE, jobs, needs.places(jobs)) if each.state == FAIL] == [
        "`resources: gpu` gives less than named to train_grpo"
    ]


SHOWN = {"config": CONFIG, "partition": PARTITIONS, "node": NODES}
SITE = PROFILE | {"retries": 1, "groups": {}}


def test_every_partition_that_jobs_go_to_is_looked_at(monkeypatch):
    monkeypatch.setattr(check, "ask", SHOWN.get)
    small = Asked(2, 1000, 10, partition="low")
    jobs = [job("train_grpo", *GROWN), job("score_answers", small, small), job("write", Asked(partition="gone"))]
    found = list(check.cluster(SITE, jobs, needs.places(jobs)))
    assert [(each.what, each.state) for each in found] == [
        ("job states", OK),
        ("account", OK),
        ("partition", FAIL),  # gone
        ("partition", FAIL),  # low is down
        ("preemption", WARN),
        ("resources", FAIL),  # its only node is drained
        ("partition", OK),
        ("preemption", OK),
        ("GPUs", OK),
        ("resources", WARN),  # the second attempt takes 36 hours
        ("limits", OK),
    ]
    assert found[2].found == "gone is not one of main, low"
    assert found[5].found == "score_answers: no usable node"
    assert found[9].found == "train_grpo, attempt 2: 36.0 h > MaxTime 24.0 h"


def test_a_group_whose_jobs_go_to_different_partitions_is_a_fault(monkeypatch):
    monkeypatch.setattr(check, "ask", SHOWN.get)
    monkeypatch.setattr(here, "programs", lambda: dict.fromkeys(here.SLURM, "/usr/bin/it"))
    monkeypatch.setattr(check, "login_node", lambda profile, grid: [])
    jobs = [job("train", Asked(partition="main")), job("score", Asked(partition="low"))]
    site = SITE | {"groups": {"train": "g", "score": "g"}, "cores": 8}
    last = check.found(site, Grid(jobs, {}), no_job=True)[-2]
    assert (last.what, last.state, "slurm_partition" in last.found) == ("resources", FAIL, True)


ANSWER = {
    "token": "t",
    "host": "n1",
    "time": 1000.0,
    "gpus": "0",
    "lock": "held elsewhere",
    "sandboxes": [{"image": None, "kind": "unshare"}],
    "apptainer": "",
    "toolchains": [],
}


@pytest.mark.parametrize(
    ("changed", "what", "state"),
    [
        ({"token": "old"}, "shared folder", FAIL),
        ({"lock": "free"}, "file locks", FAIL),
        ({"lock": "[Errno 37] No locks available"}, "file locks", FAIL),
        ({"time": 1010.0}, "clocks", WARN),
        ({"time": 900.0}, "clocks", WARN),
        ({"gpus": ""}, "GPUs", WARN),
        ({"gpus": "NoDevFiles"}, "GPUs", WARN),
        ({"sandboxes": [{"image": None, "error": "none works here"}]}, "sandbox", FAIL),
        ({"toolchains": ["mcs (mono-mcs)"]}, "toolchains", WARN),
    ],
)
def test_what_a_node_answers_is_judged(changed, what, state):
    assert {each.state for each in compute_node.judge(ANSWER, "t", 1001.0)} == {OK}
    bad = [each for each in compute_node.judge({**ANSWER, **changed}, "t", 1001.0) if each.state != OK]
    assert [(each.what, each.state) for each in bad] == [(what, state)]
    assert bad[0].todo


@pytest.mark.parametrize(
    ("kind", "apptainer", "state", "found", "todo"),
    [
        ("apptainer", "/bin/apptainer", OK, "apptainer on n1, with tools.sif", ""),
        ("bubblewrap", "", OK, "bubblewrap on n1, which comes before the image tools.sif", ""),
        ("unshare", "", WARN, "unshare on n1, not the image tools.sif: no apptainer there", "put apptainer on PATH"),
        ("unshare", "/bin/apptainer", WARN, "unshare on n1, not the image tools.sif", "`/bin/apptainer exec tools.sif"),
    ],
)
def test_an_image_that_the_config_names_is_what_a_node_can_run(kind, apptainer, state, found, todo):
    box = {"image": "tools.sif", "kind": kind}
    answer = {**ANSWER, "sandboxes": [box], "apptainer": apptainer, "toolchains": ["ghc"]}
    findings = {each.what: each for each in compute_node.judge(answer, "t", 1001.0)}
    assert (findings["sandbox"].state, findings["sandbox"].found) == (state, found)
    assert findings["sandbox"].todo.startswith(todo)
    assert findings["toolchains"].state == (OK if kind == "apptainer" else WARN)  # the image has its own


def test_a_node_of_which_no_gpu_was_asked_says_nothing_of_gpus():
    findings = compute_node.judge({**ANSWER, "gpus": ""}, "t", 1001.0, gpu=False)
    assert {each.state for each in findings} == {OK}
    assert "GPUs" not in {each.what for each in findings}


def test_where_no_scorer_runs_programs_neither_sandbox_nor_toolchains_are_judged():
    findings = compute_node.judge({**ANSWER, "sandboxes": [], "toolchains": ["ghc"]}, "t", 1001.0)
    assert [(each.what, each.state) for each in findings] == [
        ("shared folder", OK),
        ("file locks", OK),
        ("clocks", OK),
        ("GPUs", OK),
    ]


def test_a_probe_tries_the_sandbox_that_a_scorer_would(monkeypatch, tmp_path):
    (tmp_path / "token").write_text("t")
    boxes = [{"unsafe": False}, {"toolchains": str(tmp_path / "gone"), "image": "tools.sif"}]
    (tmp_path / "sandboxes.json").write_text(json.dumps(boxes))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "apptainer").write_text("#!/bin/sh\n")
    (tmp_path / "apptainer").chmod(0o755)
    answer = probe.answer(tmp_path)
    plain, gone = answer["sandboxes"]
    assert (plain["image"], "kind" in plain) == (None, True)
    assert gone == {"image": "tools.sif", "error": f"toolchains: {tmp_path / 'gone'} is no folder"}
    assert answer["apptainer"] == str(tmp_path / "apptainer")
    assert (answer["token"], answer["lock"]) == ("t", "free")


@pytest.mark.parametrize(
    ("printed", "cancelled", "found"),
    [
        ("4711", ["4711"], "job 4711 had not ended after 1 s"),
        ("4711;north", ["--clusters=north 4711"], "job 4711 had not ended after 1 s"),
        ("", [], "sbatch had not answered after 1 s"),
    ],
)
def test_a_probe_that_does_not_end_is_cancelled(tmp_path, monkeypatch, printed, cancelled, found):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in {
        "sbatch": f"printf '%s' '{printed}'; touch {tmp_path}/printed; exec sleep 600",
        "scancel": f"echo $* >>{tmp_path}/cancelled",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)

    class Prompt(subprocess.Popen):
        """One that has printed before anybody waits for it."""

        def communicate(self, *arguments, **options):
            end = time.monotonic() + 120
            while not (tmp_path / "printed").exists() and time.monotonic() < end:
                time.sleep(0.02)
            return super().communicate(*arguments, **options)

    monkeypatch.setattr(compute_node.subprocess, "Popen", Prompt)
    [finding] = compute_node.check(tmp_path, tmp_path, Place("", "", frozenset({""})), [{}], within_s=1)
    assert (finding.what, finding.state, finding.found) == ("job on a node", WARN, found)
    said = Path(tmp_path, "cancelled")
    assert (said.read_text().splitlines() if said.exists() else []) == cancelled


def test_this_machine(monkeypatch, tmp_path):
    assert here.conda_version("conda 24.7.1\n").state == OK
    assert here.conda_version("conda 23.11.0\n").state == FAIL
    assert here.conda(False).state == OK
    monkeypatch.setenv("PATH", str(tmp_path))
    assert here.conda(True).state == FAIL
    assert here.slurm(here.programs()).found == "no sbatch, squeue, scancel, scontrol, srun, sacct"


def test_what_is_still_to_be_fetched(monkeypatch):
    models = {"gpt2": {"id": "openai/gpt2"}, "llama": {"id": "nobody/llama", "revision": "0" * 40, "gated": True}}
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    monkeypatch.setattr(here, "reaches", lambda place: False)
    assert [each.state for each in here.cache(models, [], [])] == [OK]
    offline, gated = here.cache(models, ["gpt2", "llama"], ["gsm8k"])
    assert (offline.state, offline.found) == (WARN, "to fetch: 2 models, 1 data sets (gpt2, llama, gsm8k)")
    assert (gated.state, "llama" in gated.found) == (FAIL, True)
    monkeypatch.setattr(here, "reaches", lambda place: True)
    assert [each.state for each in here.cache(models, ["gpt2"], [])] == [OK]


def test_room_on_the_disk(tmp_path):
    plan = tmp_path / "plan.csv"
    assert "`make plan`" in here.disk(tmp_path, plan).todo
    plan.write_text("item,disk_gb\ntable,0.001\nfigure,0.001\ntotal,1e12\n")
    assert here.disk(tmp_path, plan).state == OK
    plan.write_text("item,disk_gb\ntable,1e9\n")
    assert here.disk(tmp_path, plan).state == WARN
