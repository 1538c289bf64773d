"""The result of Algorithm 3, scores of points and of clusters, and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clustrep.agreement.agreements import shown
from clustrep.agreement.contingency import RULES
from clustrep.cached import cached_property
from clustrep.checks import check_choice, check_integer, check_numbers_between, read_only
from clustrep.errors import ParameterError
from clustrep.files.saved import Saved
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
    score_colours,
    smallest,
)
from clustrep.plots.coordinates import check_coordinates, in_two_dimensions
from clustrep.provenance import Provenance
from clustrep.summaries import Failing, Resampled, label, quiet, tails
from clustrep.text import plural
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from clustrep.fitting.setting import RunOrigin


# Points whose whole distribution is gathered at once.
POINTS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False, repr=False)
class LocalReplicability(Resampled, Failing, Saved):
    """How well the clustering around each point replicates (Algorithm 3).

    The local score of a point x is the agreement of two binary partitions of the test study X′:

        LR(x) = r( [ψ(X′; X) = ψ(x; X)], [ψ(X′; X′) = ψ(x; X′)] )

    that is, of "shares x's cluster under the function of the training study X" and "shares it under the test study's
    own". It depends on x only through the pair of its labels under the two functions, so a resample is kept as a small
    table of scores and two labels for every point; distributions are gathered from these when asked for.

    Attributes
    ----------
    train, test : str
        The studies' names.
    agreement : str
        What the scores measure.
    clusterer : str
        The clusterer's name.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    noise : {"label", "drop", "singletons"}
        What was done with points that a function calls noise.
    samples : tuple of str
        Names of the points.
    labels : ndarray, (n_points,)
        ψ(at; the training study without resampling): the clusters of `by_cluster`.
    estimate : ndarray, (n_points,)
        The observed local scores.
    tables : ndarray, (n_resamples, k_train, k_test)
        The score of a point with label i under the training and j under the test function.
    at_train, at_test : ndarray of int, (n_resamples, n_points)
        The points' labels under the training and the test function, as places in `tables`.
    test_points_train, test_points_test : ndarray of int, (n_resamples, n_test)
        The same for the test study's own samples.
    trivial : ndarray of bool, (n_resamples,)
        Whether either partition of the test study is a single cluster.
    noise_codes : ndarray of int, (n_resamples, 2)
        The label that is noise under either function, −1 for none.
    failed : ndarray of int, (n_resamples + 1,)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    A point's mean, standard deviation and interval are those of its scores over the resamples that did not fail, as in
    `Replicability`. A cluster's are those of its average, Σ_{x in cluster} LR⁽ᵇ⁾(x) / size, over resamples.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, Algorithm 3 and section 3.3.3.

    See Also
    --------
    local_replicability : The function that returns it.
    Findings : Which cluster of one study is which of another.
    """

    train: str
    test: str
    agreement: str
    clusterer: str
    n_clusters: int | None
    noise: str
    samples: tuple[str, ...]
    labels: Labels
    estimate: FloatArray
    tables: FloatArray
    at_train: IntArray  # (n_resamples, n_points): codes under the training function
    at_test: IntArray  # (n_resamples, n_points): codes under the test function
    test_points_train: IntArray  # (n_resamples, n_test): codes of the test study's own points
    test_points_test: IntArray
    trivial: BoolArray  # (n_resamples,): either partition of the test study is a single cluster
    noise_codes: IntArray  # (n_resamples, 2): the code that is noise under either function, −1 for none
    failed: IntArray  # (n_resamples + 1,)
    causes: tuple[str, ...]
    provenance: Provenance
    _points: FloatArray | None = None
    _origin: RunOrigin | None = None  # training study first, test study last

    @property
    def distribution(self) -> FloatArray:  # type: ignore[override]
        """Local scores of all points in all resamples, (n_resamples, n_points); NaN where there is none."""
        return self._scores_at(slice(None))

    @property
    def mean(self) -> FloatArray:
        """Mean over resamples, (n_points,)."""
        return self._moments[0]

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over resamples (with n − 1), (n_points,)."""
        return self._moments[1]

    def quantile(self, q: float | Sequence[float]) -> FloatArray:
        """Quantiles over resamples, (n_points,) or (n_quantiles, n_points)."""
        check_numbers_between(q, "q", 0, 1)
        n_points = self.at_train.shape[1]
        with quiet():
            blocks = [
                _quantile(self._scores_at(slice(i, i + POINTS_AT_ONCE)), q) for i in range(0, n_points, POINTS_AT_ONCE)
            ]
        return np.concatenate(blocks, axis=-1)

    @cached_property
    def cluster_distribution(self) -> FloatArray:
        """Mean over each cluster's points in each resample, (n_resamples, n_clusters)."""
        codes, sizes = np.unique(self.labels, return_inverse=True, return_counts=True)[1:]
        rows = [mean_by(codes, row, len(sizes)) for row in self._rows()]
        return np.array(rows).reshape(len(self.tables), len(sizes))

    def by_cluster(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Summarise the scores of every cluster: cluster, size, estimate, mean, sd, low, high.

        In each resample the scores of the cluster's points are averaged; mean, standard deviation and interval are
        those of these averages.
        """
        clusters, codes, sizes = np.unique(self.labels, return_inverse=True, return_counts=True)
        with quiet():
            low, high = np.nanquantile(self.cluster_distribution, tails(confidence_level), axis=0)
            return pd.DataFrame(
                {
                    "cluster": clusters,
                    "size": sizes,
                    "estimate": mean_by(codes, self.estimate, len(clusters)),
                    "mean": np.nanmean(self.cluster_distribution, axis=0),
                    "sd": np.nanstd(self.cluster_distribution, axis=0, ddof=1),
                    "low": low,
                    "high": high,
                }
            )

    def co_clustering(self, point: int) -> FloatArray:
        """How often each test point shares a point's cluster, under the training and the test function, (2, n_test).

        Over all original test points, also those not drawn, and all resamples that did not fail (section 4.3).
        """
        check_integer(point, "point", at_least=0)
        if point >= len(self.samples):
            raise ParameterError(f"point must be below {len(self.samples)}, got {point}.", parameter="point")
        sides = [(self.at_train, self.test_points_train), (self.at_test, self.test_points_test)]
        frequencies = []
        for side, (at, test_points) in enumerate(sides):
            label_of_point = at[:, [point]]
            together = test_points == label_of_point
            if not RULES[self.noise].is_cluster:  # noise shares nothing
                together = together & (label_of_point != self.noise_codes[:, [side]])
            with quiet():
                frequencies.append(np.nanmean(np.where(self._worked[:, None], together, np.nan), axis=0))
        return np.array(frequencies)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every point: sample, cluster, estimate, mean, sd, low, high."""
        about = {"sample": self.samples, "cluster": self.labels, "estimate": self.estimate}
        return pd.DataFrame({**about, **self.columns(confidence_level)})

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "map",
        points: ArrayLike | None = None,
    ) -> Axes:
        """Draw the points coloured by their mean score; or a bar for every cluster.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        kind : {"map", "clusters"}
        points : "tsne", "pca" or ndarray, (n_points, 2), optional
            Where to draw the points; by default the points themselves in two dimensions, else their first two
            principal components. Needed for a result that was read from a file.
        """
        check_choice(kind, "kind", ("map", "clusters"))
        if kind == "map":
            return draw_map(self, points, self._points, ax)
        if points is not None:
            raise ParameterError("points must be left out with kind='clusters', which draws none.", parameter="points")
        return draw_bars(self, ax)

    def __repr__(self) -> str:
        lines = [
            f"Local replicability of {label(self.clusterer, self.n_clusters)}, "
            f"trained on {self.train}, tested on {self.test}: {shown(self.agreement)}, "
            f"{plural(len(self.tables), 'resample')}, seed {self.provenance['seed']}",
            self.by_cluster().round(3).to_string(index=False),
        ]
        if self.trivial.any():
            lines.append(f"Single-cluster scores: {plural(int(self.trivial.sum()), 'resample')}")
        lines += self.failures.lines("replicate")
        return "\n".join(lines)

    @property
    def _worked(self) -> BoolArray:
        return np.asarray(self.failed[1:] == 0)

    def _scores_at(self, points: slice) -> FloatArray:
        resamples = np.arange(len(self.tables))[:, None]
        return np.asarray(self.tables[resamples, self.at_train[:, points], self.at_test[:, points]])

    def _rows(self) -> Iterator[FloatArray]:
        for table, i, j in zip(self.tables, self.at_train, self.at_test, strict=True):
            yield table[i, j]

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation, without holding the distribution."""
        count, total, squares = np.zeros((3, self.at_train.shape[1]))
        for row in self._rows():
            count += ~np.isnan(row)
            total += np.nan_to_num(row)
        with quiet():
            mean = np.where(count > 0, total / count, np.nan)
            for row in self._rows():
                squares += np.nan_to_num((row - mean) ** 2)
            sd = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)
        return read_only(mean), read_only(sd)


def _quantile(scores: FloatArray, q: float | Sequence[float]) -> FloatArray:
    quantile = np.nanquantile if np.isnan(scores).any() else np.quantile  # the same, and thirty times faster
    return np.asarray(quantile(scores, q, axis=0))


def mean_by(codes: IntArray, values: FloatArray, n_groups: int) -> FloatArray:
    """Mean of the values in each group, NaN left out.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        The group of every value.
    values : ndarray of shape (n,)
        The values.
    n_groups : int
        How many groups there are.

    Returns
    -------
    ndarray of shape (n_groups,)
        NaN for a group without any value.
    """
    known = ~np.isnan(values)
    sums = np.bincount(codes[known], values[known], minlength=n_groups)
    counts = np.bincount(codes[known], minlength=n_groups)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


# ---------------------------------------------------------------------------------------------------------------------
# figures: a map of the points, a bar for every cluster


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
