"""The nearest of some points: exact, by a KD-tree for few features, else by all distances in blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from clustrep.engine.replicates import ReplicateFailure
from clustrep.label_checks import check_labels
from clustrep.types import FloatArray, IntArray, Labels

Metric: TypeAlias = str | Callable[[FloatArray, FloatArray], float]

# Beyond this many features a KD-tree visits nearly every leaf, and plain distances are faster.
KD_TREE_FEATURES = 15

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
# Distances are equal up to this share of them: rounding, which differs from one way of computing to the next.
ROUNDING = 1e-12


def nearest_label(
    points: FloatArray, labels: ArrayLike, metric: Metric, parameters: Mapping[str, Any] = MappingProxyType({})
) -> Callable[[FloatArray], Labels]:
    """Return the function that gives a point the label of the nearest training point; of equal ones the first."""
    z = check_labels(labels, "the clusterer's labels", length=len(points), same_as="its input")
    _, first = np.unique(points, axis=0, return_index=True)
    first.sort()
    return NearestLabel(nearest_point(points[first], metric, parameters), z[first])


def nearest_point(
    points: FloatArray, metric: Metric, parameters: Mapping[str, Any] = MappingProxyType({})
) -> Callable[[FloatArray], IntArray]:
    """Return the function that finds the nearest of some points: which row it is."""
    points = np.ascontiguousarray(points)
    if by_tree(metric, points.shape[1]):
        return NearestByTree(cKDTree(points))
    return NearestInBlocks(points, metric, dict(_fixed_by(points, metric, parameters)))


def by_tree(metric: Metric, n_features: int) -> bool:
    """Whether a KD-tree finds nearest points faster than all distances."""
    return metric == "euclidean" and n_features <= KD_TREE_FEATURES


@dataclass(frozen=True, eq=False)
class NearestLabel:
    """The label of the nearest training point."""

    nearest: Callable[[FloatArray], IntArray]
    labels: Labels

    def __call__(self, X: FloatArray) -> Labels:
        """Return one for every row of X."""
        return np.asarray(self.labels[self.nearest(X)])


@dataclass(frozen=True, eq=False)
class NearestByTree:
    """The nearest of some points, by a KD-tree."""

    tree: cKDTree

    def __call__(self, X: FloatArray) -> IntArray:
        """Return its row for every row of X."""
        return np.asarray(self.tree.query(X)[1])


@dataclass(frozen=True, eq=False)
class NearestInBlocks:
    """The nearest of some points, by all distances."""

    points: FloatArray
    metric: Metric
    parameters: Mapping[str, Any]

    def __call__(self, X: FloatArray) -> IntArray:
        """Return its row for every row of X."""
        blocks = (X[i : i + BLOCK] for i in range(0, len(X), BLOCK))
        return np.concatenate([nearest_of(cdist(x, self.points, self.metric, **self.parameters)) for x in blocks])


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


def neighbours(X: FloatArray, n_neighbours: int, metric: Metric = "euclidean") -> IntArray:
    """Return the nearest other points of every point, (n_points, n_neighbours): itself never, of equal ones the first.

    A point is identified by its row, so a copy of it is a neighbour like any other. Distances that differ by
    rounding alone are equal.
    """
    metric = SCIPY_METRICS.get(metric, metric) if isinstance(metric, str) else metric
    if by_tree(metric, X.shape[1]) and n_neighbours + 2 <= len(X):
        return _neighbours_by_tree(X, n_neighbours)
    return _neighbours_of(np.arange(len(X)), X, n_neighbours, metric)


def nearest_distances(X: FloatArray) -> FloatArray:
    """Return the Euclidean distance of every point to the nearest other, (n_points,)."""
    if by_tree("euclidean", X.shape[1]):
        return np.asarray(cKDTree(X).query(X, k=2)[0][:, 1])
    nearest = neighbours(X, 1)[:, 0]
    return np.asarray(np.linalg.norm(X - X[nearest], axis=1))


def assigned(X: FloatArray, centres: FloatArray, metric: Metric) -> IntArray:
    """Return the nearest centre of every point, (n_points,), by a metric that is fixed by the points."""
    metric = SCIPY_METRICS.get(metric, metric) if isinstance(metric, str) else metric
    parameters = _fixed_by(X, metric, {})
    blocks = (X[i : i + BLOCK] for i in range(0, len(X), BLOCK))
    return np.concatenate([_distances(x, centres, metric, parameters).argmin(axis=1) for x in blocks])


def _neighbours_by_tree(X: FloatArray, n_neighbours: int) -> IntArray:
    """Query a KD-tree, and compute all distances where two are equal: the tree does not return the first of them."""
    distances, nearest = cKDTree(X).query(X, k=n_neighbours + 2)
    is_self = nearest == np.arange(len(X))[:, None]
    # Nearer copies may have pushed the point itself out of the list; then there are ties, too.
    tied = (distances[:, 1:] <= distances[:, :-1] * (1 + ROUNDING)).any(axis=1) | ~is_self.any(axis=1)
    result = np.empty((len(X), n_neighbours), dtype=np.int64)
    clear = np.flatnonzero(~tied)
    result[clear] = nearest[clear][~is_self[clear]].reshape(len(clear), n_neighbours + 1)[:, :n_neighbours]
    result[tied] = _neighbours_of(np.flatnonzero(tied), X, n_neighbours, "euclidean")
    return result


def _neighbours_of(rows: IntArray, X: FloatArray, n_neighbours: int, metric: Metric) -> IntArray:
    """Find the neighbours of some points by all distances, so many rows at once that memory stays small."""
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
