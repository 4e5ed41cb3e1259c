"""What jobs cost: Snakemake's files as they are, those of jobs too short to be measured, those that are gone."""

from pathlib import Path

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.resources import read_resources, resource_rows, rule_of

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
MEASURED = "50.42\t0:00:50\t627.03\t2505.14\t529.39\t556.24\t0.14\t12.90\t87.70\t44.73\n"
SHORT = "0.09\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("results/resources/train_grpo/sums/single/none/seed0.resources.tsv", "train_grpo"),
        ("results/resources/write_toy_corpus.resources.tsv", "write_toy_corpus"),
        ("/a/resources/b/results/resources/train_toy_model/x.resources.tsv", "train_toy_model"),
    ],
)
def test_the_rule_is_a_segment_of_the_path(path, rule):
    assert rule_of(Path(path)) == rule


@pytest.mark.parametrize("path", ["results/logs/train_grpo.log", "resources"])
def test_a_path_without_a_rule_is_refused(path):
    with pytest.raises(ArtifactError, match="its rule is not known"):
        rule_of(Path(path))


def test_a_file_is_read_as_snakemake_writes_it(tmp_path):
    (tmp_path / "a.tsv").write_text(HEADER + MEASURED + SHORT)
    assert read_resources(tmp_path / "a.tsv") == [
        {"s": 50.42, "cpu_time": 44.73, "max_rss": 627.03},
        {"s": 0.09, "cpu_time": None, "max_rss": None},
    ]


@pytest.mark.parametrize("mark", ["NA", "-", ""])
def test_what_was_not_measured_is_none(tmp_path, mark):
    (tmp_path / "a.tsv").write_text(HEADER + MEASURED.replace("627.03", mark))
    assert read_resources(tmp_path / "a.tsv") == [{"s": 50.42, "cpu_time": 44.73, "max_rss": None}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        HEADER + MEASURED.rstrip(),
        HEADER.replace("cpu_time", "cpu") + MEASURED,
        HEADER + MEASURED.replace("50.42", "NA"),
        HEADER + MEASURED.replace("50.42", "nan"),
        HEADER + MEASURED.replace("44.73", "-1"),
        HEADER + MEASURED.replace("627.03", "much"),
        HEADER + "50.42\t0:00:50\n",
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "a.tsv").write_text(text)
    with pytest.raises(ArtifactError, match=r"a\.tsv: "):
        read_resources(tmp_path / "a.tsv")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ArtifactError, match=r"a\.tsv: no such file"):
        read_resources(tmp_path / "a.tsv")


def job(wall, cpu=None, memory=None):
    return {"s": wall, "cpu_time": cpu, "max_rss": memory}


def test_medians_and_firsts_by_hand():
    files = {
        "resources/b/1.resources.tsv": [job(0.1)],
        "resources/a/1.resources.tsv": [job(1.0, 4.0, 100.0), job(2.0, 5.0, 300.0)],
        "resources/a/2.resources.tsv": [job(9.0, 6.5, 200.0), job(0.5)],
        "resources/a/3.resources.tsv": None,
        "resources/c/1.resources.tsv": None,
    }
    # Rule a, wall: 0.5, 1, 2, 9, median 1.5; CPU: 4, 5, 6.5.
    assert [list(row.values()) for row in resource_rows(files)] == [
        ["b", "1", "0", "1", "0.10", "0.10", "", "", ""],
        ["a", "4", "1", "1", "1.50", "9.00", "5.00", "6.50", "300.00"],
        ["c", "0", "1", "0", "", "", "", "", ""],
    ]
