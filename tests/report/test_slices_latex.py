"""Table 1 of slices for readers: its lines, arrows, marks and the paper's values below them."""

from dataclasses import replace

from slmcollab.analysis.paired_tests import BOOTSTRAP, Comparison
from slmcollab.report.measured import Measured
from slmcollab.report.slices_latex import slices_latex
from slmcollab.report.slices_table1 import SystemRow, with_marks
from slmcollab.report.table1 import NAMES

GRID = {"reference": "cl", "rows": ["single", "mad", "cl"], "step_scorer": "oracle"}


def row(method, metric, measured, p_value=None, published=None):
    names = dict(zip(NAMES, ("slices", "sums", method, "none", metric), strict=True))
    tested = None if p_value is None else Comparison(p_value, BOOTSTRAP, 9, 5)
    return SystemRow(names, measured, published, comparison=tested)


ROWS = [
    row("single", "accuracy", Measured(40.0, None, 1), 0.02),
    row("single", "f1", Measured(50.0, None, 1), 0.04),
    row("single", "f1_char", Measured(99.0, None, 1), 0.04),
    row("mad", "accuracy", Measured(60.0, 1.5, 2), 0.3),
    row("mad", "f1", Measured()),
    row("cl", "accuracy", Measured(70.0, 2.0, 2)),
    row("cl", "f1", Measured(50.0, 2.0, 2)),
    row("control", "accuracy", Measured(99.0, None, 1), 0.001),
    row("control", "f1", Measured(99.0, None, 1), 0.001),
]


def lines_of(rows):
    lines = slices_latex(with_marks(rows, ["single", "mad"]), GRID).splitlines()
    top, bottom = lines.index(r"\midrule"), lines.index(r"\bottomrule")
    return lines[top - 1], lines[top + 1 : bottom], next(line for line in lines if line.startswith(r"\caption"))


def test_latex_by_hand():
    titles, body, caption = lines_of(ROWS)
    assert titles == r"System & sums accuracy & sums f1 \\"
    # Baselines' mean accuracy 50, F1 50. Holm over three tests: .02 * 3 = .06, so one mark only. The control is no row.
    assert body == [
        r"single & 40.0 $\downarrow$10.0$^{\dagger}$ & \textbf{50.0} $\uparrow$0.0$^{\dagger}$ \\",
        r"mad & \underline{60.0} $\pm$ 1.5 $\uparrow$10.0 & -- \\",
        r"cl & \textbf{70.0} $\pm$ 2.0 $\uparrow$20.0 & \textbf{50.0} $\pm$ 2.0 $\uparrow$0.0 \\",
    ]
    assert "oracle" in caption
    assert "no mark tells how another training would turn out" in caption
    assert "brackets" not in caption
    assert r"$\dagger$ p at most 0.05 in a paired test over questions to cl" in caption
    assert r"$\ddagger$ after Holm's correction over the 3 tests" in caption
    assert "†" not in caption
    assert "‡" not in caption


def test_a_p_that_stands_after_holm_has_the_other_mark():
    _, body, caption = lines_of([row("single", "accuracy", Measured(40.0, None, 1), 0.001)])
    assert body == [r"single & \textbf{40.0} $\uparrow$0.0$^{\ddagger}$ \\"]
    assert "over the 1 tests" in caption


def test_the_papers_value_and_ours_less_the_papers_stand_below():
    rows = [replace(one, published=value) for one, value in zip(ROWS, [42.37, None, None, 59.9, 61.0], strict=False)]
    _, body, caption = lines_of([*rows, *ROWS[5:]])
    assert "in brackets, ours less the paper's" in caption
    assert body[1] == r"\quad paper & 42.37 ($-2.4$) &  \\"
    assert body[3] == r"\quad paper & 59.90 ($+0.1$) & 61.00 \\"
    assert len(body) == 5


def test_nothing_was_run():
    _, body, caption = lines_of([row("mad", "accuracy", Measured()), row("cl", "accuracy", Measured())])
    assert body == [r"mad & -- \\", r"cl & -- \\"]
    assert "over the 0 tests" in caption


def test_below_a_shared_best_mean_nobody_is_second_and_a_shared_second_is_underlined():
    def cells(*means):
        rows = [row(method, "f1", Measured(mean, None, 1)) for method, mean in zip(GRID["rows"], means, strict=True)]
        return [line.split(" & ")[1].split()[0] for line in lines_of(rows)[1]]

    # 70.04 and 69.96 print alike, as 70.0.
    assert cells(70.04, 69.96, 60.0) == [r"\textbf{70.0}", r"\textbf{70.0}", "60.0"]
    assert cells(70.0, 60.0, 60.0) == [r"\textbf{70.0}", r"\underline{60.0}", r"\underline{60.0}"]
