"""How figures are written: the same bytes on every rebuild, several pages in one file."""

import re

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from slmcollab.report.style import house_style, series_style, write_figure


def page(text="a", size=(2, 1)):
    with house_style():
        figure = Figure(figsize=size)
        figure.add_axes((0.2, 0.3, 0.6, 0.5), title=text, xlabel="$x_1$")
    return figure


def test_files_are_equal_on_a_rebuild_whatever_the_users_settings(tmp_path):
    for name, own in (("one", {}), ("two", {"font.size": 30, "axes.grid": True})):
        with matplotlib.rc_context(own):
            for suffix in ("pdf", "png"):
                write_figure([page()], tmp_path / f"{name}.{suffix}")
    for suffix in ("pdf", "png"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()
    assert not re.search(rb"CreationDate|Creator|Producer|ModDate", (tmp_path / "one.pdf").read_bytes())
    with Image.open(tmp_path / "one.png") as image:
        assert "Software" not in image.info
        assert image.size == (300, 150)  # 2 × 1 inches at 150 dots
        assert image.info["dpi"] == pytest.approx((150, 150), abs=0.1)


def test_a_pdf_has_every_page(tmp_path):
    write_figure([page(str(index)) for index in range(3)], tmp_path / "figure.pdf")
    assert len(re.findall(rb"/Type /Page\b", (tmp_path / "figure.pdf").read_bytes())) == 3


@pytest.mark.parametrize(("count", "size"), [(1, (300, 150)), (2, (300, 300)), (3, (600, 300)), (4, (600, 300))])
def test_a_png_tiles_its_pages(tmp_path, count, size):
    write_figure([page() for _ in range(count)], tmp_path / "figure.png")
    with Image.open(tmp_path / "figure.png") as image:
        assert image.size == size


def test_smaller_pages_are_padded_with_white(tmp_path):
    # In inches: 2 × 1 and 1 × 2 side by side, 1 × 1 below them.
    write_figure([page(size=size) for size in ((2, 1), (1, 2), (1, 1))], tmp_path / "figure.png")
    with Image.open(tmp_path / "figure.png") as image:
        pixels = np.asarray(image)
    assert pixels.shape == (300 + 150, 2 * 300, 3)
    for inked, white in (
        (pixels[:150, :300], pixels[150:300, :300]),
        (pixels[:300, 300:450], pixels[:300, 450:]),
        (pixels[300:, :150], pixels[300:, 150:]),
    ):
        assert (inked < 255).any()
        assert (white == 255).all()


def test_a_format_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"figure\.svg"):
        write_figure([page()], tmp_path / "figure.svg")
    assert list(tmp_path.iterdir()) == []


def test_sixteen_series_look_different():
    assert len({series_style(index) for index in range(16)}) == 16
