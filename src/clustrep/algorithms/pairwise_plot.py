"""Figures of pairs of studies: the study × study matrix, a grid of matrices, a forest plot of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.agreements import shown
from clustrep.algorithms.choice import Ranking
from clustrep.plots.canvas import (
    COLOURS,
    DOUBLE,
    SINGLE,
    canvas,
    cell_size,
    colour_bar,
    evenly,
    largest,
    literal,
    names_below,
    panels,
    score_colours,
    smallest,
    write_cells,
)
from clustrep.summaries import label, quiet
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.algorithms.comparison import Comparison
    from clustrep.algorithms.pairwise import Replicability

MOST_COLUMNS = 6
# Pairs in one figure: more do not fit on a page.
MOST_PAIRS = 30


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
    order = sorted(range(len(result.clusterers)), key=lambda c: result.n_clusters[c] or 0)
    groups: dict[str, list[int]] = {name: [] for name in result.clusterers}
    for c in order:
        groups[result.clusterers[c]].append(c)
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
# a forest plot of all pairs


def draw_forest(result: Replicability, ax: Axes | None = None) -> Axes:
    """Draw mean and interval of every pair, all resamples behind them, and the mean over all pairs below.

    Of many pairs, those with the widest spread are shown.
    """
    off = _widest_pairs(result, MOST_PAIRS)
    n, n_pairs = len(off[0]), len(result.names) * (len(result.names) - 1)
    is_pair = ~np.eye(len(result.names), dtype=bool)
    averages = result.distribution[:, is_pair].mean(axis=1)
    low, high = result.confidence_interval()
    ends = Ranking.interval(averages, 0.95)
    with quiet():
        overall = float(np.nanmean(result.mean[is_pair]))
    rows = [
        *zip(result.mean[off], low[off], high[off], result.distribution[:, *off].T, strict=True),
        (overall, *ends, averages),
    ]
    names = [literal(name, 12) for name in result.names]
    labels = [f"{names[s]} → {names[t]}" for s, t in zip(*off, strict=True)]
    with canvas(ax, SINGLE, 1.0 + 0.17 * (n + 1)) as ax:
        spread = np.linspace(-0.3, 0.3, len(result.distribution))  # by resample number: the same picture every time
        for y, (mean, left, right, scores) in enumerate(rows):
            colour = "black" if y < n else COLOURS[1]
            ax.plot(scores, y + spread, ".", color=COLOURS[0], alpha=0.35, markersize=2.5, mew=0, zorder=1)
            ax.plot([left, right], [y, y], color=colour, lw=1.3)
            ax.plot(mean, y, "s" if y < n else "D", color=colour, markersize=4 if y < n else 6)
            text = "no score" if np.isnan(mean) else f"{mean:z.2f} [{left:z.2f}, {right:z.2f}]"
            ax.text(1.02, y, text, va="center", fontsize=6.5, transform=ax.get_yaxis_transform())
        ax.plot(result.estimate[off], range(n), "|", color=COLOURS[1], markersize=7, mew=1.4)
        ax.axvline(overall, color=COLOURS[1], lw=0.7, ls="--", zorder=0)
        ax.axhline(n - 0.5, color="0.7", lw=0.6)
        ax.set_yticks(range(n + 1), [*labels, "all pairs"])
        ax.set_ylim(n + 0.6, -0.6)
        values = np.concatenate([[left, right] for _, left, right, _ in rows] + [result.estimate[off]])
        ax.set_xlim(min(0.0, smallest(values)) - 0.03, largest(values) + 0.03)
        ax.set_xlabel(f"{literal(shown(result.agreement))}: mean, 95 % interval, resamples (dots), R̂ (bar)", fontsize=7)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        i2 = "" if np.isnan(result.heterogeneity) else f"; I² = {100 * result.heterogeneity:.0f} %"
        few = "" if n == n_pairs else f"\n{n} of {n_pairs} pairs: the widest spread"
        ax.set_title(f"{literal(label(result.clusterer, result.n_clusters))}, trained → tested{i2}{few}")
        return ax


def _widest_pairs(result: Replicability, most: int) -> tuple[IntArray, IntArray]:
    """Return training and test studies of the pairs with the widest spread, in their order."""
    train, test = np.nonzero(~np.eye(len(result.names), dtype=bool))
    kept = np.sort(np.argsort(-np.nan_to_num(result.sd[train, test]), kind="stable")[:most])
    return train[kept], test[kept]
