"""The expert table: numbers as they are stored, in the order of the grid."""

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.expert_table import expert_rows

ORDER = {"benchmarks": ["sums", "logic"], "experts": ["math", "code"]}


def scores(benchmark="sums", expert="math", split="test", shares=None, **metrics):
    values = {"accuracy": 12.5, "accuracy_bare": 87.5, "accuracy_unseen": None, "score_mean": 13.125}
    return {
        "benchmark": benchmark,
        "expert": expert,
        "split": split,
        "num_problems": 8,
        "metrics": values | metrics,
        "shares": {"cut": 0.125, "unparsed": 1 / 3, "prompt_cut": 0.25} | (shares or {}),
        "counts": {"errors": 0, "timed_out": 0, "unseen": 0},
    }


def test_a_row():
    assert expert_rows({"a": scores()}, **ORDER) == [
        {
            "benchmark": "sums",
            "expert": "math",
            "accuracy": "12.50",
            "accuracy_bare": "87.50",
            "accuracy_unseen": "",
            "score_mean": "13.12",  # an exact tie goes to the even one
            "share_cut": "0.1250",
            "share_unparsed": "0.3333",
            "share_prompt_cut": "0.2500",
            "num_problems": "8",
        }
    ]


def test_order_is_that_of_the_grid():
    files = {"a": scores("logic", "math"), "b": scores("sums", "code"), "c": scores("sums", "math")}
    rows = expert_rows(files, **ORDER)
    assert [(row["benchmark"], row["expert"]) for row in rows] == [
        ("sums", "math"),
        ("sums", "code"),
        ("logic", "math"),
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a": scores(), "b": scores()}, "b: math on sums is there twice"),
        ({"a": scores(benchmark="gsm8k")}, "a: math on gsm8k, test, is not in the table"),
        ({"a": scores(expert="gpt2")}, "a: gpt2 on sums, test, is not in the table"),
        ({"a": scores(split="train")}, "a: math on sums, train, is not in the table"),
        ({"a": scores(accuracy=101.0)}, "a: accuracy is 101.0, not between 0 and 100"),
        ({"a": scores(shares={"cut": 1.5})}, "a: cut is 1.5, not between 0 and 1"),
        ({"a": {"benchmark": "sums", "expert": "math"}}, "a: not a file of an expert's scores"),
        ({"a": []}, "a: not a file of an expert's scores"),
    ],
)
def test_other_files_are_refused(files, message):
    with pytest.raises(ArtifactError, match=message):
        expert_rows(files, **ORDER)
