"""The page of a table says what its CSV file says, whatever stands in it."""

from html.parser import HTMLParser

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.report.page import table_page
from slmcollab.steps import show_table

CSV = """benchmark,published,mean,reason
musique,,81.20,"a, b
and <reasoning>"
gsm_hard,,-4,
math,,,"""


class Cells(HTMLParser):
    """The cells of a page, row by row, and what stands below its table."""

    def __init__(self, page: str):
        super().__init__()
        self.rows, self.kinds, self.below, self.open = [], [], "", None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open = tag
        if tag == "tr":
            self.rows.append([])
            self.kinds.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self.kinds[-1].append(dict(attrs)["class"])

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open in ("th", "td"):
            self.rows[-1][-1] += data
        elif self.open == "p":
            self.below += data


def test_every_value_is_there_as_it_is_and_an_empty_column_only_by_name():
    page = Cells(table_page(CSV + "\n", "table"))
    assert page.rows == [
        ["benchmark", "mean", "reason"],
        ["musique", "81.20", "a, b\nand <reasoning>"],
        ["gsm_hard", "-4", ""],
        ["math", "", ""],
    ]
    assert page.below == "Without a value in any row: published."


def test_numbers_are_set_as_numbers_and_words_by_their_length():
    text = f"a,b,c,d,e\n1,x,{'y' * 31},{'z' * 161},{'w' * 30}\n-2.5,3,,,\n"
    assert Cells(table_page(text, "table")).kinds[0] == ["number", "word", "text", "long", "word"]


def test_a_verdict_stands_beside_its_claim():
    page = Cells(table_page("claim,quantity,statement,row,verdict\nA1,gap,better,part,holds\n", "claims"))
    assert page.rows[1] == ["A1", "better", "part", "holds", "gap"]


def test_a_table_without_rows_has_its_header():
    assert Cells(table_page("a,b\n", "empty")).rows == [["a", "b"]]


def test_nothing_is_fetched_and_nothing_runs():
    page = table_page('a\n"<script src=""https://x.org""></script>"\n', "<t>")
    assert "<script" not in page
    assert "<title>&lt;t&gt;</title>" in page


@pytest.mark.parametrize("text", ["", "a,b\n1\n", "a,b\n1,2,3\n"], ids=["empty", "short", "long"])
def test_text_that_is_no_table_is_refused(text):
    with pytest.raises(ValueError, match=r"values to unpack|argument|columns"):
        table_page(text, "table")


@pytest.mark.parametrize("text", ["a,a\n1,2\n", "a,b\n1\n", "a\n" + "x" * 200_000 + "\n"])
def test_what_is_no_table_is_refused_by_name(tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ArtifactError, match=r"table\.csv: no table"):
        show_table.main(table=tmp_path / "table.csv", page=tmp_path / "table.html")
    assert not (tmp_path / "table.html").exists()
