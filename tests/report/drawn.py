"""What a page shows, for tests of drawings."""

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from slmcollab.report.style import house_style


def shown_texts(figure):
    """Return [(text, its box)] of all that is visible, tick labels only of ticks within their axis, and the page."""
    with house_style():
        FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    ticks, drawn = set(), set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            ticks |= {label for tick in axis.get_major_ticks() for label in (tick.label1, tick.label2)}
            low, high = sorted(axis.get_view_interval())
            drawn |= {tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high}
    texts = [text for text in texts if text not in ticks or text in drawn]
    return [(text.get_text(), text.get_window_extent()) for text in texts], figure.bbox


def assert_texts_are_apart(figure):
    """Fail where a text lies on another one or leaves the page."""
    texts, page = shown_texts(figure)
    assert len(texts) > 5
    for text, box in texts:
        assert page.x0 <= box.x0 < box.x1 <= page.x1, text
        assert page.y0 <= box.y0 < box.y1 <= page.y1, text
    for (one, first), (two, second) in combinations(texts, 2):
        assert not first.overlaps(second), (one, two)
