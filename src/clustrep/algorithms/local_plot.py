"""Figures of local replicability: a map of the points, a bar for every cluster, who shares a point's cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clustrep.agreement.agreements import shown
from clustrep.errors import ParameterError
from clustrep.plots.canvas import (
    COLOURS,
    DOUBLE,
    MARKERS,
    SINGLE,
    canvas,
    colour_bar,
    largest,
    legend_above,
    literal,
    look,
    names_below,
    panels,
    score_colours,
    smallest,
)
from clustrep.plots.coordinates import check_coordinates, in_two_dimensions
from clustrep.summaries import label
from clustrep.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from clustrep.algorithms.local_scores import LocalReplicability

# With more points, vector files hold them as one picture.
MOST_VECTORS = 5000

WIDE_FROM = 8

# Area of a dot in square points.
SMALLEST_DOT, DOT_PER_SD = 12.0, 120.0


# ---------------------------------------------------------------------------------------------------------------------
# a map of the points


def draw_map(
    result: LocalReplicability, points: ArrayLike | None, memory: FloatArray | None, ax: Axes | None = None
) -> Axes:
    """Draw points coloured by their mean score, larger where it varies more, shaped by cluster.

    points : coordinates, or how to find them from the points in memory
    """
    coordinates = check_coordinates(points, memory, len(result.samples), "points")
    xy, axes = in_two_dimensions(coordinates, points if isinstance(points, str) else None)
    if xy.shape[1] == 1:
        xy = np.column_stack([xy, np.nan_to_num(result.mean)])
        axes = ("the feature", f"mean local {shown(result.agreement)}")
    clusters, cluster = np.unique(result.labels, return_inverse=True)
    sd = np.nan_to_num(result.sd)  # 0 where it is not known
    with canvas(ax, SINGLE, 0.9 * SINGLE) as ax:
        dots = ax.scatter(
            xy[:, 0],
            xy[:, 1],
            s=_dot_area(sd),
            c=result.mean,
            cmap=score_colours(),
            vmin=0,
            vmax=largest(result.mean),
            lw=0,
            plotnonfinite=True,
            rasterized=len(xy) > MOST_VECTORS,
        )
        handles: list[Artist] = []
        if len(clusters) <= len(MARKERS):
            outlines = _outlines()
            dots.set_paths([outlines[place] for place in cluster])
            names = [literal(str(name), 16) for name in clusters]
            handles = [_dot_in_legend(look(i).marker, 5, f"cluster {name}") for i, name in enumerate(names)]
        most = float(f"{sd.max():.1g}") if len(sd) else 0.0
        if most:
            handles += [_dot_in_legend("o", np.sqrt(_dot_area(each)), f"sd {each:g}") for each in (0.0, most / 2, most)]
        ax.set_xlabel(literal(axes[0]))
        ax.set_ylabel(literal(axes[1]))
        legend_above(ax, _title(label(result.clusterer, result.n_clusters), result.train, result.test), handles)
        colour_bar(dots, ax, f"local {literal(shown(result.agreement))}, mean (size: sd)")
        return ax


def _title(configuration: str, train: str, test: str) -> str:
    return f"{literal(configuration)}: {literal(train)} on {literal(test)}"


def _dot_area(sd: Any) -> Any:
    return SMALLEST_DOT + DOT_PER_SD * sd


def _dot_in_legend(marker: str, size: float, text: str) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color="0.5", marker=marker, ls="", markersize=size, mew=0, label=text)


def _outlines() -> list[Any]:
    from matplotlib.markers import MarkerStyle

    styles = [MarkerStyle(marker) for marker in MARKERS]
    return [style.get_path().transformed(style.get_transform()) for style in styles]


# ---------------------------------------------------------------------------------------------------------------------
# a bar for every cluster


def draw_bars(result: LocalReplicability, ax: Axes | None = None) -> Axes:
    """Draw a bar for every cluster, with its interval and the observed score."""
    frame = result.by_cluster()
    n = len(frame)
    mean, low, high, estimate = (frame[name].to_numpy(float) for name in ("mean", "low", "high", "estimate"))
    with canvas(ax, DOUBLE if n > WIDE_FROM else SINGLE, 0.8 * SINGLE) as ax:
        places = np.arange(n)
        ax.bar(places, mean, width=0.65, color=COLOURS[5], alpha=0.7, label="mean")
        ax.vlines(places, low, high, color="black", lw=1.2, label="95 % interval")
        ax.plot(places, estimate, "D", color=COLOURS[1], markerfacecolor="white", label="R̂")
        between = " · n = " if n > WIDE_FROM else "\nn = "
        sizes = zip(frame["cluster"], frame["size"], strict=True)
        names_below(ax, places, [f"{literal(name, 20)}{between}{size:,}" for name, size in sizes])
        ax.axhline(0, color="black", lw=0.6)
        values = np.concatenate([mean, low, high, estimate])
        ax.set_ylim(smallest(values) - 0.03, largest(values) + 0.03)
        ax.set_xlim(-0.6, n - 0.4)
        ax.set_xlabel("cluster")
        ax.set_ylabel(f"local {literal(shown(result.agreement))}")
        legend_above(ax, _title(label(result.clusterer, result.n_clusters), result.train, result.test))
        return ax


# ---------------------------------------------------------------------------------------------------------------------
# who shares a point's cluster


def draw_co_clustering(
    result: LocalReplicability,
    point: int,
    test_points: ArrayLike | None,
    points: ArrayLike | None,
    memory: FloatArray | None,
) -> NDArray[Any]:
    """Draw the test points under the function of either study, as a figure; returns its two axes."""
    shares = result.co_clustering(point)  # (2, n_test)
    coordinates = check_coordinates(test_points, memory, shares.shape[1], "test_points")
    if isinstance(points, str):
        raise ParameterError(
            "points must be an array with kind='co-clustering'; test_points may be 'tsne' or 'pca'.",
            parameter="points",
        )
    mark = np.full(coordinates.shape[1], np.nan)
    if points is not None:
        given = check_coordinates(points, None, len(result.samples), "points")[point]
        mark = given if given.shape == mark.shape else mark
    xy, names = in_two_dimensions(np.vstack([coordinates, mark]), test_points if isinstance(test_points, str) else None)
    with panels(2, 1, SINGLE, 1.7 * SINGLE) as (figure, axes):
        for ax, share, study in zip(axes[:, 0], shares, (result.train, result.test), strict=True):
            dots = _draw_share(ax, share, xy[:-1], xy[-1])
            ax.set_title(f"function learned on {literal(study)}")
            ax.set_ylabel(names[1] if xy.shape[1] == 2 else "share of resamples")
        axes[1, 0].set_xlabel(names[0])
        spread = f" ± {result.sd[point]:.2f}" if np.isfinite(result.sd[point]) else ""
        score = f"local {literal(shown(result.agreement))} {result.mean[point]:.2f}{spread}"
        name = literal(label(result.clusterer, result.n_clusters))
        figure.suptitle(f"{name}; {literal(result.samples[point])}:\n{score}")
        colour_bar(dots, list(axes[:, 0]), "in the point's cluster, share of resamples", aspect=40)
        return np.asarray(axes[:, 0])


def _draw_share(ax: Axes, share: FloatArray, xy: FloatArray, mark: FloatArray) -> Any:
    """Draw the test points under one function; a single feature is drawn against the share."""
    flat = xy.shape[1] == 1
    dots = ax.scatter(
        xy[:, 0],
        share if flat else xy[:, 1],
        c=share,
        s=14,
        cmap=score_colours(),
        vmin=0,
        vmax=1,
        lw=0,
        plotnonfinite=True,
        rasterized=len(xy) > MOST_VECTORS,
    )
    mark = np.array([mark[0], 1.0]) if flat else mark
    if np.isfinite(mark).all():
        ax.plot(*mark[:, None], "X", color="black", markeredgecolor="white", markersize=9, label="the point")
    return dots
