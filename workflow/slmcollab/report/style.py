"""How every figure looks, and how it is written: the same bytes on every rebuild."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.style
import numpy as np
from jaxtyping import UInt8
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from PIL import Image

from slmcollab.artifacts import replacing, write_text
from slmcollab.report.tables import csv_text

# Okabe and Ito's colours, told apart with any colour vision; grey for their yellow, which white paper swallows.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
DASHES = ("solid", (0, (5, 1.5)), (0, (1.5, 1)))
INK, PALE = "#222222", "#8A8A8A"
DPI = 150
PAGE_WIDTH = 7.1  # inches: the text width of a page of two columns, so that texts keep their size in print
UNSTABLE = ("CreationDate", "Creator", "Producer")  # metadata of a PDF that is left out

SETTINGS = {
    "font.family": "DejaVu Sans",  # ships with matplotlib, so it is there and the same everywhere
    "font.size": 7.5,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "text.parse_math": False,  # a $ in a name is a $
    "text.usetex": False,
    "pdf.fonttype": 42,
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
}


@contextlib.contextmanager
def house_style() -> Iterator[None]:
    """Draw and write inside this: the settings above on matplotlib's defaults, whatever the user's own file says."""
    with matplotlib.style.context(SETTINGS, after_reset=True):
        yield


@dataclass(frozen=True)
class FigureFiles:
    """A figure as PDF and as PNG, and the numbers behind it as CSV."""

    figure_pdf: Path
    figure_png: Path
    figure_csv: Path

    def write(self, pages: Sequence[Figure], columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
        write_figure(pages, self.figure_pdf)
        write_figure(pages, self.figure_png)
        write_text(self.figure_csv, csv_text(columns, rows))


def write_figure(pages: Sequence[Figure], path: Path) -> None:
    """Write pages as one PDF or PNG, by the suffix, without dates and program names: equal pages are equal files.

    A PNG shows up to two pages one below the other, more in two columns.
    """
    if path.suffix not in (".pdf", ".png"):
        raise ValueError(f"{path}: figures are written as .pdf or .png")
    # In the style, since matplotlib makes ticks only when it draws them.
    with house_style(), replacing(path) as temporary:
        if path.suffix == ".png":
            picture = Image.fromarray(_tiled([_pixels(page) for page in pages], 1 if len(pages) <= 2 else 2))
            picture.save(temporary, format="png", dpi=(DPI, DPI))
            return
        with PdfPages(temporary, metadata=dict.fromkeys(UNSTABLE)) as document:
            for page in pages:
                document.savefig(page)


def _pixels(page: Figure) -> UInt8[np.ndarray, "row column 3"]:
    canvas = FigureCanvasAgg(page)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def _tiled(pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]], columns: int) -> UInt8[np.ndarray, "row column 3"]:
    """Return the pictures in reading order on white, columns as wide as the widest, rows as high as their highest."""
    width = max(picture.shape[1] for picture in pictures)
    rows = []
    for start in range(0, len(pictures), columns):
        shown = pictures[start : start + columns]
        row = np.full((max(picture.shape[0] for picture in shown), columns * width, 3), 255, np.uint8)
        for index, picture in enumerate(shown):
            row[: picture.shape[0], index * width : index * width + picture.shape[1]] = picture
        rows.append(row)
    return np.concatenate(rows)


def series_style(index: int) -> tuple[str, str | tuple]:
    """Return the colour and the dashes of the index-th series: eight colours, then the same ones dashed."""
    return COLORS[index % len(COLORS)], DASHES[index // len(COLORS) % len(DASHES)]
