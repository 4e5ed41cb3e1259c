"""Tables for a LaTeX document: booktabs, names as they are, one decimal."""

from collections.abc import Iterable, Sequence

from slmcollab.report.measured import Measured
from slmcollab.report.tables import format_number

MISSING = "--"
ESCAPES = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "\n": " ",
    "\r": " ",
}


def escape(text: str) -> str:
    """Return LaTeX that prints the text as it is, on one line; ± becomes its sign."""
    return text.translate(str.maketrans(ESCAPES))


def mean_texts(column: Sequence[Measured]) -> list[str]:
    r"""Return one LaTeX cell each: "mean $\pm$ std", the mean alone for one seed, "--" for none, the best mean bold.

    Numbers are rounded to one decimal before they are compared, so that means that print alike are bold together.
    """
    means = [format_number(measured.mean, 1) for measured in column]
    best = max((float(mean) for mean in means if mean), default=None)
    return [
        (rf"\textbf{{{mean}}}" if mean and float(mean) == best else mean or MISSING)
        + (rf" $\pm$ {format_number(measured.std, 1)}" if measured.std is not None else "")
        for mean, measured in zip(means, column, strict=True)
    ]


def seeds_note(shown: Iterable[Measured]) -> str:
    """Return what the cells of `mean_texts` are, as plain text, with the number of seeds behind them."""
    counts = sorted({measured.n_seeds for measured in shown if measured.n_seeds})
    seeds = " to ".join(map(str, dict.fromkeys([*counts[:1], *counts[-1:]]))) or "no"
    return (
        f"Mean ± sample standard deviation (n - 1) over n = {seeds} {'seed' if counts == [1] else 'seeds'}, without ±"
        f" for a single seed; the best mean is bold; {MISSING}: not run, or nothing to measure."
    )


def latex_table(columns: Sequence[str], lines: Iterable[Sequence[str]], *, caption: str, label: str) -> str:
    """Return a `table` environment: the first column left, the others right; columns and caption are plain text.

    lines: LaTeX cells, one a column. Raises ValueError for a line with more or fewer.
    """
    body = [[escape(column) for column in columns], *map(list, lines)]
    if any(len(line) != len(columns) for line in body):
        raise ValueError(f"{label}: a line without exactly {len(columns)} cells")
    header, *rest = [f"{' & '.join(line)} \\\\" for line in body]
    parts = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(caption)}}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\toprule",
        header,
        r"\midrule",
        *rest,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(parts) + "\n"
