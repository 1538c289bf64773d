"""Figures of scores: a study × study matrix, a forest plot of all pairs, curves over the number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from clustrep.agreement.agreements import shown
from clustrep.algorithms.choice import Ranking
from clustrep.plots.canvas import (
    COLOURS,
    DOUBLE,
    HATCHES,
    MARKERS,
    SINGLE,
    Look,
    canvas,
    cell_size,
    colour_bar,
    in_legend,
    largest,
    legend_above,
    literal,
    look,
    names_below,
    score_colours,
    smallest,
    ticks_at,
    write_cells,
)
from clustrep.summaries import label, quiet, tails
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from clustrep.algorithms.comparison import Comparison
    from clustrep.algorithms.pairwise import Replicability
    from clustrep.null.null_scores import NullReference

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


# ---------------------------------------------------------------------------------------------------------------------
# several configurations: curves over the number of clusters, and their null distributions behind them


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


def curve_places(result: Comparison) -> tuple[str, list[float | None], dict[str, list[int]]]:
    """Return the title of the axis, the place of every configuration on it, and the configurations of every curve.

    A clusterer that finds its number of clusters has one configuration, without a place.
    """
    parameters, found = result.parameters, result.mean_clusters_found.tolist()
    values = [None if record is None else record.value for record in result.records]
    at: list[float | None] = list(result.n_clusters)
    if parameters in ([], ["k"]):
        title = AXIS_OF_K
    elif len(parameters) == 1:
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
    title, at, groups = curve_places(result)
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
    if len(at) == 1:  # a single number of clusters has no width
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
