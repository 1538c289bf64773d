"""One record of colours, markers and lines."""

from __future__ import annotations

import dataclasses

from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle

from clustrep.plots.canvas import COLOURS, LINES, MARKERS, look


def test_no_two_of_twenty_eight_look_the_same():
    looks = [look(i) for i in range(28)]
    assert len({(style.colour, style.marker, style.line) for style in looks}) == 28
    assert len(COLOURS) == len(MARKERS)
    for style in looks:
        MarkerStyle(style.marker)
        Line2D([], [], linestyle=style.line, color=style.colour)


def test_a_dashed_line_is_never_full():
    assert {look(i, dashed=True).line for i in range(20)} == set(LINES[1:])
    for i in range(20):
        full = dataclasses.asdict(look(i))
        dashed = dataclasses.asdict(look(i, dashed=True))
        assert {name for name in full if full[name] != dashed[name]} <= {"line"}
