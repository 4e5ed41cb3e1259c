"""The probe table: shares become percent points, what could not be probed says why."""

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.probe_table import probe_rows


def probe(expert="toy_math", benchmark="toy_sums", **found):
    result = {"accuracy": 0.875, "chance": 0.125, "n_train": 75, "n_test": 25, "reason": None} | found
    return {"benchmark": benchmark, "expert": expert, "tasks": {"all": {"last_token": result}}}


def test_share_becomes_percent_points():
    # 7 of 8 are 87.5 %, 1 of 8 is 12.5 %.
    assert probe_rows({"p": probe()}, ["toy_sums"]) == [
        {
            "benchmark": "toy_sums",
            "expert": "toy_math",
            "task": "all",
            "pooling": "last_token",
            "accuracy": "87.50",
            "chance": "12.50",
            "n_train": "75",
            "n_test": "25",
            "reason": "",
        }
    ]


def test_no_accuracy_has_a_reason():
    row = probe_rows({"p": probe(accuracy=None, chance=None, reason="no gold text")}, ["toy_sums"])[0]
    assert (row["accuracy"], row["chance"], row["reason"]) == ("", "", "no gold text")


def test_order_is_that_of_the_probes():
    rows = probe_rows({"2": probe("b"), "1": probe("a")}, ["toy_sums"])
    assert [row["expert"] for row in rows] == ["b", "a"]


def test_the_whole_stands_before_its_tasks():
    whole = probe()
    whole["tasks"] = dict.fromkeys(("aiw", "all", "zebra"), whole["tasks"]["all"])
    assert [row["task"] for row in probe_rows({"p": whole}, ["toy_sums"])] == ["all", "aiw", "zebra"]


@pytest.mark.parametrize(
    ("probes", "message"),
    [
        ({"p": probe(), "q": probe()}, "q: .*twice"),
        ({"p": probe(benchmark="logic")}, "p: benchmark 'logic'"),
        ({"p": probe(accuracy=None)}, "p: no accuracy and no reason"),
        ({"p": probe(accuracy=87.5)}, "p: accuracy is 87.5"),
        ({"p": probe(chance=-1.0)}, "p: chance is -1.0"),
        ({"p": {"benchmark": "toy_sums"}}, "p: not a file of probes"),
        ({"p": probe() | {"tasks": []}}, "p: not a file of probes"),
        ({"p": []}, "p: not a file of probes"),
    ],
)
def test_a_probe_that_is_not_one_is_refused(probes, message):
    with pytest.raises(ArtifactError, match=message):
        probe_rows(probes, ["toy_sums"])
