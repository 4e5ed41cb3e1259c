"""A table as a page to read in a browser: Snakemake's report shows HTML and pictures, a CSV file only as a download."""

import csv
import html
import io
from collections.abc import Iterable, Sequence

FIRST = ("claim", "statement", "row", "verdict")  # what a reader looks for, left of what it rests on
STYLE = """
body { margin: 1rem; font: 13px/1.35 "DejaVu Sans", sans-serif; color: #222 }
table { border-collapse: collapse }
th { position: sticky; top: 0; background: #eef1f5; text-align: left; vertical-align: bottom }
th, td { padding: 2px 9px; border-bottom: 1px solid #d5dae0 }
td { vertical-align: top }
.word { white-space: nowrap }
.text { min-width: 17em }
.long { min-width: 34em }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr:hover td { background: #f6f8fa }
p { max-width: 60em }
"""


def table_page(text: str, name: str) -> str:
    """Return CSV text with a header as HTML that needs no other file; empty columns are only named, below the table.

    name: what the browser calls the page. Raises ValueError or csv.Error for text that is no table: nothing, a ragged
    row, two columns of one name.
    """
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    if len(set(header)) < len(header):
        raise ValueError("two columns of one name")
    columns = {name: values for name, *values in zip(header, *rows, strict=True)}
    empty = [name for name, values in columns.items() if rows and not any(values)]
    shown = sorted(set(columns) - set(empty), key=lambda name: (_place(name), header.index(name)))
    kinds = [_kind(columns[name]) for name in shown]
    lines = [_row("td", kinds, values) for values in zip(*(columns[name] for name in shown), strict=True)]
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(name)}</title>',
            f"<style>{STYLE}</style></head>\n<body>\n<table>\n<thead>{_row('th', kinds, shown)}</thead>\n<tbody>",
            *lines,
            "</tbody>\n</table>",
            *([f"<p>Without a value in any row: {html.escape(', '.join(empty))}.</p>"] if empty else []),
            "</body>\n</html>\n",
        ]
    )


def _row(tag: str, kinds: Sequence[str], values: Iterable[str]) -> str:
    cells = zip(kinds, values, strict=True)
    return "<tr>" + "".join(f'<{tag} class="{kind}">{html.escape(value)}</{tag}>' for kind, value in cells) + "</tr>"


def _place(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def _kind(values: Sequence[str]) -> str:
    """Return number, word, text or long: how a column with these values is set."""
    try:
        if [float(value) for value in values if value]:
            return "number"
    except ValueError:
        pass
    longest = max(map(len, values), default=0)
    return "long" if longest > 160 else "text" if longest > 30 else "word"
