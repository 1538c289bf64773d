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

from clustrep._engine import ReplicateFailure
from clustrep._types import FloatArray, IntArray, Labels
from clustrep._validation import check_labels

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
    """Return the column of the smallest distance in every row; one that is no number, such as an angle, is left out."""
    unknown = np.isnan(distances)
    if unknown.all(axis=1).any():
        raise ReplicateFailure("the metric gives a point no distance to any training point")
    return np.asarray(np.where(unknown, np.inf, distances).argmin(axis=1))


def _fixed_by(points: FloatArray, metric: Metric, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fix by the training points what SciPy would estimate anew from whatever it compares."""
    if metric == "seuclidean" and "V" not in parameters:
        variances = np.var(points, axis=0, ddof=1)
        return {**parameters, "V": np.where(variances > 0, variances, 1.0)}  # a constant feature tells nothing apart
    if metric == "mahalanobis" and "VI" not in parameters:
        return {**parameters, "VI": np.linalg.pinv(np.atleast_2d(np.cov(points, rowvar=False)))}
    return parameters


def neighbours(X: FloatArray, n_neighbours: int, metric: Metric = "euclidean") -> IntArray:
    """Return the nearest other points of every point, (n_points, n_neighbours): itself never, of equal ones the first.

    A point is told from itself by its row, so a copy of it is a neighbour like any other.
    """
    metric = SCIPY_METRICS.get(metric, metric) if isinstance(metric, str) else metric
    if by_tree(metric, X.shape[1]) and n_neighbours + 2 <= len(X):
        return _neighbours_by_tree(X, n_neighbours)
    rows = (np.arange(i, min(i + BLOCK, len(X))) for i in range(0, len(X), BLOCK))
    return np.concatenate([_neighbours_of(rows_, X, n_neighbours, metric) for rows_ in rows])


def assigned(X: FloatArray, centres: FloatArray, metric: Metric) -> IntArray:
    """Return the nearest centre of every point, (n_points,), by a metric that is fixed by the points."""
    blocks = (X[i : i + BLOCK] for i in range(0, len(X), BLOCK))
    return np.concatenate([_distances(x, centres, metric, X).argmin(axis=1) for x in blocks])


def _distances(points: FloatArray, others: FloatArray, metric: Metric, fixing: FloatArray) -> FloatArray:
    metric = SCIPY_METRICS.get(metric, metric) if isinstance(metric, str) else metric
    distances = np.asarray(cdist(points, others, metric, **_fixed_by(fixing, metric, {})))
    distances[np.isnan(distances)] = np.finfo(float).max  # no number, such as an angle: farther than any other
    return distances


def nearest_distances(X: FloatArray) -> FloatArray:
    """Return the Euclidean distance of every point to the nearest other, (n_points,)."""
    if by_tree("euclidean", X.shape[1]):
        return np.asarray(cKDTree(X).query(X, k=2)[0][:, 1])
    nearest = neighbours(X, 1)[:, 0]
    return np.asarray(np.linalg.norm(X - X[nearest], axis=1))


def _neighbours_by_tree(X: FloatArray, n_neighbours: int) -> IntArray:
    """Ask a KD-tree, and look at all distances where two are equal: the tree does not say which comes first."""
    distances, found = cKDTree(X).query(X, k=n_neighbours + 2)
    is_self = found == np.arange(len(X))[:, None]
    # Nearer copies may have pushed the point itself out of the list; then there are ties, too.
    # Distances that differ by rounding alone are equal, whichever way they were computed.
    tied = (np.diff(distances, axis=1) <= 1e-12 * distances[:, 1:]).any(axis=1) | ~is_self.any(axis=1)
    result = np.empty((len(X), n_neighbours), dtype=np.int64)
    clear = np.flatnonzero(~tied)
    result[clear] = found[clear][~is_self[clear]].reshape(len(clear), n_neighbours + 1)[:, :n_neighbours]
    tied_rows = np.flatnonzero(tied)
    for i in range(0, len(tied_rows), BLOCK):
        rows = tied_rows[i : i + BLOCK]
        result[rows] = _neighbours_of(rows, X, n_neighbours, "euclidean")
    return result


def _neighbours_of(rows: IntArray, X: FloatArray, n_neighbours: int, metric: Metric) -> IntArray:
    distances = _distances(X[rows], X, metric, X)
    distances[np.arange(len(rows)), rows] = np.inf
    if n_neighbours == 1:
        return np.asarray(distances.argmin(axis=1))[:, None]
    return np.asarray(np.argsort(distances, axis=1, kind="stable")[:, :n_neighbours])
