"""Colours, markers, lines and fills: one record for matplotlib and for the page."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Okabe & Ito's colours, which colour-blind readers can distinguish, each with its own marker for greyscale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x")  # the markers in plotly

# The first of each is a full line. On the page, dotted lines are quantiles of null distributions.
LINES = ("-", "--", "-.", ":")
DASHES = ("solid", "dash", "dashdot", "longdash")

HATCHES = ("////", "\\\\\\\\", "....", "xxxx", "----", "++++", "oooo")
PATTERNS = ("", "/", "x", "-", ".")  # of bars on the page

# At the beginning of a cluster's name: a number, or one or two capital letters, alone or before the number of a part.
NUMBER = re.compile(r"\d{1,9}")
LETTERS = re.compile(r"[A-Z]{1,2}(?=\.|$)")

SCORES = "viridis"
PAGE_SCORES = "Viridis"


@dataclass(frozen=True)
class Look:
    """How the i-th of several curves, clusters or studies is drawn.

    Attributes
    ----------
    colour, marker, line, hatch : str
        For matplotlib.
    token, symbol, dash, pattern : str
        The same for the page, in plotly's words. The token names a colour of the page's style sheet, which has a light
        and a dark value.
    """

    colour: str
    marker: str
    line: str
    hatch: str
    token: str
    symbol: str
    dash: str
    pattern: str


def number_of_cluster(name: str) -> int | None:
    """Return the number that a cluster's name begins with; A is 0, B is 1, AA is 26; None for other names.

    Examples
    --------
    >>> [number_of_cluster(name) for name in ("2 (basal)", "2b", "B", "B.1", "AA", "noise", "?")]
    [2, 2, 1, 1, 26, None, None]
    """
    if number := NUMBER.match(name):
        return int(number[0])
    if not (letters := LETTERS.match(name)):
        return None
    place = 0
    for letter in letters[0]:
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1


def look_of_cluster(name: str, place: int) -> Look:
    """Return the look of a cluster: that of its number or letter, so that it is the same everywhere.

    Examples
    --------
    >>> look_of_cluster("2 (basal)", 0).token, look_of_cluster("C.1", 0).token, look_of_cluster("noise", 0).token
    ('@c2', '@c2', '@c0')
    """
    number = number_of_cluster(name)
    return look(place if number is None else number)


def look(i: int, *, dashed: bool = False) -> Look:
    """Return the look of the i-th curve; no two of the first 28 are the same. A dashed one never has a full line."""
    line = 1 + i % (len(LINES) - 1) if dashed else i // len(COLOURS) % len(LINES)
    return Look(
        colour=COLOURS[i % len(COLOURS)],
        marker=MARKERS[i % len(MARKERS)],
        line=LINES[line],
        hatch=HATCHES[i % len(HATCHES)],
        token=f"@c{i % len(COLOURS)}",
        symbol=SYMBOLS[i % len(SYMBOLS)],
        dash=DASHES[line],
        pattern=PATTERNS[i % len(PATTERNS)],
    )
