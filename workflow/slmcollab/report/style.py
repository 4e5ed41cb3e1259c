"""How every figure looks, and how it is written: the same bytes on every rebuild."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import matplotlib.style
from matplotlib.figure import Figure

from slmcollab.artifacts import replacing

# Okabe and Ito's colours, told apart with any colour vision; grey for their yellow, which white paper swallows.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
DASHES = ("solid", (0, (5, 1.5)), (0, (1.5, 1)))
INK, PALE = "#222222", "#8A8A8A"
DPI = 130
UNSTABLE = {"pdf": ("CreationDate", "Creator", "Producer"), "png": ("Software",)}  # metadata that is left out

SETTINGS = {
    "font.family": "DejaVu Sans",  # ships with matplotlib, so it is there and the same everywhere
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
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


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PDF or PNG, by its suffix, without dates and program names: equal figures are equal files."""
    suffix = path.suffix.removeprefix(".")
    if suffix not in UNSTABLE:
        raise ValueError(f"{path}: figures are written as {sorted(UNSTABLE)}")
    # In the style, since matplotlib makes ticks only when it draws them.
    with house_style(), replacing(path) as temporary:
        figure.savefig(temporary, format=suffix, metadata=dict.fromkeys(UNSTABLE[suffix]))


def series_style(index: int) -> tuple[str, str | tuple]:
    """Return the colour and the dashes of the index-th series: eight colours, then the same ones dashed."""
    return COLORS[index % len(COLORS)], DASHES[index // len(COLORS) % len(DASHES)]
