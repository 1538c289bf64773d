"""What all matplotlib figures share: journal widths, names shown literally, legends beside the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from clustrep.errors import ParameterError
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# The grey of missing values: lighter than the darkest and darker than the page.
MISSING = "0.88"
# Ticks of an axis one column wide at 7 points; letters of a name there; points that can be read in print.
MOST_TICKS, LONGEST_NAME, SMALLEST_IN_CELLS = 15, 32, 6.0

# One and two columns of a journal, 89 and 183 mm, in inches.
SINGLE, DOUBLE = 89 / 25.4, 183 / 25.4

STYLE = "clustrep.plots.journal"  # journal.mplstyle, beside this file


@contextmanager
def canvas(ax: Axes | None, width: float = SINGLE, height: float = 0.75 * SINGLE) -> Iterator[Axes]:
    """Lend axes to draw on: those given, under the user's settings, or new ones.

    Parameters
    ----------
    ax : matplotlib Axes or None
        None: new axes in a new figure, in the style of a journal.
    width, height : float
        Of a new figure, in inches; by default one column of a journal wide.

    Yields
    ------
    matplotlib Axes
    """
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if isinstance(ax, Axes):
        yield ax
        return
    if ax is not None:
        raise ParameterError(f"ax must be a matplotlib Axes, got {type(ax).__name__}.", parameter="ax")
    with plt.style.context(STYLE):
        figure, new = plt.subplots(figsize=(width, height), layout="constrained")
        _keep_ticks_small(new)
        yield new
        figure.draw_without_rendering()  # axes of a fixed shape need a pass before the one that draws them


@contextmanager
def panels(n_rows: int, n_columns: int, width: float, height: float) -> Iterator[tuple[Figure, Any]]:
    """Lend a new figure with several axes, in the style of a journal.

    Parameters
    ----------
    n_rows, n_columns : int
        How the axes are arranged.
    width, height : float
        Of the figure, in inches.

    Yields
    ------
    Figure, ndarray of Axes of shape (n_rows, n_columns)
    """
    import matplotlib.pyplot as plt

    with plt.style.context(STYLE):
        figure, axes = plt.subplots(n_rows, n_columns, figsize=(width, height), layout="constrained", squeeze=False)
        for ax in axes.flat:
            _keep_ticks_small(ax)
        yield figure, axes
        figure.draw_without_rendering()


def refuse_axes(ax: object, kind: str) -> None:
    """Refuse axes for a figure that has several."""
    if ax is not None:
        raise ParameterError(
            f"ax must be left out with kind={kind!r}, which makes a figure with several axes.", parameter="ax"
        )


def _keep_ticks_small(ax: Axes) -> None:
    """Fix the size of ticks that matplotlib makes when the figure is drawn, after our settings are gone."""
    import matplotlib as mpl

    ax.tick_params(axis="x", labelsize=mpl.rcParams["xtick.labelsize"])
    ax.tick_params(axis="y", labelsize=mpl.rcParams["ytick.labelsize"])


# ---------------------------------------------------------------------------------------------------------------------
# words


def literal(name: object, longest: int = LONGEST_NAME) -> str:
    """Write a user's name literally: dollar signs are no mathematics, and very long names lose their middle.

    Examples
    --------
    >>> literal("two  words"), literal("0123456789", 7)
    ('two words', '012…789')
    """
    text = " ".join(str(name).split())
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-(longest - longest // 2 - 1) :]}"
    return text.replace("$", r"\$")


def in_legend(name: object) -> str:
    """Write a user's name for a legend, which leaves out whatever begins with an underscore."""
    text = literal(name)
    return f" {text}" if text.startswith("_") else text


def height_for(names: Sequence[str], height: float = 0.75 * SINGLE) -> float:
    """Return a figure's height in inches, with room for long names below the axes."""
    return height + max(0.0, 0.03 * max(map(len, names), default=0) - 0.3)


def extent(ax: Axes) -> tuple[float, float]:
    """Width and height of axes in points, before any layout."""
    scale = 72 / ax.figure.dpi
    return ax.bbox.width * scale, ax.bbox.height * scale


def names_below(ax: Axes, places: ArrayLike, names: Sequence[str], *, square: bool = False) -> None:
    """Put names under the axes, turned by 30 or 90 degrees where they would touch.

    Parameters
    ----------
    ax : matplotlib Axes
    places : array-like of shape (n_names,)
        Where the names stand.
    names : sequence of str
        A name may have several lines.
    square : bool, default=False
        Whether what is drawn is a square within the axes, such as a matrix.
    """
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    size = float(FontProperties(size=mpl.rcParams["xtick.labelsize"]).get_size_in_points())
    room = (min(extent(ax)) if square else extent(ax)[0]) / max(len(names), 1)
    widest = 0.6 * size * max((len(line) for name in names for line in name.split("\n")), default=0)
    turned: dict[str, Any] = {}
    if widest > room:
        upright = room < 2.2 * size
        turned = {"rotation": 90 if upright else 30, "ha": "right", "va": "center" if upright else "top"}
        turned["rotation_mode"] = "anchor"
    ax.set_xticks(np.asarray(places), list(names), **turned)


def ticks_at(ax: Axes, ks: Sequence[int]) -> None:
    """Put a tick at every k, or at round numbers where these would stand too close."""
    from matplotlib.ticker import MaxNLocator

    gaps = np.diff(sorted(ks))
    if len(ks) > MOST_TICKS or (gaps.size and gaps.min() < (max(ks) - min(ks)) / (1.5 * MOST_TICKS)):
        ax.xaxis.set_major_locator(MaxNLocator(nbins=9, integer=True))
    else:
        ax.set_xticks(sorted(ks))


def legend_above(ax: Axes, title: str = "", handles: Sequence[Artist] | None = None) -> None:
    """Put the legend above the axes, off the data, in as many columns as fit, and the title above it.

    Parameters
    ----------
    ax : matplotlib Axes
    title : str, default=""
        Above the legend.
    handles : sequence of Artist, default=None
        What the legend explains; None: whatever has a label.
    """
    from matplotlib.font_manager import FontProperties

    shown = list(ax.get_legend_handles_labels()[0] if handles is None else handles)
    size = float(FontProperties(size="small").get_size_in_points())
    letters = [len(str(handle.get_label())) for handle in shown]
    n_columns = 1
    for n in range(2, len(shown) + 1):
        widths = [size * (0.55 * column.max() + 4) for column in np.array_split(letters, n)]
        if sum(widths) <= 1.2 * extent(ax)[0]:
            n_columns = n
    if shown:
        place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": 0.3}
        spacing: dict[str, Any] = {"frameon": False, "columnspacing": 1.2, "handlelength": 1.8}
        ax.legend(handles=shown, fontsize="small", ncols=n_columns, **place, **spacing)
    if title:
        ax.set_title(title, pad=6 + 1.55 * size * -(-len(shown) // n_columns))


# ---------------------------------------------------------------------------------------------------------------------
# numbers


def largest(values: ArrayLike, at_least: float = 1.0) -> float:
    """Return the largest finite value, or `at_least`: mutual information has no bound, and scores may be missing.

    Examples
    --------
    >>> largest([0.5, float("nan")]), largest([0.5, 2.5])
    (1.0, 2.5)
    """
    array = np.asarray(values, dtype=float)
    return float(np.max(array, where=np.isfinite(array), initial=at_least))


def smallest(values: ArrayLike, at_most: float = 0.0) -> float:
    """Return the smallest number there is, or this one."""
    return -largest(-np.asarray(values, dtype=float), -at_most)


def evenly(n: int, at_most: int) -> list[int]:
    """Return places nearest to evenly spaced ones, the first and the last among them.

    Examples
    --------
    >>> evenly(10, 4), evenly(3, 5)
    ([0, 3, 6, 9], [0, 1, 2])
    """
    return sorted(set(np.linspace(0, n - 1, min(n, at_most)).round().astype(int).tolist()))


def score_colours() -> Colormap:
    """Viridis, with grey for missing values."""
    from matplotlib import colormaps

    return colormaps[SCORES].with_extremes(bad=MISSING)


def cell_size(ax: Axes, shape: tuple[int, int], n_letters: int, n_lines: int) -> float | None:
    """Return the size of letters that fit into the cells of a table.

    Parameters
    ----------
    ax : matplotlib Axes
        Where the table is drawn as an image.
    shape : tuple of int
        The numbers of rows and columns.
    n_letters, n_lines : int
        The longest line of any cell, and the largest number of lines.

    Returns
    -------
    float or None
        In points; None where letters would be too small to read.
    """
    figure: Any = ax.figure
    if getattr(figure, "get_layout_engine", lambda: None)() is not None and hasattr(figure, "draw_without_rendering"):
        figure.draw_without_rendering()  # which gives the axes their size
    width, height = extent(ax)
    size = min(8.0, 0.93 * width / shape[1] / (0.56 * n_letters), 0.93 * height / shape[0] / (1.25 * n_lines))
    return size if size >= SMALLEST_IN_CELLS else None


def write_cells(ax: Axes, values: FloatArray, texts: Sequence[Sequence[str]], top: float, size: float) -> None:
    """Write into the cells of an image, dark on light and light on dark."""
    for (y, x), value in np.ndenumerate(values):
        dark = not np.isfinite(value) or value > 0.6 * top
        ax.text(x, y, texts[y][x], ha="center", va="center", color="black" if dark else "white", fontsize=size)


def colour_bar(drawn: Any, ax: Any, label: str, **options: Any) -> None:
    """Add a colour bar with its label."""
    first = ax if hasattr(ax, "figure") else ax[0]
    bar = first.figure.colorbar(drawn, ax=ax, **options)
    _keep_ticks_small(bar.ax)
    bar.outline.set_linewidth(0)
    bar.set_label(label)


# ---------------------------------------------------------------------------------------------------------------------
# Colours, markers, lines and fills


# Okabe & Ito's colours, which colour-blind readers can distinguish, each with its own marker for greyscale.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

LINES = ("-", "--", "-.", ":")

HATCHES = ("////", "\\\\\\\\", "....", "xxxx", "----", "++++", "oooo")

# At the beginning of a cluster's name: a number, or one or two capital letters, alone or before the number of a part.
NUMBER = re.compile(r"\d{1,9}")
LETTERS = re.compile(r"[A-Z]{1,2}(?=\.|$)")

SCORES = "viridis"


@dataclass(frozen=True)
class Look:
    """How the i-th of several curves, clusters or studies is drawn.

    Attributes
    ----------
    colour, marker, line : str
        For matplotlib.
    """

    colour: str
    marker: str
    line: str


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
    >>> look_of_cluster("2 (basal)", 0).marker, look_of_cluster("C.1", 0).marker, look_of_cluster("noise", 0).marker
    ('^', '^', 'o')
    """
    number = number_of_cluster(name)
    return look(place if number is None else number)


def look(i: int, *, dashed: bool = False) -> Look:
    """Return the look of the i-th curve: no two of the first 28 are the same.

    Colours can be distinguished by colour-blind readers, markers and lines in greyscale.

    Parameters
    ----------
    i : int
        The place of the curve, cluster or study, from 0.
    dashed : bool, default=False
        Never a full line: for curves that are no data.

    Examples
    --------
    >>> look(0).line, look(7).line, look(0, dashed=True).line
    ('-', '--', '--')
    """
    line = 1 + i % (len(LINES) - 1) if dashed else i // len(COLOURS) % len(LINES)
    return Look(
        colour=COLOURS[i % len(COLOURS)],
        marker=MARKERS[(i + i // len(COLOURS)) % len(MARKERS)],  # the eighth is another one than the first
        line=LINES[line],
    )
