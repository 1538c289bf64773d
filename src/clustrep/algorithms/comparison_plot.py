"""Figures over the number of clusters: scores of a comparison, and their null distributions behind them."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from clustrep.agreement.agreements import shown
from clustrep.algorithms.comparison import CLUSTERS
from clustrep.plots.canvas import (
    COLOURS,
    DOUBLE,
    HATCHES,
    MARKERS,
    SINGLE,
    Look,
    canvas,
    in_legend,
    largest,
    legend_above,
    literal,
    look,
    ticks_at,
)
from clustrep.summaries import quiet, tails
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from clustrep.algorithms.comparison import Comparison
    from clustrep.null.null_scores import NullReference

AXIS_OF_K, AXIS_OF_FOUND = "number of clusters k", "mean clusters found"
NULL_NAME = "null distribution, 95 %"
NO_K = "(no number of clusters to set)"
# With more points, a marker on every third must do.
MOST_MARKERS = 20


def null_band(reference: NullReference, a: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and 95 % interval of the null distributions over all pairs of studies, (n_configurations,) each."""
    simulated = reference.overall_distribution[:, :, a]
    with quiet():
        low, high = np.nanquantile(simulated, tails(0.95), axis=0)
        return np.nanmean(simulated, axis=0), low, high


def curve_places(result: Comparison, against: str | None) -> tuple[str, list[float | None], dict[str, list[int]]]:
    """Return the title of the axis, the place of every configuration on it, and the configurations of every curve.

    A clusterer that finds its number of clusters has one configuration, without a place.
    """
    parameters, found = result.parameters, result.mean_clusters_found.tolist()
    values = [None if record is None else record.value for record in result.records]
    at: list[float | None] = list(result.n_clusters)
    if parameters in ([], ["k"]):
        title = AXIS_OF_K
    elif len(parameters) == 1 and against != CLUSTERS:
        title, at = parameters[0], values
    else:  # what all parameters have in common
        title = AXIS_OF_FOUND
        at = [found[c] if k is None and values[c] is not None else k for c, k in enumerate(at)]
    groups = {name: sorted(some, key=lambda c: at[c] or 0.0) for name, some in result.curves.items()}
    return title, at, groups


def draw_curves(
    result: Comparison,
    agreement: str,
    reference: NullReference | None = None,
    against: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw mean against k, its interval as a band, ± sd over resamples as bars, and null distributions.

    Scores are means over pairs of studies, a curve for every clusterer. Instead of k there may be values of another
    parameter, or the numbers of clusters found.
    """
    a = result.agreements.index(agreement)
    summary = result.summary()
    summary = summary[summary["agreement"] == agreement]  # a row for every configuration, in their order
    mean, low, high = (summary[name].to_numpy(float) for name in ("score", "low", "high"))
    with quiet():
        off = ~np.eye(len(result.names), dtype=bool)
        sd = np.nanstd(result.distribution[:, a][..., off].mean(axis=-1), axis=-1, ddof=1)
    title, at, groups = curve_places(result, against)
    ks = sorted({k for k in at if k is not None})
    statistic = None if reference is None else reference.statistic
    several, wide = len(groups) > 1, len(groups) > 6 or len(ks) > 25
    height = (0.85 if several or statistic else 0.75) * SINGLE + 0.1 * max(0, len(groups) - 2)
    # Clusterers without a k have their marks to the right of all k, side by side.
    step = max(0.5 if title == AXIS_OF_K else 0.0, (ks[-1] - ks[0]) / 25) if ks else 1.0
    beyond = max(ks, default=-1) + step
    handles: list[Artist] = []
    with canvas(ax, DOUBLE if wide else SINGLE, height) as ax:
        for i, (name, some) in enumerate(groups.items()):
            has_k = at[some[0]] is not None
            places = np.array([at[c] for c in some] if has_k else [beyond], dtype=float)
            beyond += 0 if has_k else step
            style = look(i, dashed=not has_k)
            values = mean[some], sd[some], low[some], high[some]
            _draw_curve(in_legend(name), places, values, i, style, ax, has_k=has_k)
            handles.append(_handle(in_legend(name), style))
            if reference is not None:
                band = tuple(part[some] for part in null_band(reference, a))
                observed = reference.overall[some, a] if statistic == "estimate" else None
                _draw_null(band, observed, places, i if several else None, ax)
        if title == AXIS_OF_K:
            ticks_at(ax, [int(k) for k in ks])
        ax.set_xlabel(literal(title) if ks else NO_K)
        ax.set_ylabel(fill(f"{literal(shown(agreement))}, mean over pairs of studies", 36))
        ax.set_ylim(min(0.0, ax.get_ylim()[0]), 1.02 * max(largest(high), largest(mean + sd)))
        legend_above(ax, handles=[*handles, *_explanations(statistic, several)])
        return ax


# ---------------------------------------------------------------------------------------------------------------------
# parts of the matplotlib figure


def _draw_curve(
    name: str, at: FloatArray, values: Sequence[FloatArray], i: int, style: Look, ax: Axes, *, has_k: bool
) -> None:
    colour, (mean, sd, low, high) = style.colour, values
    if not has_k:
        ax.axhline(mean[0], linestyle=style.line, color=colour, label=name, lw=1)
        ax.vlines(at, low, high, color=colour, alpha=0.25, lw=4)
        ax.scatter(at, mean, color=colour, marker=style.marker, s=16, zorder=3)
    else:
        few = len(at) <= MOST_MARKERS
        marker = style.marker if few else None
        ax.plot(at, mean, color=colour, label=name, marker=marker, markersize=4, linestyle=style.line)
        if not few:  # markers of neighbouring curves alternate
            ax.scatter(at[i % 3 :: 3], mean[i % 3 :: 3], color=colour, marker=style.marker, s=12, zorder=3)
        ax.fill_between(at, low, high, color=colour, alpha=0.13, lw=0)
    ax.vlines(at, mean - sd, mean + sd, color=colour, lw=0.9)


def _draw_null(
    null: Sequence[FloatArray], observed: FloatArray | None, at: FloatArray, i: int | None, ax: Axes
) -> None:
    """Draw the null distribution: grey for one clusterer, hatched in its colour for the i-th of several."""
    mean, low, high = null
    band, ends = at, list(range(len(at)))
    if len(at) == 1:  # a single number of clusters has no width of its own
        band, ends = np.array([at[0] - 0.2, at[0] + 0.2]), [0, 0]
    if i is None:
        ax.fill_between(band, low[ends], high[ends], color="0.7", alpha=0.6, lw=0, zorder=0.5)
        ax.plot(band, mean[ends], "--", color="0.35", lw=1)
    else:
        hatched: dict[str, Any] = {"facecolor": "none", "hatch": HATCHES[i % len(HATCHES)], "lw": 0}
        edge = COLOURS[i % len(COLOURS)]
        ax.fill_between(band, low[ends], high[ends], edgecolor=edge, alpha=0.55, zorder=0.5, **hatched)
    if observed is not None:
        mark: dict[str, Any] = {"marker": MARKERS[(i or 0) % len(MARKERS)], "facecolors": "none", "s": 34}
        ax.scatter(at, observed, edgecolors=COLOURS[(i or 0) % len(COLOURS)], lw=0.8, **mark)


def _handle(name: str, style: Look) -> Artist:
    from matplotlib.lines import Line2D

    marked: dict[str, Any] = {"marker": style.marker, "ls": style.line, "markersize": 4}
    return Line2D([], [], color=style.colour, label=name, **marked)


def _explanations(statistic: str | None, several: bool) -> list[Artist]:
    """Say in the legend what bars and bands are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = [
        Line2D([], [], color="0.3", marker="|", ls="", markersize=7, label="± sd over resamples"),
        Patch(facecolor="0.85", label="95 % interval"),
    ]
    if statistic is not None:
        what = "R̂ " if statistic == "estimate" else ""
        fill: dict[str, Any] = {"hatch": HATCHES[0], "facecolor": "none", "edgecolor": "0.5"}
        handles.append(Patch(**fill if several else {"facecolor": "0.7"}, lw=0, label=f"{what}{NULL_NAME}"))
    if statistic == "estimate":
        mark: dict[str, Any] = {"marker": "o", "markerfacecolor": "none", "color": "0.3", "ls": "", "markersize": 6}
        handles.append(Line2D([], [], label="observed score R̂", **mark))
    return handles
