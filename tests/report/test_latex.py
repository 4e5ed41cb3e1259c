"""LaTeX: its structure, names letter by letter, what a cell shows."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slmcollab.report.latex import ESCAPES, escape, latex_table, mean_texts, seeds_note
from slmcollab.report.measured import Measured

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.sampled_from(sorted(ESCAPES)))
BACK = {latex: letter for letter, latex in ESCAPES.items() if letter not in "\n\r"}


def printed(latex):
    """Return the text that LaTeX prints: commands of ESCAPES read back; anything else with a meaning is an error."""
    found = []
    for token in re.findall("|".join(map(re.escape, sorted(BACK, key=len, reverse=True))) + "|.", latex, re.DOTALL):
        assert token in BACK or token not in "\\&%$#_{}~^<>", latex
        found.append(BACK.get(token, token))
    return "".join(found)


@given(TEXT)
def test_a_name_is_printed_as_it_is(text):
    assert printed(escape(text)) == re.sub("[\n\r]", " ", text)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(TEXT, min_size=n, max_size=n), min_size=1)), TEXT)
def test_a_table_is_whole_whatever_the_names(rows, caption):
    header, *lines = rows
    cells = [[escape(name) for name in line] for line in lines]
    text = latex_table(header, cells, caption=caption, label="x")
    body = text.partition("\\toprule\n")[2].partition("\\bottomrule\n")[0].replace("\\midrule\n", "")
    found = body.split("\n")[:-1]
    assert len(found) == len(rows)
    for line in found:
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line.removesuffix(r" \\"))) == len(header) - 1
    balance = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        balance += 1 if brace == "{" else -1
        assert balance >= 0
    assert balance == 0
    spec = re.search(r"\\begin\{tabular\}\{(l(r*))\}", text)
    assert len(spec[1]) == len(header)
    assert text.count("\\begin{") == text.count("\\end{") == 2


def test_a_table_letter_by_letter():
    assert latex_table(["a_b", "c"], [["x", "1.0"], [r"\textbf{y}", "--"]], caption="50 % of a ± b", label="t") == (
        r"""% Needs \usepackage{booktabs}.
\begin{table}
\centering
\caption{50 \% of a $\pm$ b}
\label{tab:t}
\begin{tabular}{lr}
\toprule
a\_b & c \\
\midrule
x & 1.0 \\
\textbf{y} & -- \\
\bottomrule
\end{tabular}
\end{table}
"""
    )


def test_a_line_of_another_length_is_refused():
    with pytest.raises(ValueError, match="t: a line without exactly 2 cells"):
        latex_table(["a", "b"], [["x"]], caption="", label="t")


def test_cells_show_mean_std_and_what_is_missing():
    column = [Measured(52.34, 1.78, 3), Measured(75.26, 5.62, 3), Measured(10.0, None, 1), Measured()]
    assert mean_texts(column) == [r"52.3 $\pm$ 1.8", r"\textbf{75.3} $\pm$ 5.6", "10.0", "--"]


def test_means_that_print_alike_are_bold_together():
    assert mean_texts([Measured(75.26, None, 1), Measured(75.34, None, 1), Measured(9.9, None, 1)]) == [
        r"\textbf{75.3}",
        r"\textbf{75.3}",
        "9.9",
    ]
    assert mean_texts([Measured(), Measured()]) == ["--", "--"]


@pytest.mark.parametrize(
    ("counts", "said"),
    [([3, 3, 0], "n = 3 seeds"), ([1, 0], "n = 1 seed,"), ([3, 1, 2], "n = 1 to 3 seeds"), ([0], "n = no seeds")],
)
def test_the_note_says_what_stands_behind_the_numbers(counts, said):
    note = seeds_note(Measured(1.0 if count else None, None, count) for count in counts)
    assert said in note
    assert "sample standard deviation (n - 1)" in note
    assert "--: not run" in note
