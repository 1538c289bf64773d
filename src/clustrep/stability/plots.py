"""Figures of one study: stability, noise, curves over k, in-group proportions, the test for clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.cluster_indices import INDICES
from clustrep.errors import ParameterError
from clustrep.plots.canvas import (
    COLOURS,
    MOST_TICKS,
    SCORES,
    SINGLE,
    canvas,
    evenly,
    largest,
    legend_above,
    literal,
    look,
    names_below,
    panels,
    ticks_at,
)
from clustrep.plots.charts import Chart, View, axis, axis_of_k, chart, error_bars, escaped, numbers, scatter, view
from clustrep.stability.curves import THRESHOLDS, PredictionStrength
from clustrep.stability.results import DISSOLVED, RECOVERED, full_name
from clustrep.summaries import label
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.stability.curves import AssignmentConsistency, Consensus, Curve
    from clustrep.stability.results import (
        ClusterTest,
        InGroup,
        Sensitivity,
        Stability,
        Validation,
    )

MOST_NAMED = 12
N_BINS = 30
MOST_COLUMNS = 2
N_VALUES = 201


def draw_stability(result: Stability, ax: Axes | None = None) -> Axes:
    """Draw a box for every cluster, and every resample as a dot."""
    values = result.distribution.reshape(len(result.distribution), -1)  # (n_resamples, n_clusters)
    names = ["all"] if result.distribution.ndim == 1 else list(map(str, result.clusters))
    with canvas(ax) as ax:
        columns = [column[~np.isnan(column)] for column in values.T]
        ax.boxplot(columns, widths=0.6, showfliers=False, medianprops={"color": COLOURS[1]}, patch_artist=False)
        spread = np.linspace(-0.22, 0.22, len(values))  # by resample number: the same picture every time
        for i, column in enumerate(values.T, 1):
            ax.plot(i + spread, column, ".", color=COLOURS[0], alpha=0.35, markersize=3, zorder=1)
        few = len(names) <= MOST_TICKS
        names_below(ax, range(1, len(names) + 1), [literal(name) if few else "" for name in names])
        if result.index == "jaccard":
            for word, level, side in (("dissolved", DISSOLVED, "top"), ("recovered", RECOVERED, "bottom")):
                ax.axhline(level, linestyle=":", color="0.5", lw=1)
                place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": side}
                ax.annotate(word, (1.01, level), color="0.4", fontsize="small", **place)
        if result.index not in ("matching", "d"):
            ax.set_ylim(-0.03, 1.03)
        ax.set_xlabel("cluster")
        ax.set_ylabel(full_name(result.index, result.relative))
        ax.set_title(literal(label(result.clusterer, result.n_clusters)))
        return ax


def draw_sensitivity(result: Sensitivity, ax: Axes | None = None) -> Axes:
    """Draw the mean of every cluster, and of all together, against the scale of the noise."""
    with canvas(ax) as ax:
        if result.distribution.ndim == 3:
            # Black is kept for all clusters together.
            _draw_clusters(ax, result.scales, result.clusters, result.per_cluster, len(COLOURS) - 1, lw=1)
        ax.plot(result.scales, result.overall, color="black", lw=2.5, label="all")
        ax.set_xlabel("noise, in standard deviations of each feature")
        ax.set_ylabel(full_name(result.index, result.relative))
        legend_above(ax, literal(label(result.clusterer, result.n_clusters)))
        return ax


def _draw_clusters(
    ax: Axes, x: Any, clusters: NDArray[Any], values: FloatArray, n_colours: int = len(COLOURS), **style: Any
) -> None:
    """Draw a curve for every cluster, (n_x, n_clusters); the first dozen are named."""
    for i, (name, curve) in enumerate(zip(clusters, values.T, strict=True)):
        text = f"cluster {literal(name)}" if i < MOST_NAMED else None
        ax.plot(x, curve, label=text, color=COLOURS[i % n_colours], marker=look(i).marker, **style)


def draw_proportions(result: InGroup, ax: Axes | None = None) -> Axes:
    """Draw the proportion of every cluster as bars, or as curves over several numbers of neighbours."""
    proportions = result.proportions.reshape(len(result.n_neighbors), -1)  # (n_numbers, n_clusters)
    with canvas(ax) as ax:
        if len(proportions) == 1:
            places = range(len(result.clusters))
            ax.bar(places, proportions[0], color=COLOURS[0], width=0.6)
            names_below(ax, places, [literal(name) for name in result.clusters])
            ax.set_xlabel("cluster")
        else:
            _draw_clusters(ax, result.n_neighbors, result.clusters, proportions)
            ax.set_xlabel("nearest neighbours that must belong to the cluster")
            ticks_at(ax, result.n_neighbors)
            legend_above(ax)
        ax.set_ylim(0, 1.03)
        ax.set_ylabel("in-group proportion")
        return ax


def draw_curve(result: Curve, ax: Axes | None = None) -> Axes:
    """Draw the mean over resamples, with its interval, against k."""
    ks = [k for k in result.n_clusters if k is not None]
    if len(ks) < len(result.n_clusters):
        raise ParameterError("There is no number of clusters to draw against: pass n_clusters.", parameter="n_clusters")
    order = np.argsort(ks)
    at = np.array(ks)[order]
    low, high = result.confidence_interval()
    with canvas(ax) as ax:
        ax.plot(at, result.mean[order], marker="o", color=COLOURS[0])
        ax.fill_between(at, low[order], high[order], color=COLOURS[0], alpha=0.15, lw=0)
        ax.set_ylim(bottom=0)
        if isinstance(result, PredictionStrength):
            ax.axhspan(*THRESHOLDS, color="0.9", zorder=0, label="enough, by Tibshirani and Walther")
            ax.set_ylim(0, 1.03)
        ticks_at(ax, at.tolist())
        ax.set_xlabel("number of clusters k")
        ax.set_ylabel(result.title.lower())
        legend_above(ax, literal(result.clusterer))
        return ax


# ---------------------------------------------------------------------------------------------------------------------
# the test for clusters


def draw_null_distribution(result: ClusterTest, ax: Axes | None = None) -> Axes:
    """Draw the null distribution as bars, and the statistic of the data as a line."""
    counts, edges = np.histogram(result.null_distribution, bins=N_BINS)
    with canvas(ax) as ax:
        bars: dict[str, Any] = {"color": "0.8", "edgecolor": "white", "lw": 0.5}
        ax.hist(edges[:-1], edges.tolist(), weights=counts, label="null distribution", **bars)
        ax.axvline(result.statistic, color=COLOURS[1], lw=2, label=f"these data, p = {result.pvalue:.3g}")
        ax.set_xlabel("statistic")
        ax.set_ylabel("data sets")
        legend_above(ax)
        return ax


def null_distribution_chart(result: ClusterTest) -> Chart:
    """Write the same for the page."""
    counts, edges = np.histogram(result.null_distribution, bins=N_BINS)
    bars = {
        "type": "bar",
        "name": "null distribution",
        "x": numbers((edges[1:] + edges[:-1]) / 2),
        "y": counts.tolist(),
        "width": float(edges[1] - edges[0]),
        "marker": {"color": "@muted"},
        "hoverinfo": "y",
    }
    line = scatter(
        "lines",
        [result.statistic] * 2,
        [0, float(counts.max())],
        name=f"these data, p = {result.pvalue:.3g}",
        line={"color": "@c1", "width": 3},
    )
    layout = {"xaxis": axis("statistic"), "yaxis": axis("data sets"), "bargap": 0}
    return chart(
        "null",
        "The test's null distribution",
        f"The statistic of simulated null data, and that of the data: p = {result.pvalue:.3g}.",
        340,
        [view("null", [bars, line], **layout)],
    )


# ---------------------------------------------------------------------------------------------------------------------
# over the number of clusters: consensus, assignments, every index in a panel


def draw_consensus(result: Consensus, ax: Axes | None = None) -> Axes:
    """Draw the distribution function of the consensus for every k."""
    from matplotlib import colormaps

    values = np.linspace(0, 1, N_VALUES)
    pac, n = result.pac(), len(result.n_clusters)
    named = evenly(n, MOST_NAMED)
    with canvas(ax, height=0.9 * SINGLE) as ax:
        for i, colour in enumerate(colormaps[SCORES](np.linspace(0, 0.9, n))):
            k = result.n_clusters[i]
            text = f"{'PAC' if k is None else f'k = {k}, PAC'} {pac[i]:.2f}"
            ax.plot(values, result.cdf(values.tolist(), k), color=colour, label=text if i in named else None)
        ax.set_xlabel("consensus of a pair")
        ax.set_ylabel("share of pairs with at most this consensus")
        ax.set_ylim(0, 1.02)
        legend_above(ax, literal(result.clusterer))
        return ax


def draw_assignments(result: AssignmentConsistency, ax: Axes | None = None) -> Axes:
    """Draw clusters as points, and all samples as a line, against k."""
    order = sorted(range(len(result.n_clusters)), key=lambda i: result.n_clusters[i] or 0)
    cri, n = result.cri, len(order)
    with canvas(ax) as ax:
        for place, i in enumerate(order):
            values = cri[i][~np.isnan(cri[i])]  # rows are padded
            text = None if place else "clusters"
            ax.plot([place] * len(values), values, ".", color=COLOURS[0], alpha=0.6, label=text)
        ax.plot(range(n), result.twcri[order], marker="o", color=COLOURS[1], label="all samples")
        ticks = range(0, n, -(-n // MOST_TICKS))
        ax.set_xticks(ticks, [str(result.n_clusters[order[place]] or "") for place in ticks])
        ax.set_ylim(0, 1.03)
        ax.set_xlabel("number of clusters k")
        ax.set_ylabel("assignment consistency")
        legend_above(ax, literal(result.clusterer))
        return ax


def indices_over_k(result: Validation) -> list[str]:
    """List the indices that have a panel: all but the test for clusters, which is one p-value."""
    return [name for name, record in INDICES.items() if name in result.index and record.of_partition]


def draw_index(result: Validation, index: str, ax: Axes | None = None) -> Axes:
    """Draw clusters as points, the whole partition as a line with its interval."""
    clusters, whole = _rows(result, index)
    at, record = _places(result.k[whole]), INDICES[index]
    with canvas(ax) as axes:
        axes.plot(_places(result.k[clusters]), result.value[clusters], ".", color="0.55", markersize=4, alpha=0.7)
        axes.fill_between(at, result.low[whole], result.high[whole], color=COLOURS[0], alpha=0.15, lw=0)
        axes.plot(at, result.value[whole], marker="o", markersize=4, color=COLOURS[0])
        title: Any = axes.set_title(f"{record.title(relative=True)}\n({_good(index)} is good)", fontsize=7, wrap=True)
        title._get_wrap_line_width = lambda: axes.bbox.width  # matplotlib wraps at the figure's edge
        most = largest(result.value[result.index == index], 0.0)
        axes.set_ylim(0, max(1.03, 1.05 * most) if record.higher_is_better or not most else None)
        if len(at) <= MOST_NAMED:
            axes.set_xticks(at, ["" if k < 0 else str(k) for k in result.k[whole]])
        axes.set_xlabel("k")
        return axes


def _index_view(result: Validation, index: str) -> View:
    clusters, whole = _rows(result, index)
    name = INDICES[index].title(relative=True)
    texts = [f"cluster {escaped(cluster)}" for cluster in result.cluster[clusters]]
    values, at = result.value[whole], _places(result.k[whole])
    line = {"color": "@c0"}
    bars = error_bars(values, result.low[whole], result.high[whole])
    dots = {"color": "@muted", "size": 6}
    traces = [
        scatter(
            "markers", _places(result.k[clusters]), result.value[clusters], name="clusters", text=texts, marker=dots
        ),
        scatter("lines+markers", at, values, name="whole partition", line=line, error_y=bars),
    ]
    ks = [None if k < 0 else int(k) for k in result.k[whole]]
    return view(name, traces, xaxis=axis_of_k(ks), yaxis=axis(f"{name} ({_good(index)} is good)"))


def _rows(result: Validation, index: str) -> tuple[IntArray, IntArray]:
    """Return the rows of an index's clusters, and those of whole partitions in the order of k."""
    rows = result.index == index
    whole = np.flatnonzero(rows & result.whole)
    return np.flatnonzero(rows & ~result.whole), whole[np.argsort(result.k[whole], kind="stable")]


def _good(index: str) -> str:
    return "high" if INDICES[index].higher_is_better else "low"


def _places(ks: Sequence[int] | IntArray) -> list[int]:
    """Return the places of numbers of clusters on an axis; 0 for none."""
    return [max(int(k), 0) for k in ks]


def draw_indices(result: Validation) -> NDArray[Any]:
    """Draw a panel for every index, as a figure; returns its axes."""
    indices = indices_over_k(result)
    n = len(indices)
    if not n:
        raise ParameterError("There is no index to draw over k: the test for clusters is one p-value.", parameter=None)
    n_columns = min(MOST_COLUMNS, n)
    n_rows = -(-n // n_columns)
    with panels(n_rows, n_columns, SINGLE, 0.4 + (1.4 if n > 1 else 2.2) * n_rows) as (figure, axes):
        for ax, index in zip(axes.flat, indices, strict=False):
            draw_index(result, index, ax)
        for ax in axes.flat[n:]:
            ax.set_visible(False)
        tested = "" if result.pvalue is None else f"; test for clusters: p = {result.pvalue:.3g}"
        figure.suptitle(f"{literal(result.clusterer)}{tested}")
        return np.asarray(axes)


def indices_chart(result: Validation) -> Chart | None:
    """Write all panels for the page; None without any."""
    views = [_index_view(result, index) for index in indices_over_k(result)]
    if not views:
        return None
    return chart(
        "indices",
        "Indices against the number of clusters",
        "Every index over k: clusters as points, the whole partition as a line with its 95 % interval.",
        400,
        views,
    )
