"""What jobs cost: files as Snakemake and the jobs write them, those that are gone, those of another form."""

import json

import pytest

from slmcollab import usage
from slmcollab.artifacts import ArtifactError
from slmcollab.report.resources import (
    COLUMNS,
    ON,
    Job,
    gpu_seconds,
    read_job,
    read_machine,
    read_usage,
    read_wall,
    resource_rows,
)

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
MEASURED = "50.42\t0:00:50\t627.03\t2505.14\t529.39\t556.24\t0.14\t12.90\t87.70\t44.73\n"
SHORT = "0.09\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n"
USED = {"cpu_s": 1.5, "max_rss_mb": 300.25, "gpu_mb": None}


@pytest.mark.parametrize(("row", "seconds"), [(MEASURED, 50.42), (SHORT, 0.09)])
def test_wall_time_is_read_as_snakemake_writes_it(tmp_path, row, seconds):
    (tmp_path / "a.tsv").write_text(HEADER + row)
    assert read_wall(tmp_path / "a.tsv") == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        HEADER + MEASURED.rstrip(),
        HEADER + MEASURED + SHORT,
        HEADER.replace("s\t", "seconds\t", 1) + MEASURED,
        *(HEADER + MEASURED.replace("50.42", wrong) for wrong in ("NA", "nan", "-1", "")),
    ],
)
def test_a_resources_file_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "a.tsv").write_text(text)
    with pytest.raises(ArtifactError, match=r"a\.tsv: "):
        read_wall(tmp_path / "a.tsv")


def test_the_last_usage_of_a_log_counts_wherever_in_its_line_it_starts(tmp_path):
    log = tmp_path / "a.log"
    lines = [f"usage: {json.dumps(USED | {'cpu_s': 9.0})}", f"50%|###  | 1/2usage: {json.dumps(USED)}", "a warning"]
    log.write_text("\n".join(lines))
    assert read_usage(log) == USED


def test_what_a_job_reports_is_what_is_read(tmp_path, capsys):
    usage.report_usage()
    (tmp_path / "a.log").write_text(capsys.readouterr().out)
    assert read_usage(tmp_path / "a.log").keys() == USED.keys()
    assert read_machine(tmp_path / "a.log") == usage.describe_machine()


def test_a_machine_is_the_last_that_a_log_names_none_where_it_names_none_and_never_half(tmp_path):
    log = tmp_path / "a.log"
    machine = dict.fromkeys(ON) | {"cpu": "first"}
    log.write_text(f"machine: {json.dumps(machine)}\nkilled\nmachine: {json.dumps(machine | {'cpu': 'second'})}\n")
    assert read_machine(log)["cpu"] == "second"
    log.write_text(f"usage: {json.dumps(USED)}\n")
    assert read_machine(log) is None
    log.write_text('machine: {"cpu": "fir')
    with pytest.raises(ArtifactError, match=r"a\.log: machine: .* is no JSON"):
        read_machine(log)
    log.write_text('machine: {"cpu": "first"}\n')
    with pytest.raises(ArtifactError, match=r"a\.log: its machine has \['cpu'\]"):
        read_machine(log)


def test_what_is_gone_is_none(tmp_path):
    (tmp_path / "a.log").write_text("usage: step [-h] --cell TEXT\ndone\n")
    assert read_usage(tmp_path / "a.log") is None
    assert read_usage(tmp_path / "b.log") is None
    assert read_wall(tmp_path / "b.tsv") is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"cpu_s": 1.5, "max', "is no JSON"),
        (json.dumps({"cpu_s": 1.5}), r"its usage has \['cpu_s'\]"),
        (json.dumps(USED | {"children": 1}), "its usage has"),
        *((json.dumps(USED | {"cpu_s": wrong}), "cpu_s is") for wrong in (None, -1, True, "1.5", float("inf"))),
        (json.dumps(USED | {"max_rss_mb": None}), "max_rss_mb is None"),
        (json.dumps(USED | {"gpu_mb": float("nan")}), "gpu_mb is nan"),
    ],
)
def test_a_usage_of_another_form_is_refused(tmp_path, line, message):
    (tmp_path / "a.log").write_text(f"usage: {line}\n")
    with pytest.raises(ArtifactError, match=rf"a\.log: .*{message}"):
        read_usage(tmp_path / "a.log")


def job(rule, wall, cpu=None, memory=None, gpu=None):
    return Job(rule, wall, None if cpu is None else {"cpu_s": cpu, "max_rss_mb": memory, "gpu_mb": gpu})


def test_medians_and_peaks_by_hand():
    jobs = [
        job("b", 0.1),
        job("a", 1.0, 4.0, 100.0),
        job("a", None, 5.0, 300.0, gpu=40.0),
        job("c", None),
        job("a", 9.0, 6.5, 200.0, gpu=70.0),
        job("a", 2.0),
        job("a", 0.5, 8.0, 50.0),
    ]
    # Rule a, wall: 0.5, 1, 2, 9, median 1.5; CPU: 4, 5, 6.5, 8, median 5.75.
    rows = resource_rows(jobs)
    assert [list(row.values()) for row in rows] == [
        ["b", "1", "0", "1", "0.10", "0.10", "", "", "", ""],
        ["a", "5", "1", "1", "1.50", "9.00", "5.75", "8.00", "300.00", "70.00"],
        ["c", "1", "1", "1", "", "", "", "", "", ""],
    ]
    assert all(tuple(row) == COLUMNS for row in rows)


def test_gpu_seconds_are_those_of_the_jobs_that_used_one():
    used, unused = USED | {"gpu_mb": 10.0}, USED
    jobs = [Job("a", 50.0, used), Job("a", 7.0, unused), Job("b", 2.5, used)]
    assert gpu_seconds(jobs) == 52.5
    assert gpu_seconds(jobs[1:2]) is None  # measured, but without a GPU
    assert gpu_seconds([]) is None
    for unknown in (Job("a", None, used), Job("a", 1.0, None)):
        assert gpu_seconds([*jobs, unknown]) is None


def test_a_job_is_read_from_both_its_files(tmp_path):
    (tmp_path / "rule.job.tsv").write_text(HEADER + MEASURED)
    (tmp_path / "rule.job.log").write_text(f"usage: {json.dumps(USED)}\n")
    files = {"resources": f"{tmp_path}/{{rule}}.{{job}}.tsv", "log": f"{tmp_path}/{{rule}}.{{job}}.log"}
    assert read_job("rule", "job", **files) == Job("rule", 50.42, USED)
    assert read_job("rule", "other", **files) == Job("rule", None, None)
