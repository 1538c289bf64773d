"""The nearest of some points: exact, by a KD-tree for few features, else by matrix products or all distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from clustrep.checks import check_labels
from clustrep.execution.devices import PROCESSOR
from clustrep.execution.seeds import ReplicateFailure, breathe
from clustrep.kernels.reductions import keep_least
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

Metric: TypeAlias = str | Callable[[FloatArray, FloatArray], float]

# Beyond this many features a KD-tree visits nearly every leaf, and plain distances are faster.
KD_TREE_FEATURES = 15
# The same for several nearest points: beyond this many, products find them faster than a KD-tree.
SEVERAL_BY_TREE = 8

SCIPY_METRICS = {
    "manhattan": "cityblock",
    "l1": "cityblock",
    "l2": "euclidean",
    "infinity": "chebyshev",
    "p": "minkowski",
}
# Rows compared at once. A constant, so that results do not depend on how work is divided.
BLOCK = 1024
# Distances between points that are looked at once.
CELLS = 2**23
# Rows and points of one matrix product, whose 2 MB stay in the processor's cache, and rows that share the preparation
# of the points; fewer of all of them where features are so numerous that each would take more than 8 MB.
PRODUCT_ROWS, PRODUCT_POINTS, ROWS_AT_ONCE, PRODUCT_CELLS = 256, 1024, 4096, 2**20
# Squared distances from the centre between which neither products nor `cdist` overflow or lose digits.
SMALLEST_SQUARE, LARGEST_SQUARE = 2.0**-900, 2.0**900
UNIT = 2.0**-53  # of rounding
# More than any digits that are lost where squares are next to zero, less than any square that counts.
UNDERFLOW = 2.0**-1000
# Distances are equal up to this share of them: rounding, which differs from one way of computing to the next.
ROUNDING = 1e-12


def nearest_label(
    points: FloatArray,
    labels: ArrayLike,
    metric: Metric,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    device: str = PROCESSOR,
) -> NearestLabel:
    """Return the function that gives a point the label of the nearest training point; of equal ones the first.

    Parameters
    ----------
    points : ndarray of shape (n_train, n_features)
        The training samples.
    labels : array-like of shape (n_train,)
        Their labels.
    metric : str or function
        Any of `scipy.spatial.distance.cdist`.
    parameters : mapping, default={}
        Further arguments of the metric.
    device : str, default="cpu"
        Where the nearest samples are found.

    Returns
    -------
    NearestLabel
    """
    z = check_labels(labels, "the clusterer's labels", length=len(points), same_as="its input")
    _, first = np.unique(points, axis=0, return_index=True)
    first.sort()
    return NearestLabel(nearest_point(points[first], metric, parameters, device), z[first], first)


def nearest_point(
    points: FloatArray,
    metric: Metric,
    parameters: Mapping[str, Any] = MappingProxyType({}),
    device: str = PROCESSOR,
) -> Callable[[FloatArray], IntArray]:
    """Return the function that finds the nearest of some points: which row it is, the same on every device.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        Among which the nearest is found.
    metric : str or function
        Any of `scipy.spatial.distance.cdist`.
    parameters : mapping, default={}
        Further arguments of the metric.
    device : str, default="cpu"
        Where it is found.

    Returns
    -------
    function
        Of a table of shape (n, n_features), which returns the rows of the nearest points, (n,).
    """
    points = np.ascontiguousarray(points)
    if searches_on(device, metric):
        from clustrep.gpu.row_search import RowSearch  # imports PyTorch

        return RowSearch.of(points, device, partial(nearest_point, points, metric, parameters))
    if by_tree(metric, points.shape[1]):
        return partial(_nearest_by_tree, tree=cKDTree(points))
    if metric == "euclidean" and (search := NearestByProducts.of(points)).is_exact:
        return search
    return NearestInBlocks(points, metric, dict(_fixed_by(points, metric, parameters)))


def searches_on(device: str, metric: Metric) -> bool:
    """Whether the nearest points are found on a device."""
    return device != PROCESSOR and metric == "euclidean"


def by_tree(metric: Metric, n_features: int) -> bool:
    """Whether a KD-tree finds nearest points faster than all distances."""
    return metric == "euclidean" and n_features <= KD_TREE_FEATURES


@dataclass(frozen=True, eq=False)
class NearestLabel:
    """The label of the nearest training point."""

    nearest: Callable[[FloatArray], IntArray]
    labels: Labels
    rows: IntArray  # which rows of the training table are searched: of equal ones the first

    def __call__(self, X: FloatArray) -> Labels:
        """Return one for every row of X."""
        return np.asarray(self.labels[self.nearest(X)])


def _nearest_by_tree(X: FloatArray, tree: cKDTree) -> IntArray:
    return np.asarray(tree.query(X)[1])


@dataclass(frozen=True, eq=False)
class NearestInBlocks:
    """The nearest of some points, by all distances."""

    points: FloatArray
    metric: Metric
    parameters: Mapping[str, Any]

    def __call__(self, X: FloatArray) -> IntArray:
        """Return its row for every row of X."""
        result = np.empty(len(X), dtype=np.int64)
        for rows in _slices(len(X), max(1, min(BLOCK, CELLS // len(self.points)))):
            result[rows] = nearest_of(cdist(X[rows], self.points, self.metric, **self.parameters))
            breathe()
        return result


@dataclass(frozen=True, eq=False)
class NearestByProducts:
    """The nearest of some points by Euclidean distance: that of `cdist`, whatever it takes for equal included.

    Matrix products give a lower bound for every distance. Where more than one point may be the nearest, `cdist`
    compares all.

    Notes
    -----
    Let u be the unit of rounding, p the number of features, a and b the distances of a row x and a point y from the
    centre. What a product returns for |y|² - 2xy, in whatever order it adds up, differs from the squared distance less
    a² by at most (3p + 16) u (a² + b²): (p + 2) u for each term, of which all together are at most a² + 3b², and 4u for
    the coordinates relative to the centre. With 4 (p + 8) u b² subtracted, the product is a lower bound whatever b is,
    up to terms of a; so a point far from all others does not cast doubt on the rest.
    """

    points: FloatArray
    centre: FloatArray
    largest_square: float  # of the points' distances from the centre

    @classmethod
    def of(cls, points: FloatArray) -> NearestByProducts:
        """Make the search for these points, relative to their mean."""
        with np.errstate(over="ignore", invalid="ignore"):
            centre = points.mean(axis=0, dtype=np.float64)
        squares = [_relative(points[rows], centre)[1].max() for rows in _slices(len(points), BLOCK)]
        return cls(points, centre, float(np.max(squares)))

    @property
    def is_exact(self) -> bool:
        """Whether the points' squares are numbers of which none is lost."""
        return SMALLEST_SQUARE < self.largest_square < LARGEST_SQUARE

    def __call__(self, X: FloatArray) -> IntArray:
        """Return its row for every row of X."""
        nearest = self.several(X, 1)[:, 0]
        uncertain = np.flatnonzero(nearest < 0)
        if len(uncertain):
            nearest[uncertain] = NearestInBlocks(self.points, "euclidean", {})(X[uncertain])
        return nearest

    def several(self, X: FloatArray, n_nearest: int) -> IntArray:
        """Return the nearest of every row of X, nearest first, (n_rows, n_nearest); -1 from where that is not certain.

        Those with the least bounds are compared. With a the distance of a row from the centre and r the share of
        rounding, the squared distance of a point is at least its bound and a² less 8 r a²: no point outside of a list
        is nearer than the last bound within says.
        """
        result = np.full((len(X), n_nearest), -1, dtype=np.int64)
        for rows in _slices(len(X), self._rows_within(ROWS_AT_ONCE)):
            x, squares = _relative(X[rows], self.centre)
            inside = squares < LARGEST_SQUARE
            x[~inside] = squares[~inside] = 0.0
            listed, bounds = self._several_least_bounds(x, min(n_nearest + 1, len(self.points)))
            distances = self._squared_distances(X[rows], listed)
            least_outside = np.full(len(x), np.inf)
            if len(listed[0]) < len(self.points):
                least_outside = squares + bounds[:, -1] - 8 * self._rounding * squares
            order = np.argsort(distances, axis=1, kind="stable")
            distances = np.take_along_axis(distances, order, axis=1)
            certain = _certain(distances, least_outside, n_nearest, len(self.centre)) & inside[:, None]
            result[rows] = np.where(certain, np.take_along_axis(listed, order, axis=1)[:, :n_nearest], -1)
        return result

    def _several_least_bounds(self, x: FloatArray, n_kept: int) -> tuple[IntArray, FloatArray]:
        """Return for every row the points with the least bounds, and these, in ascending order."""
        bounds, listed = np.full((len(x), n_kept), np.inf), np.zeros((len(x), n_kept), dtype=np.int64)
        for points, factor in self._factors():
            for rows in _slices(len(x), PRODUCT_ROWS):
                keep_least(x[rows] @ factor, points.start, bounds[rows], listed[rows])
            breathe()
        return listed, bounds

    def _squared_distances(self, X: FloatArray, listed: IntArray) -> FloatArray:
        squares = np.empty(listed.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            for i, points in enumerate(listed.T):
                difference = np.subtract(X, self.points[points], dtype=np.float64)
                squares[:, i] = np.einsum("ij,ij->i", difference, difference)
        return squares

    @property
    def _rounding(self) -> float:
        return (len(self.centre) + 8) * UNIT

    def _factors(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield some points after the other as a factor that turns rows into bounds, (n_features + 1, n_points)."""
        for points in _slices(len(self.points), self._rows_within(PRODUCT_POINTS)):
            y, squares = _relative(self.points[points], self.centre)
            y *= -2.0
            y[:, -1] = (1 - 4 * self._rounding) * squares
            yield points, y.T

    def _rows_within(self, most: int) -> int:
        return max(1, min(most, PRODUCT_CELLS // len(self.centre)))


def _relative(X: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rows relative to a centre, with a 1 behind them, and their squared distances from it."""
    relative = np.ones((len(X), len(centre) + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        np.subtract(X, centre, out=relative[:, :-1])
        return relative, np.einsum("ij,ij->i", relative[:, :-1], relative[:, :-1])


def _slices(n: int, step: int) -> Iterator[slice]:
    return (slice(i, min(i + step, n)) for i in range(0, n, step))


def nearest_of(distances: FloatArray) -> IntArray:
    """Return the column of the smallest distance in every row, NaN omitted, such as the angle of a zero vector."""
    nearest = np.asarray(distances.argmin(axis=1))  # NaN where a row has any
    if not np.isnan(distances[np.arange(len(distances)), nearest]).any():
        return nearest
    unknown = np.isnan(distances)
    if unknown.all(axis=1).any():
        raise ReplicateFailure("the metric gives a point no distance to any training point")
    return np.asarray(np.where(unknown, np.inf, distances).argmin(axis=1))


def _fixed_by(points: FloatArray, metric: Metric, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fix by the training points what SciPy would estimate from the points compared."""
    if metric == "seuclidean" and "V" not in parameters:
        variances = np.var(points, axis=0, ddof=1)
        return {**parameters, "V": np.where(variances > 0, variances, 1.0)}  # a constant feature has no weight
    if metric == "mahalanobis" and "VI" not in parameters:
        return {**parameters, "VI": np.linalg.pinv(np.atleast_2d(np.cov(points, rowvar=False)))}
    return parameters


def certain_nearest(points: FloatArray, X: FloatArray, n_nearest: int) -> IntArray:
    """Return the nearest of some points for every row of X, nearest first, (n_rows, n_nearest), by Euclidean distance.

    A list has -1 from where the next point is as near as rounding, and at its end where there are too few points.
    """
    n_listed = min(n_nearest, len(points))
    result = np.full((len(X), n_nearest), -1, dtype=np.int32)
    if points.shape[1] <= SEVERAL_BY_TREE:
        n_found = min(n_listed + 1, len(points))
        distances, nearest = cKDTree(points).query(X, k=range(1, n_found + 1))
        with np.errstate(over="ignore"):
            certain = _certain(np.square(distances), np.full(len(X), np.inf), n_listed, points.shape[1])
        result[:, :n_listed] = np.where(certain, nearest[:, :n_listed], -1)
    elif (search := NearestByProducts.of(np.ascontiguousarray(points))).is_exact:
        result[:, :n_listed] = search.several(X, n_listed)
    return result


def _certain(squares: FloatArray, least_outside: FloatArray, n_nearest: int, n_features: int) -> BoolArray:
    """Say of the first of every row whether they are nearer than what follows, by more than rounding.

    squares : (n_rows, n_nearest) squared distances in ascending order, or one more
    least_outside : (n_rows,), less than those of all other points
    """
    following = np.column_stack([squares[:, 1:], least_outside])[:, :n_nearest]
    tolerance = 4 * ROUNDING + 16 * (n_features + 8) * UNIT
    with np.errstate(over="ignore", invalid="ignore"):
        limits = squares[:, :n_nearest] * (1 + tolerance) + UNDERFLOW
    clear = (following > limits) & (least_outside[:, None] > limits)
    return np.asarray(np.logical_and.accumulate(clear, axis=1))


def neighbours(
    X: FloatArray, n_neighbours: int, metric: Metric = "euclidean", rows: IntArray | None = None
) -> IntArray:
    """Return the nearest other points of every point, (n_points, n_neighbours): itself never, of equal ones the first.

    A point is identified by its row, so a copy of it is a neighbour like any other. Distances that differ by
    rounding alone are equal. With `rows`, only of these points.
    """
    metric = scipy_metric(metric)
    if n_neighbours == 0:
        return np.empty((len(X), 0), dtype=np.int64)
    if rows is not None:
        return _neighbours_of(rows, X, n_neighbours, metric)
    if metric != "euclidean":
        return _neighbours_of(np.arange(len(X)), X, n_neighbours, metric)
    lists = certain_nearest(X, X, n_neighbours + 1)  # a point comes first in its own
    result = lists[:, 1:].astype(np.int64)
    unclear = np.flatnonzero((lists[:, 0] != np.arange(len(X))) | (result < 0).any(axis=1))
    result[unclear] = _neighbours_of(unclear, X, n_neighbours, metric)
    return result


def scipy_metric(metric: Metric) -> Metric:
    """Write the name of scikit-learn's metric as SciPy's."""
    return SCIPY_METRICS.get(metric, metric) if isinstance(metric, str) else metric


def nearest_distances(X: FloatArray) -> FloatArray:
    """Return the Euclidean distance of every point to the nearest other, (n_points,)."""
    if by_tree("euclidean", X.shape[1]):
        return np.asarray(cKDTree(X).query(X, k=2)[0][:, 1])
    nearest = neighbours(X, 1)[:, 0]
    return np.asarray(np.linalg.norm(X - X[nearest], axis=1))


def assigned(X: FloatArray, centres: FloatArray, metric: Metric) -> IntArray:
    """Return the nearest centre of every point, (n_points,), by a metric that is fixed by the points.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points.
    centres : ndarray of shape (n_centres, n_features)
        The centres; of equally near ones the first.
    metric : str or function
        Any of `scipy.spatial.distance.cdist`.

    Returns
    -------
    ndarray of int, shape (n_points,)
    """
    metric = scipy_metric(metric)
    parameters = _fixed_by(X, metric, {})
    blocks = (X[i : i + BLOCK] for i in range(0, len(X), BLOCK))
    return np.concatenate([_distances(x, centres, metric, parameters).argmin(axis=1) for x in blocks])


def _neighbours_of(rows: IntArray, X: FloatArray, n_neighbours: int, metric: Metric) -> IntArray:
    """Find the neighbours of some points by all distances, in blocks of rows that keep memory small."""
    parameters = _fixed_by(X, metric, {})
    step = max(1, CELLS // len(X))
    result = np.empty((len(rows), n_neighbours), dtype=np.int64)
    for i in range(0, len(rows), step):
        some = rows[i : i + step]
        distances = _distances(X[some], X, metric, parameters)
        distances[np.arange(len(some)), some] = np.inf
        result[i : i + step] = _first_nearest(distances, n_neighbours)
    return result


def _first_nearest(distances: FloatArray, n_nearest: int) -> IntArray:
    """Return the columns of the smallest distances in every row, equal ones in their order."""
    last = np.partition(distances, n_nearest - 1, axis=1)[:, [n_nearest - 1]]
    candidate = distances <= last * (1 + ROUNDING)
    width = int(candidate.sum(axis=1).max())
    columns = np.argsort(~candidate, axis=1, kind="stable")[:, :width]  # candidates first, in their order
    values = np.where(
        np.take_along_axis(candidate, columns, axis=1), np.take_along_axis(distances, columns, axis=1), np.inf
    )
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    columns = np.take_along_axis(columns, order, axis=1)
    larger = values[:, 1:] > values[:, :-1] * (1 + ROUNDING)
    group = np.concatenate([np.zeros((len(values), 1), dtype=np.int64), np.cumsum(larger, axis=1)], axis=1)
    order = np.argsort(group * distances.shape[1] + columns, axis=1)
    return np.asarray(np.take_along_axis(columns, order, axis=1)[:, :n_nearest])


def _distances(points: FloatArray, others: FloatArray, metric: Metric, parameters: Mapping[str, Any]) -> FloatArray:
    distances = np.asarray(cdist(points, others, metric, **parameters))
    distances[np.isnan(distances)] = np.finfo(float).max / 2  # as of a zero vector's angle: farther than any other
    return distances
