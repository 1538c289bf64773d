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
        return {**parameters, "V": np.var(points, axis=0, ddof=1)}
    if metric == "mahalanobis" and "VI" not in parameters:
        return {**parameters, "VI": np.linalg.pinv(np.atleast_2d(np.cov(points, rowvar=False)))}
    return parameters
