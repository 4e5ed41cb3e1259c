"""What the tables share: which scores files belong to which cell, numbers as text, CSV, the papers' numbers."""

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.tables import csv_text, format_number, group_scores, metric_values, read_csv, read_published

SUMS, LOGIC = ("sums", "hidden_state", "toy"), ("logic", "single", "none")
CELLS = [
    {"benchmark": "sums", "method": "hidden_state", "team": "toy", "seeds": [10, 2, 1]},
    {"benchmark": "logic", "method": "single", "team": "none", "seeds": [0]},
]


def scores(key, seed, **metrics):
    values = {"accuracy": 50.0, "accuracy_seen": 60.0, "accuracy_unseen": 40.0, "score_mean": 55.0}
    return {**dict(zip(("benchmark", "method", "team"), key, strict=True)), "seed": seed, "metrics": values | metrics}


def whole():
    return {
        "logic": scores(LOGIC, 0),
        "one": scores(SUMS, 1, accuracy=50.0),
        "two": scores(SUMS, 2, accuracy=60.0),
        "ten": scores(SUMS, 10, accuracy=70.0),
    }


def test_files_are_grouped_in_the_order_of_the_grid_not_of_the_command_line():
    groups = group_scores(whole(), CELLS)
    assert list(groups) == [SUMS, LOGIC]
    assert groups[SUMS] == {10: "ten", 2: "two", 1: "one"}
    assert list(groups[SUMS]) == [10, 2, 1]


def test_a_second_file_of_a_seed_is_refused():
    with pytest.raises(ArtifactError, match=r"again and two.*seed 2"):
        group_scores(whole() | {"again": scores(SUMS, 2)}, CELLS)


@pytest.mark.parametrize(
    "foreign", [scores(SUMS, 3), scores(SUMS, "1"), scores(("sums", "single", "none"), 1), scores(LOGIC, 1)]
)
def test_a_file_that_the_grid_does_not_ask_for_is_refused(foreign):
    with pytest.raises(ArtifactError, match=r"^foreign: .*not in the grid"):
        group_scores({"foreign": foreign} | whole(), CELLS)


def test_missing_seeds_are_all_named():
    files = whole()
    del files["two"], files["logic"]
    with pytest.raises(ArtifactError, match=r"no scores file for .*'sums'.*seed 2; .*'logic'.*seed 0"):
        group_scores(files, CELLS)


def test_a_file_that_holds_no_scores_is_refused():
    with pytest.raises(ArtifactError, match=r"^odd: .*'metrics', 'seed'"):
        group_scores({"odd": {"benchmark": "sums", "method": "single", "team": "none"}}, CELLS)


def test_a_cell_without_seeds_has_no_files():
    missing = {"benchmark": "logic", "method": "text", "team": "toy", "seeds": []}
    assert group_scores(whole(), [*CELLS, missing])["logic", "text", "toy"] == {}


def test_a_cell_that_is_there_twice_is_refused():
    with pytest.raises(ArtifactError, match=r"twice"):
        group_scores(whole(), [*CELLS, CELLS[0]])


def test_a_null_metric_counts_no_seed():
    files = whole() | {"two": scores(SUMS, 2, accuracy_unseen=None)}
    assert metric_values(["ten", "two", "one"], files, "accuracy_unseen") == [40.0, 40.0]
    assert metric_values([], files, "accuracy") == []


@pytest.mark.parametrize("value", [-0.5, 100.5, float("nan")])
def test_a_metric_that_is_no_percentage_is_refused(value):
    with pytest.raises(ArtifactError, match="ten: accuracy_seen"):
        metric_values(["ten"], {"ten": scores(SUMS, 10, accuracy_seen=value)}, "accuracy_seen")


def test_a_metric_that_is_not_there_is_not_taken_for_null():
    files = whole()
    del files["ten"]["metrics"]["score_mean"]
    with pytest.raises(ArtifactError, match="ten: no metric 'score_mean'"):
        metric_values(["one", "ten"], files, "score_mean")


@pytest.mark.parametrize(
    ("value", "text"),
    # 0.125 and 0.375 are exact in binary: ties, which go to the even decimal; -0.001 has no sign left.
    [(60.0, "60.00"), (0.125, "0.12"), (0.375, "0.38"), (200 / 3, "66.67"), (-0.001, "0.00"), (-15.26, "-15.26")],
)
def test_numbers_are_printed_with_two_decimals(value, text):
    assert format_number(value) == text


def test_a_number_that_is_none_is_not_printed_and_nan_is_refused():
    assert format_number(None) == ""
    with pytest.raises(ValueError, match="nan"):
        format_number(float("nan"))


def test_csv_has_its_columns_and_quotes_what_needs_it():
    assert csv_text(("a", "b"), [{"b": 'table "1", second hand', "a": ""}]) == ('a,b\n,"table ""1"", second hand"\n')
    with pytest.raises(ValueError, match="'c'"):
        csv_text(("a", "b"), [{"a": "1", "b": "2", "c": "3"}])


def test_csv_comes_back_as_the_text_that_it_was(tmp_path):
    rows = [{"a": "7.00", "b": 'x,"y"'}, {"a": "", "b": "line\nline"}]
    (tmp_path / "t.csv").write_text(csv_text(("a", "b"), rows))
    assert read_csv(tmp_path / "t.csv", ("a", "b")) == rows


@pytest.mark.parametrize("text", ["", "a,b,c\n1,2,3", "a,b\n1,2\n", "a,b,c\n1,2\n", "a,b,c\n1,2,3,4\n"])
def test_a_csv_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ArtifactError, match=r"t\.csv: (columns|a row|empty, or cut)"):
        read_csv(tmp_path / "t.csv", ("a", "b", "c"))


PUBLISHED = "benchmark,method,team,metric,mean,std,source\n"


def test_published_numbers_are_found_by_their_key(tmp_path):
    (tmp_path / "p.csv").write_text(PUBLISHED + 'sums,hidden_state,toy,accuracy,75.26,,"page 6, second hand"\n')
    assert read_published(tmp_path / "p.csv") == {(*SUMS, "accuracy"): (75.26, "page 6, second hand")}


@pytest.mark.parametrize(
    ("rows", "message"), [("s,m,t,a,1,,x\ns,m,t,a,2,,y\n", "twice"), ("s,m,t,a,,,x\n", "not a number")]
)
def test_published_numbers_that_are_not_one_are_refused(tmp_path, rows, message):
    (tmp_path / "p.csv").write_text(PUBLISHED + rows)
    with pytest.raises(ArtifactError, match=message):
        read_published(tmp_path / "p.csv")
