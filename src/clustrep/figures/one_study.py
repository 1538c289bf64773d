"""Figures of one study: stability, noise, curves over k, in-group proportions, the test for clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clustrep.errors import ParameterError
from clustrep.figures.canvas import MOST_TICKS, canvas, legend_above, literal, names_below, ticks_at
from clustrep.figures.charts import Chart, axis, chart, numbers, scatter, view
from clustrep.figures.style import COLOURS, look
from clustrep.results.cluster_stability import DISSOLVED, RECOVERED, full_name
from clustrep.results.curves import THRESHOLDS, PredictionStrength
from clustrep.results.labels import label
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import ClusterTest, InGroupProportion, InGroupStability, Sensitivity, Stability
    from clustrep.results.curves import Curve

MOST_NAMED = 12
N_BINS = 30
# Of prediction strength; Tibshirani & Walther (2005): "above 0.8 to 0.9".


@dataclass(frozen=True, eq=False)
class ClusterBoxes:
    """Every cluster's values over resamples; for the matching distance one number for all clusters."""

    title: str
    index: str
    names: tuple[str, ...]
    values: FloatArray  # (n_resamples, n_clusters)
    levels: tuple[tuple[str, float], ...]  # lines to compare with, from low to high
    up_to_one: bool

    @classmethod
    def of(cls, result: Stability) -> ClusterBoxes:
        """Take the distribution of an index."""
        jaccard = (("dissolved", DISSOLVED), ("recovered", RECOVERED))
        return cls(
            title=label(result.clusterer, result.n_clusters),
            index=full_name(result.index, result.relative),
            names=("all",) if result.distribution.ndim == 1 else tuple(map(str, result.clusters)),
            values=result.distribution.reshape(len(result.distribution), -1),
            levels=jaccard if result.index == "jaccard" else (),
            up_to_one=result.index not in ("matching", "d"),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw a box for every cluster, with all resamples behind it."""
        with canvas(ax) as ax:
            columns = [column[~np.isnan(column)] for column in self.values.T]
            ax.boxplot(columns, widths=0.6, showfliers=False, medianprops={"color": COLOURS[1]}, patch_artist=False)
            spread = np.linspace(-0.22, 0.22, len(self.values))  # by resample number: the same picture every time
            for i, column in enumerate(self.values.T, 1):
                ax.plot(i + spread, column, ".", color=COLOURS[0], alpha=0.35, markersize=3, zorder=1)
            few = len(self.names) <= MOST_TICKS
            names_below(ax, range(1, len(self.names) + 1), [literal(name) if few else "" for name in self.names])
            for (word, level), side in zip(self.levels, ("top", "bottom"), strict=False):
                ax.axhline(level, linestyle=":", color="0.5", lw=1)
                place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": side}
                ax.annotate(word, (1.01, level), color="0.4", fontsize="small", **place)
            if self.up_to_one:
                ax.set_ylim(-0.03, 1.03)
            ax.set_xlabel("cluster")
            ax.set_ylabel(self.index)
            ax.set_title(literal(self.title))
            return ax


@dataclass(frozen=True, eq=False)
class NoiseCurves:
    """An index against the scale of the noise: for all clusters together, and for each where it has its own."""

    title: str
    index: str
    scales: FloatArray
    overall: FloatArray  # (n_scales,)
    names: tuple[str, ...]
    per_cluster: FloatArray  # (n_scales, n_clusters)

    @classmethod
    def of(cls, result: Sensitivity) -> NoiseCurves:
        """Take means over resamples."""
        has_clusters = result.distribution.ndim == 3
        return cls(
            title=label(result.clusterer, result.n_clusters),
            index=full_name(result.index, result.relative),
            scales=np.asarray(result.scales, dtype=float),
            overall=result.overall,
            names=tuple(map(str, result.clusters)) if has_clusters else (),
            per_cluster=result.per_cluster if has_clusters else np.empty((len(result.scales), 0)),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw a curve for every cluster, and a thick one for all."""
        with canvas(ax) as ax:
            for i, (name, curve) in enumerate(zip(self.names, self.per_cluster.T, strict=True)):
                # Black is kept for all clusters together.
                style: dict[str, Any] = {"color": COLOURS[i % (len(COLOURS) - 1)], "marker": look(i).marker, "lw": 1}
                ax.plot(self.scales, curve, label=f"cluster {literal(name)}" if i < MOST_NAMED else None, **style)
            ax.plot(self.scales, self.overall, color="black", lw=2.5, label="all")
            ax.set_xlabel("noise, in standard deviations of each feature")
            ax.set_ylabel(self.index)
            legend_above(ax, literal(self.title))
            return ax


@dataclass(frozen=True, eq=False)
class CurveOverK:
    """One number for each number of clusters, with its 95 % interval over replicates; (number of k,) each."""

    title: str
    quantity: str
    ks: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    has_threshold: bool  # prediction strength has one

    @classmethod
    def of(cls, result: Curve) -> CurveOverK:
        """Take the mean and the interval of a result, by k."""
        ks = [k for k in result.n_clusters if k is not None]
        if len(ks) < len(result.n_clusters):
            raise ParameterError(
                "There is no number of clusters to draw against: pass n_clusters.", parameter="n_clusters"
            )
        order = np.argsort(ks)
        low, high = result.confidence_interval()
        return cls(
            title=result.clusterer,
            quantity=result.title.lower(),
            ks=np.array(ks)[order],
            mean=result.mean[order],
            low=low[order],
            high=high[order],
            has_threshold=isinstance(result, PredictionStrength),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the mean against k, and the interval as a band."""
        with canvas(ax) as ax:
            ax.plot(self.ks, self.mean, marker="o", color=COLOURS[0])
            ax.fill_between(self.ks, self.low, self.high, color=COLOURS[0], alpha=0.15, lw=0)
            ax.set_ylim(bottom=0)
            if self.has_threshold:
                ax.axhspan(*THRESHOLDS, color="0.9", zorder=0, label="enough, by Tibshirani and Walther")
                ax.set_ylim(0, 1.03)
            ticks_at(ax, self.ks.tolist())
            ax.set_xlabel("number of clusters k")
            ax.set_ylabel(self.quantity)
            legend_above(ax, literal(self.title))
            return ax


@dataclass(frozen=True, eq=False)
class GroupProportions:
    """Every cluster's in-group proportion, for one or several numbers of neighbours."""

    clusters: tuple[str, ...]
    n_neighbors: tuple[int, ...]
    proportions: FloatArray  # (numbers of neighbours, n_clusters)

    @classmethod
    def of(cls, result: InGroupProportion | InGroupStability) -> GroupProportions:
        """Take the proportions of a result."""
        return cls(
            clusters=tuple(map(str, result.clusters)),
            n_neighbors=tuple(result.n_neighbors),
            proportions=result.proportions.reshape(len(result.n_neighbors), -1),
        )

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw bars, or curves over the number of neighbours where there are several."""
        with canvas(ax) as ax:
            if len(self.n_neighbors) == 1:
                places = range(len(self.clusters))
                ax.bar(places, self.proportions[0], color=COLOURS[0], width=0.6)
                names_below(ax, places, [literal(name) for name in self.clusters])
                ax.set_xlabel("cluster")
            else:
                for i, (name, curve) in enumerate(zip(self.clusters, self.proportions.T, strict=True)):
                    text = f"cluster {literal(name)}" if i < MOST_NAMED else None
                    ax.plot(self.n_neighbors, curve, label=text, color=look(i).colour, marker=look(i).marker)
                ax.set_xlabel("nearest neighbours that must belong to the cluster")
                ticks_at(ax, self.n_neighbors)
                legend_above(ax)
            ax.set_ylim(0, 1.03)
            ax.set_ylabel("in-group proportion")
            return ax


@dataclass(frozen=True, eq=False)
class NullHistogram:
    """The null distribution of a test's statistic, counted in bins, and the statistic of the data."""

    counts: IntArray  # (n_bins,)
    edges: FloatArray  # (n_bins + 1,)
    statistic: float
    pvalue: float

    @classmethod
    def of(cls, result: ClusterTest) -> NullHistogram:
        """Count the null distribution of a test."""
        counts, edges = np.histogram(result.null_distribution, bins=N_BINS)
        return cls(counts, edges, float(result.statistic), float(result.pvalue))

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the histogram, and a line for the data."""
        with canvas(ax) as ax:
            bars: dict[str, Any] = {"color": "0.8", "edgecolor": "white", "lw": 0.5}
            ax.hist(self.edges[:-1], self.edges.tolist(), weights=self.counts, label="null distribution", **bars)
            ax.axvline(self.statistic, color=COLOURS[1], lw=2, label=f"these data, p = {self.pvalue:.3g}")
            ax.set_xlabel("statistic")
            ax.set_ylabel("data sets")
            legend_above(ax)
            return ax

    def chart(self) -> Chart:
        """Write the histogram for the page."""
        bars = {
            "type": "bar",
            "name": "null distribution",
            "x": numbers((self.edges[1:] + self.edges[:-1]) / 2),
            "y": self.counts.tolist(),
            "width": float(self.edges[1] - self.edges[0]),
            "marker": {"color": "@muted"},
            "hoverinfo": "y",
        }
        line = scatter(
            "lines",
            [self.statistic] * 2,
            [0, float(self.counts.max())],
            name=f"these data, p = {self.pvalue:.3g}",
            line={"color": "@c1", "width": 3},
        )
        layout = {"xaxis": axis("statistic"), "yaxis": axis("data sets"), "bargap": 0}
        return chart(
            "null",
            "The test's null distribution",
            f"The statistic of simulated null data, and that of the data: p = {self.pvalue:.3g}.",
            340,
            [view("null", [bars, line], **layout)],
        )
