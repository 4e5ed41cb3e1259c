"""The paper's numbers are read as they stand, and a bad file stops."""

from pathlib import Path

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.slices_published import read_other, read_table1

FOLDER = Path(__file__).parents[2] / "workflow/published"


def test_both_files():
    table = read_table1(FOLDER / "slices_table1.csv")
    assert table["musique", "cl", "none", "accuracy"] == (42.37, "paper Table 1")
    assert len(table) == 120
    other = read_other(FOLDER / "slices_other.csv")
    assert other["topology_share_pct", "musique", "long linear, after CL"] == ("60.12", "paper section 3.5")
    assert other["metrics_won", "all 10 metrics", "CL vs SE-RL"][0] == "8/10"


@pytest.mark.parametrize(
    ("rows", "message"),
    [("a,b,c,x,,\n", "'x', not a number"), ("a,b,c,1,,\na,b,c,2,,\n", "there twice")],
)
def test_bad_tables(tmp_path, rows, message):
    (tmp_path / "t.csv").write_text("benchmark,method,metric,value,dagger,source\n" + rows)
    with pytest.raises(ArtifactError, match=message):
        read_table1(tmp_path / "t.csv")


def test_a_quantity_that_is_there_twice(tmp_path):
    (tmp_path / "t.csv").write_text("quantity,benchmark,condition,value,source_section\n" + "a,b,c,1,\n" * 2)
    with pytest.raises(ArtifactError, match="there twice"):
        read_other(tmp_path / "t.csv")
