"""One record of colours, markers and lines for matplotlib and for the page."""

from __future__ import annotations

import dataclasses
import re

import pytest
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle

from clustrep.plots.canvas import COLOURS, DASHES, LINES, MARKERS, SYMBOLS, look
from clustrep.report.render import page_file


def test_no_two_of_twenty_eight_look_the_same():
    looks = [look(i) for i in range(28)]
    assert len({(style.colour, style.marker, style.line) for style in looks}) == 28
    assert len({(style.token, style.symbol, style.dash) for style in looks}) == 28


def test_both_drawers_have_a_word_for_every_look():
    assert len(COLOURS) == len(MARKERS) == len(SYMBOLS)
    assert len(LINES) == len(DASHES)
    for i in range(28):
        style = look(i)
        assert (MARKERS.index(style.marker), LINES.index(style.line)) == (
            SYMBOLS.index(style.symbol),
            DASHES.index(style.dash),
        )
        MarkerStyle(style.marker)
        Line2D([], [], linestyle=style.line, color=style.colour)


def test_a_dashed_line_is_never_full():
    assert {look(i, dashed=True).line for i in range(20)} == set(LINES[1:])
    for i in range(20):
        full = dataclasses.asdict(look(i))
        dashed = dataclasses.asdict(look(i, dashed=True))
        assert {name for name in full if full[name] != dashed[name]} <= {"line", "dash"}


@pytest.mark.parametrize("theme", range(3), ids=["light", "dark by system", "dark by button"])
def test_the_page_has_a_colour_for_every_token(theme):
    palette = re.findall(r":root[^{]*\{([^}]*)\}", page_file("style.css"))[theme]
    assert {look(i).token.removeprefix("@") for i in range(28)} == set(re.findall(r"--(c\d): #\w{6};", palette))
