"""Figures of one study: stability, prediction, consensus, the test for clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.errors import ParameterError
from clustrep.figures.matplotlib.style import (
    COLOURS,
    DOUBLE,
    MARKERS,
    MOST_TICKS,
    SCORES,
    SINGLE,
    canvas,
    evenly,
    heading,
    largest,
    legend_above,
    literal,
    names_below,
    panels,
    ticks_at,
)
from clustrep.results.cluster_stability import DISSOLVED, RECOVERED, full_name
from clustrep.results.curves import PredictionStrength
from clustrep.results.validation import INDICES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.results import (
        AssignmentConsistency,
        ClusterTest,
        Consensus,
        InGroupProportion,
        InGroupStability,
        Sensitivity,
        Stability,
        Validation,
    )
    from clustrep.results.curves import Curve


MOST_NAMED = 12


def by_cluster(result: Stability, ax: Axes | None = None) -> Axes:
    """Draw a box for every cluster's values over resamples; for the matching distance one in all."""
    with canvas(ax) as ax:
        values = result.distribution.reshape(len(result.distribution), -1)
        names = ["all"] if result.distribution.ndim == 1 else [literal(name) for name in result.clusters]
        columns = [column[~np.isnan(column)] for column in values.T]
        ax.boxplot(columns, widths=0.6, showfliers=False, medianprops={"color": COLOURS[1]}, patch_artist=False)
        spread = np.linspace(-0.22, 0.22, len(values))  # spread by resample number: the same picture every time
        for i, column in enumerate(values.T, 1):
            ax.plot(i + spread, column, ".", color=COLOURS[0], alpha=0.35, markersize=3, zorder=1)
        few = len(names) <= MOST_TICKS
        names_below(ax, range(1, len(names) + 1), names if few else [""] * len(names))
        if result.index == "jaccard":
            for level, word, side in ((DISSOLVED, "dissolved", "top"), (RECOVERED, "recovered", "bottom")):
                ax.axhline(level, linestyle=":", color="0.5", lw=1)
                place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": side}
                ax.annotate(word, (1.01, level), color="0.4", fontsize="small", **place)
        if result.index not in ("matching", "d"):
            ax.set_ylim(-0.03, 1.03)
        ax.set_xlabel("cluster")
        ax.set_ylabel(full_name(result.index, result.relative))
        ax.set_title(heading(result.clusterer, result.n_clusters))
        return ax


def over_scale(result: Sensitivity, ax: Axes | None = None) -> Axes:
    """Draw the mean over resamples against the noise's scale, for every cluster and for all."""
    with canvas(ax) as ax:
        if result.distribution.ndim == 3:
            for i, (name, curve) in enumerate(zip(result.clusters, result.per_cluster.T, strict=True)):
                style: dict[str, Any] = {"color": COLOURS[i % 6], "marker": MARKERS[i % len(MARKERS)], "lw": 1}
                ax.plot(result.scales, curve, label=f"cluster {literal(name)}" if i < MOST_NAMED else None, **style)
        ax.plot(result.scales, result.overall, color="black", lw=2.5, label="all")
        ax.set_xlabel("noise, in standard deviations of each feature")
        ax.set_ylabel(full_name(result.index, result.relative))
        legend_above(ax, heading(result.clusterer, result.n_clusters))
        return ax


def over_k(result: Curve, ax: Axes | None = None) -> Axes:
    """Draw the mean over replicates against k, and the interval as a band."""
    if None in result.n_clusters:
        raise ParameterError("There is no number of clusters to draw against: pass n_clusters.")
    with canvas(ax) as ax:
        ks = [k for k in result.n_clusters if k is not None]
        order = np.argsort(ks)
        k = np.array(ks)[order]
        low, high = result.confidence_interval()
        ax.plot(k, result.mean[order], marker="o", color=COLOURS[0])
        ax.fill_between(k, low[order], high[order], color=COLOURS[0], alpha=0.15, lw=0)
        if isinstance(result, PredictionStrength):
            ax.axhspan(0.8, 0.9, color="0.9", zorder=0, label="enough, by Tibshirani and Walther")
            ax.set_ylim(0, 1.03)
        else:
            ax.set_ylim(bottom=0)
        ticks_at(ax, ks)
        ax.set_xlabel("number of clusters k")
        ax.set_ylabel(result.title.lower())
        legend_above(ax, literal(result.clusterer))
        return ax


def in_group(result: InGroupProportion | InGroupStability, ax: Axes | None = None) -> Axes:
    """Draw every cluster's proportion, against the number of neighbours where there are several."""
    with canvas(ax) as ax:
        values = result.proportions.reshape(len(result.n_neighbors), -1)
        if len(result.n_neighbors) == 1:
            names = [literal(name) for name in result.clusters]
            ax.bar(range(len(names)), values[0], color=COLOURS[0], width=0.6)
            names_below(ax, range(len(names)), names)
            ax.set_xlabel("cluster")
        else:
            for i, (name, curve) in enumerate(zip(result.clusters, values.T, strict=True)):
                style: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
                label = f"cluster {literal(name)}" if i < MOST_NAMED else None
                ax.plot(result.n_neighbors, curve, label=label, **style)
            ax.set_xlabel("nearest neighbours that must belong to the cluster")
            ticks_at(ax, result.n_neighbors)
            legend_above(ax)
        ax.set_ylim(0, 1.03)
        ax.set_ylabel("in-group proportion")
        return ax


def null_histogram(result: ClusterTest, ax: Axes | None = None) -> Axes:
    """Draw the statistic's null distribution, and the data's own value."""
    with canvas(ax) as ax:
        ax.hist(
            result.null_distribution, bins=30, color="0.8", edgecolor="white", lw=0.5, label="data without clusters"
        )
        ax.axvline(result.statistic, color=COLOURS[1], lw=2, label=f"these data, p = {result.pvalue:.3g}")
        ax.set_xlabel("statistic")
        ax.set_ylabel("data sets")
        legend_above(ax)
        return ax


def consensus_cdf(result: Consensus, ax: Axes | None = None) -> Axes:
    """Draw the distribution of pairwise consensus for every k, with PAC in the legend."""
    from matplotlib import colormaps

    with canvas(ax, height=0.9 * SINGLE) as ax:
        values = np.linspace(0, 1, 201)
        n = len(result.n_clusters)
        colours = colormaps[SCORES](np.linspace(0, 0.9, n))
        named = evenly(n, MOST_NAMED)
        for i, (k, pac, colour) in enumerate(zip(result.n_clusters, result.pac(), colours, strict=True)):
            label = f"{'PAC' if k is None else f'k = {k}, PAC'} {pac:.2f}" if i in named else None
            ax.plot(values, result.cdf(values.tolist(), k), color=colour, label=label)
        ax.set_xlabel("consensus of a pair")
        ax.set_ylabel("share of pairs at most so high")
        ax.set_ylim(0, 1.02)
        legend_above(ax, literal(result.clusterer))
        return ax


def assignments(result: AssignmentConsistency, ax: Axes | None = None) -> Axes:
    """Draw every cluster's consistency, and the total as a line, against k."""
    with canvas(ax) as ax:
        order = sorted(range(len(result.n_clusters)), key=lambda i: result.n_clusters[i] or 0)
        for place, i in enumerate(order):
            row = result.cri[i]
            ax.plot([place] * len(row), row, ".", color=COLOURS[0], alpha=0.6, label=None if place else "clusters")
        ax.plot(range(len(order)), result.twcri[order], marker="o", color=COLOURS[1], label="all samples")
        shown = range(0, len(order), -(-len(order) // MOST_TICKS))
        ax.set_xticks(shown, [str(result.n_clusters[order[place]] or "") for place in shown])
        ax.set_ylim(0, 1.03)
        ax.set_xlabel("number of clusters k")
        ax.set_ylabel("assignment consistency")
        legend_above(ax, literal(result.clusterer))
        return ax


def small_multiples(result: Validation) -> NDArray[Any]:
    """Draw a panel for every index over k: clusters as points, the whole partition as a line with its interval."""
    indices = [index for index in INDICES if index in result.index and index != "test"]
    if not indices:
        raise ParameterError("There is no index to draw over k: the test for clusters is one p-value.")
    n_columns = min(4, len(indices))
    n_rows = -(-len(indices) // n_columns)
    with panels(n_rows, n_columns, DOUBLE * max(0.3, n_columns / 4), 0.4 + 1.6 * n_rows) as (figure, axes):
        for ax, index in zip(axes.flat, indices, strict=False):
            _panel(result, index, ax)
        for ax in axes.flat[len(indices) :]:
            ax.set_visible(False)
        tested = "" if result.pvalue is None else f"; test for clusters: p = {result.pvalue:.3g}"
        figure.suptitle(f"{literal(result.clusterer)}{tested}")
        return np.asarray(axes)


def _panel(result: Validation, index: str, ax: Axes) -> None:
    name, higher = INDICES[index]
    own = result.index == index
    whole, cluster = own & result.whole, own & ~result.whole
    order = np.argsort(result.k[whole])
    k, value = result.k[whole][order], result.value[whole][order]
    ax.plot(result.k[cluster], result.value[cluster], ".", color="0.55", markersize=4, alpha=0.7)
    low, high = result.low[whole][order], result.high[whole][order]
    ax.fill_between(k, low, high, color=COLOURS[0], alpha=0.15, lw=0)
    ax.plot(k, value, marker="o", markersize=4, color=COLOURS[0])
    title: Any = ax.set_title(f"{name} ({'high' if higher else 'low'} is good)", fontsize=7, wrap=True)
    title._get_wrap_line_width = lambda: ax.bbox.width  # matplotlib wraps at the figure's edge, not the panel's
    most = largest(result.value[own], 0.0)
    ax.set_ylim(0, max(1.03, 1.05 * most) if higher or not most else None)
    if len(k) <= 12:
        ax.set_xticks(k, ["" if one < 0 else str(one) for one in k])
    ax.set_xlabel("k")
