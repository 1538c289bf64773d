"""Figures of a null reference: scores beside their null distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clustrep.checks import check_choice
from clustrep.figures.canvas import (
    DOUBLE,
    SINGLE,
    canvas,
    height_for,
    in_legend,
    legend_above,
    literal,
    names_below,
    ticks_at,
)
from clustrep.figures.charts import NO_K
from clustrep.figures.score_curves import NULL_NAME, NullBand, is_wide
from clustrep.figures.style import COLOURS, look
from clustrep.results.along import AXIS_OF_K, Curves
from clustrep.tables.agreement import shown
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import NullReference

MOST_SCORES = 30
WIDE_FROM = 10


def against_null(result: NullReference, agreement: str | None = None) -> ScoresBesideNull | CurvesBesideNull:
    """Take curves over k from a comparison's reference, single scores from any other; by the first agreement."""
    if agreement is not None:
        check_choice(agreement, "agreement", result.agreements)
    if result.kind == "comparison":
        return CurvesBesideNull.of(result, 0 if agreement is None else result.agreements.index(agreement))
    return ScoresBesideNull.of(result)


@dataclass(frozen=True, eq=False)
class ScoresBesideNull:
    """The scores of clusters or of pairs of studies, beside 95 % of their null distributions; (n_scores,) each."""

    score: str
    of_clusters: bool
    names: tuple[tuple[str, ...], ...]  # a cluster, or a training and a test study
    n_scores: int  # of how many
    observed: FloatArray
    null_mean: FloatArray
    null_low: FloatArray
    null_high: FloatArray

    @classmethod
    def of(cls, result: NullReference) -> ScoresBesideNull:
        """Take the scores of a reference; of many those with the largest excess, in their order."""
        frame = result.to_frame()
        n_scores, of_clusters = len(frame), result.kind == "local"
        if n_scores > MOST_SCORES:
            largest = np.argsort(-frame["excess"].fillna(-np.inf).to_numpy(), kind="stable")[:MOST_SCORES]
            frame = frame.iloc[np.sort(largest)]
        names = frame[["cluster"] if of_clusters else ["train", "test"]]
        return cls(
            score=shown(result.agreements[0]),
            of_clusters=of_clusters,
            names=tuple(tuple(map(str, row)) for row in names.itertuples(index=False, name=None)),
            n_scores=n_scores,
            observed=frame["observed"].to_numpy(float),
            null_mean=frame["null_mean"].to_numpy(float),
            null_low=frame["null_low"].to_numpy(float),
            null_high=frame["null_high"].to_numpy(float),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw every score as a point before a grey bar."""
        n, title = len(self.names), ""
        if n < self.n_scores:
            title = f"{n} of {self.n_scores} {'clusters' if self.of_clusters else 'pairs'}: the largest excess"
        names = [" → ".join(literal(part, 32 if self.of_clusters else 16) for part in parts) for parts in self.names]
        with canvas(ax, SINGLE if n <= WIDE_FROM else DOUBLE, height_for(names)) as ax:
            places = np.arange(n)
            ax.vlines(places, self.null_low, self.null_high, color="0.8", lw=8, label=NULL_NAME)
            ax.plot(places, self.null_mean, "_", color="0.4", markersize=10)
            ax.plot(places, self.observed, "o", color=COLOURS[0], label="observed")
            names_below(ax, places, names)
            ax.set_xlim(-0.6, n - 0.4)
            ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
            ax.set_xlabel("cluster" if self.of_clusters else "trained → tested")
            ax.set_ylabel(literal(self.score))
            legend_above(ax, title)
            return ax


@dataclass(frozen=True, eq=False)
class CurvesBesideNull:
    """The scores of a comparison over all pairs of studies, beside their null distributions: a curve per clusterer."""

    score: str
    names: tuple[str, ...]
    ks: tuple[tuple[float | None, ...], ...]  # of every curve: numbers of clusters, or values of another parameter
    bands: tuple[NullBand, ...]
    title: str = AXIS_OF_K  # of the axis

    @classmethod
    def of(cls, result: NullReference, a: int) -> CurvesBesideNull:
        """Take all configurations of a comparison's reference by its a-th agreement."""
        curves = Curves.of(result.clusterers, result.n_clusters, result.provenance)
        groups, (title, positions) = curves.groups, curves.positions(None, None)
        return cls(
            score=shown(result.agreements[a]),
            names=tuple(groups),
            ks=tuple(tuple(positions[c] for c in places) for places in groups.values()),
            bands=tuple(NullBand.of(result, places, a) for places in groups.values()),
            title=title,
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw a curve for every clusterer with a k, and a line for one that finds it itself."""
        all_ks = sorted({k for ks in self.ks for k in ks if k is not None})
        beside = 0.3 if self.title == AXIS_OF_K else 0.0
        across = [min(all_ks, default=0) - beside, max(all_ks, default=0) + beside]
        with canvas(ax, DOUBLE if is_wide(len(self.names), all_ks) else SINGLE, 0.8 * SINGLE) as ax:
            for i, (name, ks, band) in enumerate(zip(self.names, self.ks, self.bands, strict=True)):
                has_k = ks[0] is not None
                style = look(i, dashed=not has_k)
                x = [float(k or 0) for k in ks] if has_k else across
                at = list(range(len(ks))) if has_k else [0, 0]
                marker = style.marker if has_k else None
                line: dict[str, Any] = {"color": style.colour, "marker": marker, "linestyle": style.line}
                ax.plot(x, band.observed[at], label=in_legend(name), **line)
                fill: dict[str, Any] = {"color": style.colour, "alpha": 0.15}
                if len(self.names) > 1:
                    fill = {"facecolor": "none", "edgecolor": style.colour, "hatch": style.hatch, "alpha": 0.6}
                ax.fill_between(x, band.low[at], band.high[at], label=f"{literal(name)}, {NULL_NAME}", lw=0, **fill)
            if self.title == AXIS_OF_K:
                ticks_at(ax, [int(k) for k in all_ks])
            ax.set_xlabel(literal(self.title) if all_ks else NO_K)
            ax.set_ylabel(f"{literal(self.score)}, mean over pairs of studies")
            legend_above(ax)
            return ax
