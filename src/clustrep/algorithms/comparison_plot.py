"""Figures over the number of clusters: scores of a comparison, and their null distributions behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from clustrep.agreement.agreements import shown
from clustrep.algorithms.comparison import AXIS_OF_K
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
from clustrep.summaries import label, quiet, tails
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from clustrep.algorithms.comparison import Comparison
    from clustrep.null.null_scores import NullReference

NULL_NAME = "null distribution, 95 %"
NO_K = "(no number of clusters to set)"
# With more points, a marker on every third must do.
MOST_MARKERS = 20


def by_clusterer(clusterers: Sequence[str], n_clusters: Sequence[int | None]) -> dict[str, list[int]]:
    """Return the places of every clusterer's configurations, by k."""
    order = sorted(range(len(clusterers)), key=lambda c: n_clusters[c] or 0)
    return {name: [c for c in order if clusterers[c] == name] for name in dict.fromkeys(clusterers)}


def is_wide(n_curves: int, ks: Sequence[float]) -> bool:
    """Whether curves over k need the width of two columns."""
    return n_curves > 6 or len(ks) > 25


# ---------------------------------------------------------------------------------------------------------------------
# numbers


@dataclass(frozen=True, eq=False)
class NullBand:
    """Null distributions of a clusterer's scores, over all pairs of studies; (n_configurations,) each.

    `observed` is the score that they are compared with, `low` and `high` the ends of their 95 % interval.
    """

    observed: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, reference: NullReference, places: Sequence[int], a: int) -> NullBand:
        """Take some configurations of a reference by its a-th agreement."""
        simulated = reference.overall_distribution[:, places, a]
        with quiet():
            low, high = np.nanquantile(simulated, tails(0.95), axis=0)
            return cls(reference.overall[places, a], np.nanmean(simulated, axis=0), low, high)


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """A clusterer's scores over k, (number of k,) each; a clusterer that finds its number of clusters has one score.

    Instead of k there may be values of another parameter, or the numbers of clusters found.
    """

    name: str
    labels: tuple[str, ...]  # of the configurations
    ks: tuple[float | None, ...]
    mean: FloatArray
    sd: FloatArray  # over resamples, as is the interval
    low: FloatArray
    high: FloatArray
    estimate: FloatArray
    null: NullBand | None

    @property
    def has_k(self) -> bool:
        """Whether the number of clusters, or another parameter, was set."""
        return self.ks[0] is not None


@dataclass(frozen=True, eq=False)
class ScoreCurves:
    """The scores of a comparison by one agreement: means over pairs of studies, a curve for every clusterer."""

    score: str
    curves: tuple[ScoreCurve, ...]
    statistic: str | None  # that the null reference compares; None without one
    title: str = AXIS_OF_K  # of the axis

    @classmethod
    def of(
        cls, result: Comparison, agreement: str, reference: NullReference | None = None, against: str | None = None
    ) -> ScoreCurves:
        """Take the summary of a comparison; with a reference, also their null distributions."""
        a = result.agreements.index(agreement)
        summary = result.summary()
        summary = summary[summary["agreement"] == agreement]  # a row for every configuration, in their order
        mean, low, high = (summary[name].to_numpy(float) for name in ("score", "low", "high"))
        off = ~np.eye(len(result.names), dtype=bool)
        with quiet():
            sd = np.nanstd(result.distribution[:, a][..., off].mean(axis=-1), axis=-1, ddof=1)
            estimate = np.nanmean(result.estimate[:, a][:, off], axis=1)
        groups = result.curves.groups
        title, positions = result.curves.positions(against, result.mean_clusters_found.tolist())
        groups = {name: sorted(places, key=lambda c: positions[c] or 0.0) for name, places in groups.items()}
        curves = [
            ScoreCurve(
                name=name,
                labels=tuple(label(result.clusterers[c], result.n_clusters[c], result._found(c)) for c in places),
                ks=tuple(positions[c] for c in places),
                mean=mean[places],
                sd=sd[places],
                low=low[places],
                high=high[places],
                estimate=estimate[places],
                null=None if reference is None else NullBand.of(reference, places, a),
            )
            for name, places in groups.items()
        ]
        return cls(shown(agreement), tuple(curves), None if reference is None else reference.statistic, title)

    @property
    def ks(self) -> list[float]:
        """All numbers of clusters, or values of another parameter."""
        return sorted({k for curve in self.curves for k in curve.ks if k is not None})

    # -----------------------------------------------------------------------------------------------------------------
    # matplotlib

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw mean against k, its interval as a band, ± sd over resamples as bars, and null distributions."""
        several = len(self.curves) > 1
        wide = is_wide(len(self.curves), self.ks)
        height = (0.85 if several or self.statistic else 0.75) * SINGLE + 0.1 * max(0, len(self.curves) - 2)
        handles: list[Artist] = []
        with canvas(ax, DOUBLE if wide else SINGLE, height) as ax:
            beyond = self._places_beyond()
            for i, curve in enumerate(self.curves):
                style = look(i, dashed=not curve.has_k)
                at = np.array(curve.ks if curve.has_k else [beyond[curve.name]], dtype=float)
                _draw_curve(curve, at, i, style, ax)
                handles.append(_handle(curve, style))
                if curve.null is not None:
                    _draw_null(curve.null, at, i if several else None, self.statistic == "estimate", ax)
            if self.title == AXIS_OF_K:
                ticks_at(ax, [int(k) for k in self.ks])
            ax.set_xlabel(literal(self.title) if self.ks else NO_K)
            ax.set_ylabel(fill(f"{literal(self.score)}, mean over pairs of studies", 36))
            top = max(max(largest(curve.high), largest(curve.mean + curve.sd)) for curve in self.curves)
            ax.set_ylim(min(0.0, ax.get_ylim()[0]), 1.02 * top)
            legend_above(ax, handles=[*handles, *_explanations(self.statistic, several)])
            return ax

    def _places_beyond(self) -> dict[str, float]:
        """Return where clusterers without a k have their marks: to the right of all k, side by side."""
        least = 0.5 if self.title == AXIS_OF_K else 0.0
        step = max(least, (self.ks[-1] - self.ks[0]) / 25) if self.ks else 1.0
        first = float(max(self.ks, default=-1))
        without = [curve.name for curve in self.curves if not curve.has_k]
        return {name: first + step * i for i, name in enumerate(without, 1)}


# ---------------------------------------------------------------------------------------------------------------------
# parts of the matplotlib figure


def _draw_curve(curve: ScoreCurve, at: FloatArray, i: int, style: Look, ax: Axes) -> None:
    name, colour = in_legend(curve.name), style.colour
    if not curve.has_k:
        ax.axhline(curve.mean[0], linestyle=style.line, color=colour, label=name, lw=1)
        ax.vlines(at, curve.low, curve.high, color=colour, alpha=0.25, lw=4)
        ax.scatter(at, curve.mean, color=colour, marker=style.marker, s=16, zorder=3)
    else:
        few = len(at) <= MOST_MARKERS
        marker = style.marker if few else None
        ax.plot(at, curve.mean, color=colour, label=name, marker=marker, markersize=4, linestyle=style.line)
        if not few:  # markers of neighbouring curves alternate
            ax.scatter(at[i % 3 :: 3], curve.mean[i % 3 :: 3], color=colour, marker=style.marker, s=12, zorder=3)
        ax.fill_between(at, curve.low, curve.high, color=colour, alpha=0.13, lw=0)
    ax.vlines(at, curve.mean - curve.sd, curve.mean + curve.sd, color=colour, lw=0.9)


def _draw_null(null: NullBand, at: FloatArray, i: int | None, observed: bool, ax: Axes) -> None:
    """Draw the null distribution: grey for one clusterer, hatched in its colour for the i-th of several."""
    band, ends = at, list(range(len(at)))
    if len(at) == 1:  # a single number of clusters has no width of its own
        band, ends = np.array([at[0] - 0.2, at[0] + 0.2]), [0, 0]
    if i is None:
        ax.fill_between(band, null.low[ends], null.high[ends], color="0.7", alpha=0.6, lw=0, zorder=0.5)
        ax.plot(band, null.mean[ends], "--", color="0.35", lw=1)
    else:
        hatched: dict[str, Any] = {"facecolor": "none", "hatch": HATCHES[i % len(HATCHES)], "lw": 0}
        edge = COLOURS[i % len(COLOURS)]
        ax.fill_between(band, null.low[ends], null.high[ends], edgecolor=edge, alpha=0.55, zorder=0.5, **hatched)
    if observed:
        mark: dict[str, Any] = {"marker": MARKERS[(i or 0) % len(MARKERS)], "facecolors": "none", "s": 34}
        ax.scatter(at, null.observed, edgecolors=COLOURS[(i or 0) % len(COLOURS)], lw=0.8, **mark)


def _handle(curve: ScoreCurve, style: Look) -> Artist:
    from matplotlib.lines import Line2D

    marked: dict[str, Any] = {"marker": style.marker, "ls": style.line, "markersize": 4}
    return Line2D([], [], color=style.colour, label=in_legend(curve.name), **marked)


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
