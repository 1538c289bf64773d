"""Figures of local replicability: maps of points, bars for clusters, who shares a point's cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustrep.checks import check_choice
from clustrep.engine.replicates import one_thread
from clustrep.errors import DataError, ParameterError
from clustrep.figures.matplotlib.style import (
    COLOURS,
    DOUBLE,
    MARKERS,
    SINGLE,
    canvas,
    colour_bar,
    heading,
    largest,
    legend_above,
    literal,
    names_below,
    panels,
    score_colours,
    smallest,
)
from clustrep.tables.agreement import shown
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from clustrep.results import LocalReplicability


EMBEDDINGS = ("tsne", "pca")

FEWEST_FOR_TSNE = 4
# With more points, vector files hold them as one picture.
MOST_VECTORS = 5000

WIDE_FROM = 8

SMALLEST_DOT, DOT_PER_SD = 12.0, 120.0


def local_map(
    result: LocalReplicability, points: ArrayLike | None, ax: Axes | None = None, *, memory: FloatArray | None = None
) -> Axes:
    """Draw points coloured by their mean local score, larger where it varies more, shaped by cluster.

    `points` are coordinates, or how to find them from the points in memory.
    """
    n = len(result.samples)
    coordinates = _coordinates(points, memory, n, "points")
    xy, names = _embedded(coordinates, points if isinstance(points, str) else None)
    if xy.shape[1] == 1:
        xy = np.column_stack([xy, np.nan_to_num(result.mean)])
        names = ("the feature", f"mean local {literal(shown(result.agreement))}")
    sd = np.nan_to_num(result.sd)
    with canvas(ax, SINGLE, 0.9 * SINGLE) as ax:
        drawn = ax.scatter(
            xy[:, 0],
            xy[:, 1],
            c=result.mean,
            s=_dot(sd),
            cmap=score_colours(),
            vmin=0,
            vmax=largest(result.mean),
            lw=0,
            plotnonfinite=True,
            rasterized=n > MOST_VECTORS,
        )
        clusters, codes = np.unique(result.labels, return_inverse=True)
        handles: list[Artist] = []
        if len(clusters) <= len(MARKERS):
            outlines = _outlines()
            drawn.set_paths([outlines[code] for code in codes])
            handles += [
                _dot_in_legend(MARKERS[i], 5, f"cluster {literal(name, 16)}") for i, name in enumerate(clusters)
            ]
        most = float(f"{sd.max():.1g}") if n else 0.0
        if most:
            handles += [_dot_in_legend("o", np.sqrt(_dot(at)), f"sd {at:g}") for at in (0.0, most / 2, most)]
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        pair = f"{literal(result.train)} on {literal(result.test)}"
        legend_above(ax, f"{heading(result.clusterer, result.n_clusters)}: {pair}", handles)
        colour_bar(drawn, ax, f"local {literal(shown(result.agreement))}, mean (size: sd)")
        return ax


def cluster_bars(result: LocalReplicability, ax: Axes | None = None) -> Axes:
    """Draw a bar for every cluster's mean, with its 95 % interval and R̂."""
    frame = result.by_cluster()
    many = len(frame) > WIDE_FROM
    with canvas(ax, DOUBLE if many else SINGLE, 0.8 * SINGLE) as ax:
        places = np.arange(len(frame))
        ax.bar(places, frame["mean"], width=0.65, color=COLOURS[5], alpha=0.7, label="mean")
        ax.vlines(places, frame["low"], frame["high"], color="black", lw=1.2, label="95 % interval")
        ax.plot(places, frame["estimate"], "D", color=COLOURS[1], markerfacecolor="white", label="R̂")
        between = " · n = " if many else "\nn = "
        sizes = zip(frame["cluster"], frame["size"], strict=True)
        names_below(ax, places, [f"{literal(name, 20)}{between}{size:,}" for name, size in sizes])
        ax.axhline(0, color="black", lw=0.6)
        top = max(map(largest, (frame["mean"], frame["high"], frame["estimate"])))
        ax.set_ylim(min(map(smallest, (frame["mean"], frame["low"], frame["estimate"]))) - 0.03, top + 0.03)
        ax.set_xlim(-0.6, len(frame) - 0.4)
        ax.set_xlabel("cluster")
        ax.set_ylabel(f"local {literal(shown(result.agreement))}")
        pair = f"{literal(result.train)} on {literal(result.test)}"
        legend_above(ax, f"{heading(result.clusterer, result.n_clusters)}: {pair}")
        return ax


def co_clustering(
    result: LocalReplicability,
    point: int,
    test_points: ArrayLike | None,
    points: ArrayLike | None,
    *,
    memory: FloatArray | None = None,
) -> NDArray[Any]:
    """Draw the test points by how often they share a point's cluster, under the trained and the tested function.

    The point itself is marked where `points` have the test points' columns.
    """
    shares = result.co_clustering(point)  # (2, n_test)
    coordinates = _coordinates(test_points, memory, shares.shape[1], "test_points")
    if isinstance(points, str):
        raise ParameterError(
            "points must be an array with kind='co-clustering'; test_points may be 'tsne' or 'pca'.", parameter="points"
        )
    own = None if points is None else _coordinates(points, None, len(result.samples), "points")[point]
    if own is None or own.shape != coordinates.shape[1:]:
        own = np.full(coordinates.shape[1], np.nan)
    xy, names = _embedded(np.vstack([coordinates, own]), test_points if isinstance(test_points, str) else None)
    with panels(1, 2, DOUBLE, 0.9 * SINGLE) as (figure, axes):
        titles = [f"function learned on {literal(name)}" for name in (result.train, result.test)]
        for ax, share, title in zip(axes[0], shares, titles, strict=True):
            heights = xy[:-1, 1] if xy.shape[1] == 2 else share
            drawn = ax.scatter(
                xy[:-1, 0],
                heights,
                c=share,
                s=14,
                cmap=score_colours(),
                vmin=0,
                vmax=1,
                lw=0,
                plotnonfinite=True,
                rasterized=len(xy) > MOST_VECTORS,
            )
            mark = xy[-1] if xy.shape[1] == 2 else np.array([xy[-1, 0], 1.0])
            if np.isfinite(mark).all():
                ax.plot(*mark[:, None], "X", color="black", markeredgecolor="white", markersize=9, label="the point")
            ax.set_title(title)
            ax.set_xlabel(names[0])
        axes[0, 0].set_ylabel(names[1] if xy.shape[1] == 2 else "share of resamples")
        score = f"local {literal(shown(result.agreement))} {result.mean[point]:.2f}"
        spread = f" ± {result.sd[point]:.2f}" if np.isfinite(result.sd[point]) else ""
        figure.suptitle(
            f"{heading(result.clusterer, result.n_clusters)}; {literal(result.samples[point])}: {score}{spread}"
        )
        colour_bar(drawn, list(axes[0]), "in the point's cluster, share of resamples")
        return np.asarray(axes[0])


# ---------------------------------------------------------------------------------------------------------------------
# coordinates


def _coordinates(points: ArrayLike | None, memory: FloatArray | None, n: int, name: str) -> FloatArray:
    """Check coordinates, or take those in memory."""
    if isinstance(points, str):
        check_choice(points, name, EMBEDDINGS, or_else="an array")
    if points is None or isinstance(points, str):
        if memory is None:
            raise ParameterError(
                f"{name} must be given: this result was read from a file, which holds no coordinates.", parameter=name
            )
        points = memory
    xy = np.asarray(points)
    if xy.ndim != 2 or len(xy) != n or not xy.shape[1]:
        raise DataError(f"{name} must have {n} rows, got an array of {xy.shape}.")
    if xy.dtype.kind not in "iuf" or not np.isfinite(xy).all():
        raise DataError(f"{name} must be numbers, none of them missing or infinite.")
    return xy.astype(float)


def _embedded(X: FloatArray, how: str | None) -> tuple[FloatArray, tuple[str, str]]:
    """Return one or two coordinates, and their names; a row without numbers has none."""
    known = np.isfinite(X).all(axis=1)
    if how == "tsne":
        placed = np.full((len(X), 2), np.nan)
        placed[known] = _tsne(X[known])
        return placed, ("first t-SNE coordinate", "second t-SNE coordinate")
    if X.shape[1] == 1:
        return X, ("the feature", "")
    if X.shape[1] == 2 and how is None:
        return X, ("first coordinate", "second coordinate")
    centre = X[known].mean(axis=0)
    axes = np.linalg.svd(X[known] - centre, full_matrices=False)[2][:2]
    placed = np.zeros((len(X), 2))
    placed[:, : len(axes)] = (X - centre) @ axes.T  # a single point has a single component
    return placed, ("first principal component", "second principal component")


def _tsne(X: FloatArray) -> FloatArray:
    from sklearn.manifold import TSNE

    if len(X) < FEWEST_FOR_TSNE:
        raise ParameterError(f"'tsne' needs at least {FEWEST_FOR_TSNE} points, got {len(X)}.", parameter="points")
    start = "pca" if X.shape[1] > 1 else "random"
    with one_thread():
        tsne = TSNE(perplexity=min(30.0, (len(X) - 1) / 3), init=start, random_state=0)
        return np.asarray(tsne.fit_transform(X), dtype=float)


# ---------------------------------------------------------------------------------------------------------------------
# dots


def _dot(sd: Any) -> Any:
    """Area of a dot in square points."""
    return SMALLEST_DOT + DOT_PER_SD * sd


def _dot_in_legend(marker: str, size: float, label: str) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color="0.5", marker=marker, ls="", markersize=size, mew=0, label=label)


def _outlines() -> list[Any]:
    from matplotlib.markers import MarkerStyle

    styles = [MarkerStyle(marker) for marker in MARKERS]
    return [style.get_path().transformed(style.get_transform()) for style in styles]
