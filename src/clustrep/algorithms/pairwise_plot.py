"""Figures of pairs of studies: the study × study matrix, a grid of matrices, all resamples of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.agreements import shown
from clustrep.algorithms.comparison_plot import by_clusterer
from clustrep.plots.canvas import (
    COLOURS,
    DOUBLE,
    PAGE_SCORES,
    SINGLE,
    canvas,
    cell_size,
    colour_bar,
    evenly,
    largest,
    legend_above,
    literal,
    names_below,
    panels,
    score_colours,
    smallest,
    write_cells,
)
from clustrep.plots.charts import Chart, View, axis, chart, escaped, numbers, scatter, view
from clustrep.summaries import label, quiet
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.algorithms.comparison import Comparison
    from clustrep.algorithms.pairwise import Replicability

MOST_COLUMNS = 6
# Pairs in one figure, and on the page, where there is more room.
MOST_PAIRS, MOST_PAIRS_ON_PAGE = 30, 40
# Resamples of one pair on the page, which must stay small.
MOST_MARKS = 200


# ---------------------------------------------------------------------------------------------------------------------
# one configuration: the study × study matrix


def draw_matrix(result: Replicability, ax: Axes | None = None) -> Axes:
    """Draw the study × study matrix, with mean and standard deviation in the cells where they fit."""
    S, mean, sd = len(result.names), result.mean, result.sd
    top = largest(mean)  # of the colour scale
    names = [literal(name, 20) for name in result.names]
    wide = S > 6 or max(map(len, names)) > 12
    with canvas(ax, DOUBLE if wide else SINGLE, max(0.85 * SINGLE, 0.5 * S + 1) if wide else 0.85 * SINGLE) as ax:
        image = ax.imshow(mean, cmap=score_colours(), vmin=0, vmax=top)
        names_below(ax, range(S), names, square=True)
        ax.set_yticks(range(S), names)
        ax.spines[:].set_visible(False)
        ax.set_xlabel("tested on")
        ax.set_ylabel("trained on")
        ax.set_title(literal(label(result.clusterer, result.n_clusters)))
        colour_bar(image, ax, f"{literal(shown(result.agreement))}, mean ± sd", fraction=0.046, pad=0.04)
        with_sd = cell_size(ax, mean.shape, 5, 2)
        size = with_sd or cell_size(ax, mean.shape, 4, 1)
        if size:
            write_cells(ax, mean, _cells(mean, sd if with_sd else np.full_like(sd, np.nan)), top, size)
        return ax


def matrices_chart(results: Sequence[Replicability]) -> Chart:
    """Write the matrices of all configurations for the page."""
    return chart(
        "matrices",
        "Who predicts whom",
        "Mean over resamples for every pair of studies, rows trained, columns tested; on the diagonal a study is "
        "tested on a second draw of itself.",
        180 + 44 * len(results[0].names),
        [_matrix_view(result) for result in results],
    )


def _matrix_view(result: Replicability) -> View:
    """Write one matrix, with intervals where the pointer rests."""
    names = [escaped(name) for name in result.names]
    score, mean, sd, (low, high) = (
        escaped(shown(result.agreement)),
        result.mean,
        result.sd,
        result.confidence_interval(),
    )

    def hover(s: int, t: int) -> str:
        pair = f"{names[s]} → {names[t]}"
        if not np.isfinite(mean[s, t]):
            return f"{pair}<br>no score"
        interval = f"[{low[s, t]:.2f}, {high[s, t]:.2f}]"
        return f"{pair}<br>{score} {mean[s, t]:.2f} {interval}, sd {sd[s, t]:.2f}, R̂ {result.estimate[s, t]:.2f}"

    trace = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": numbers(mean),
        "zmin": 0,
        "zmax": numbers(largest(mean)),
        "colorscale": PAGE_SCORES,
        "text": [["" if np.isnan(value) else f"{value:.2f}" for value in row] for row in mean],
        "texttemplate": "%{text}",
        "hovertext": [[hover(s, t) for t in range(len(names))] for s in range(len(names))],
        "hoverinfo": "text",
        "colorbar": {"title": {"text": score}, "thickness": 12},
    }
    layout = {
        "xaxis": axis("tested on", type="category"),
        "yaxis": axis("trained on", type="category", autorange="reversed"),
    }
    return view(label(result.clusterer, result.n_clusters), [trace], **layout)


def _cells(mean: FloatArray, sd: FloatArray) -> list[list[str]]:
    """Write every score; a pair without one has a dash, a study against itself nothing."""
    texts = [["–"] * len(mean) for _ in mean]
    for s, t in np.ndindex(mean.shape):
        if np.isfinite(mean[s, t]):
            texts[s][t] = f"{mean[s, t]:.2f}" + (f"\n±{sd[s, t]:.2f}" if np.isfinite(sd[s, t]) else "")
        elif s == t:
            texts[s][t] = ""
    return texts


# ---------------------------------------------------------------------------------------------------------------------
# several configurations: a grid of matrices


def draw_grid(result: Comparison, agreement: str) -> NDArray[Any]:
    """Draw the matrices of a comparison, a row for every clusterer; returns the axes.

    At most six numbers of clusters are shown. A clusterer without a number of clusters stands first in its row.
    """
    a = result.agreements.index(agreement)
    all_ks = sorted({k for k in result.n_clusters if k is not None})
    ks = [all_ks[i] for i in evenly(len(all_ks), MOST_COLUMNS)]
    groups = by_clusterer(result.clusterers, result.n_clusters)
    with quiet():
        means = np.nanmean(result.distribution[:, a], axis=1)  # (n_configurations, S, S)
    top = largest(means)
    names = [literal(name, 16) for name in result.names]
    without_k = bool(ks) and any(result.n_clusters[places[0]] is None for places in groups.values())
    width, height = _grid_size(names, len(groups), len(ks), len(all_ks), without_k)
    with panels(len(groups), max(len(ks), 1), width, height) as (figure, axes):
        matrices: dict[Axes, FloatArray] = {}
        titled: set[int | None] = set()
        for row, (name, places) in zip(axes, groups.items(), strict=True):
            by_k = {result.n_clusters[c]: means[c] for c in places}
            for ax, k in zip(row, [None] if None in by_k else ks, strict=False):
                if k in by_k:
                    matrices[ax] = by_k[k]
                    ax.set_title("" if k in titled else "its own k" if k is None else f"k = {k}")
                    titled.add(k)
            row[0].set_ylabel(literal(name, 24))
        for ax in axes.flat:
            ax.set_visible(ax in matrices)
        for ax, matrix in matrices.items():
            image = ax.imshow(matrix, cmap=score_colours(), vmin=0, vmax=top)
            _name_edges(ax, names, left=ax in axes[:, 0], below=not _has_below(ax, axes))
        figure.supxlabel("tested on", fontsize=8)
        figure.supylabel("trained on", fontsize=8)
        if len(ks) < len(all_ks):
            figure.suptitle(f"{len(ks)} of {len(all_ks)} numbers of clusters, those nearest to evenly spaced ones")
        colour_bar(image, list(matrices), f"{literal(shown(agreement))}, mean over resamples", aspect=30, shrink=0.8)
        size = cell_size(next(iter(matrices)), matrix.shape, 3, 1)
        if size:
            for ax, matrix in matrices.items():
                write_cells(ax, matrix, _short_cells(matrix), top, size)
        return np.asarray(axes)


def _grid_size(names: Sequence[str], n_rows: int, n_ks: int, n_all: int, without_k: bool) -> tuple[float, float]:
    n_columns = max(n_ks, 1)
    width = SINGLE if n_columns * len(names) <= 12 else DOUBLE
    margin = 0.4 + 0.06 * max(map(len, names))
    side = min((width - margin - 0.8) / n_columns - 0.1, 2.4)
    return width, 0.3 + 0.25 * (n_ks < n_all) + margin * (1 + without_k) + n_rows * (side + 0.12)


def _short_cells(mean: FloatArray) -> list[list[str]]:
    """Write every score in three letters: .85, 1."""
    texts = _cells(mean, np.full_like(mean, np.nan))
    return [["1" if text == "1.00" else text.replace("0.", ".", 1) for text in row] for row in texts]


def _name_edges(ax: Axes, names: Sequence[str], *, left: bool, below: bool) -> None:
    """Write the studies' names, at the outer edges of a grid alone."""
    ax.set_xticks(range(len(names)), list(names), rotation=90)
    ax.set_yticks(range(len(names)), list(names))
    ax.tick_params(length=2, labelleft=left, labelbottom=below)
    ax.spines[:].set_visible(False)


def _has_below(ax: Axes, axes: NDArray[Any]) -> bool:
    """Whether another matrix stands below these axes."""
    row, column = np.argwhere(axes == ax)[0]
    return any(other.get_visible() for other in axes[row + 1 :, column])


# ---------------------------------------------------------------------------------------------------------------------
# all resamples of every pair


def draw_strips(result: Replicability, ax: Axes | None = None) -> Axes:
    """Draw a strip of dots for every pair, those with the widest spread where there are many."""
    off = _widest_pairs(result, MOST_PAIRS)
    n, n_pairs = len(off[0]), len(result.names) * (len(result.names) - 1)
    scores, mean, sd, estimate = result.distribution[:, *off], result.mean[off], result.sd[off], result.estimate[off]
    title = literal(label(result.clusterer, result.n_clusters))
    if n < n_pairs:
        title += f"\n{n} of {n_pairs} pairs: the widest spread"
    with canvas(ax, SINGLE, 0.9 + 0.19 * n) as ax:
        spread = np.linspace(-0.3, 0.3, len(scores))  # by resample number: the same picture every time
        dots: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.4, "markersize": 3, "mew": 0, "zorder": 1}
        for y, of_pair in enumerate(scores.T):
            ax.plot(of_pair, y + spread, ".", label="resamples" if y == 0 else None, **dots)
        places = np.arange(n)
        ax.hlines(places, mean - sd, mean + sd, color="black", lw=1.2)
        ax.plot(mean, places, "o", color="black", markersize=3.5, label="mean ± sd")
        ax.plot(estimate, places, "D", color=COLOURS[1], markerfacecolor="white", markersize=4, label="R̂")
        names = [literal(name, 20) for name in result.names]
        ax.set_yticks(places, [f"{names[s]} → {names[t]}" for s, t in zip(*off, strict=True)])
        ax.set_ylim(n - 0.4, -0.6)
        values = np.concatenate([scores.ravel(), estimate, mean + sd])
        ax.set_xlim(smallest(values) - 0.03, largest(values) + 0.03)
        ax.set_xlabel(literal(shown(result.agreement)))
        legend_above(ax, title)
        return ax


def strips_chart(result: Replicability) -> Chart:
    """Write the strips for the page."""
    off = _widest_pairs(result, MOST_PAIRS_ON_PAGE)
    n, n_pairs = len(off[0]), len(result.names) * (len(result.names) - 1)
    names = [f"{escaped(result.names[s])} → {escaped(result.names[t])}" for s, t in zip(*off, strict=True)]
    scores = result.distribution[:MOST_MARKS, *off]
    marks = {"color": "@c0", "symbol": "line-ns-open", "size": 10, "opacity": 0.45}
    mean = {"color": "@ink", "symbol": "circle", "size": 8}
    estimate = {"color": "@c1", "symbol": "diamond-open", "size": 10, "line": {"width": 2}}
    traces = [
        scatter("markers", scores.T.ravel(), np.repeat(names, len(scores)), name="resamples", marker=marks),
        scatter("markers", result.mean[off], names, name="mean", marker=mean),
        scatter("markers", result.estimate[off], names, name="observed score R̂", marker=estimate),
    ]
    traces[0]["hoverinfo"] = "x+y"
    layout = {
        "xaxis": axis(escaped(shown(result.agreement))),
        "yaxis": axis("", type="category", autorange="reversed", automargin=True),
    }
    omitted = "" if n == n_pairs else f" Shown are the {n} pairs with the widest spread."
    return chart(
        "strips",
        "Every resample",
        "One line for every pair, trained → tested; a mark for every resample. Two separate groups of marks are "
        f"two solutions between which the clusterer alternates.{omitted}",
        160 + 26 * n,
        [view("all pairs", traces, **layout)],
    )


def _widest_pairs(result: Replicability, most: int) -> tuple[IntArray, IntArray]:
    """Return training and test studies of the pairs with the widest spread, in their order."""
    train, test = np.nonzero(~np.eye(len(result.names), dtype=bool))
    kept = np.sort(np.argsort(-np.nan_to_num(result.sd[train, test]), kind="stable")[:most])
    return train[kept], test[kept]
