"""Clustering functions without the rows that they were learned from: the means of clusters.

A function gives a point the same label as the clusterer that it was taken from, bit for bit, where its means are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from clustrep.accelerate.kmeans import CentresFunction, nearest_centre
from clustrep.fitting.learners import FittedFunction, PlainFunction
from clustrep.fitting.resample import PointSet
from clustrep.types import FloatArray, IntArray


def by_kmeans(points: PointSet, centres: FloatArray) -> IntArray:
    """Predict as scikit-learn's `KMeans` with these centres does."""
    X = np.array(points.X)
    fitted = KMeans(len(centres))
    fitted.cluster_centers_ = np.ascontiguousarray(centres, dtype=X.dtype)
    fitted.n_features_in_, fitted._n_threads = X.shape[1], 1
    return np.asarray(fitted.predict(X))


def by_centroid(points: PointSet, centres: FloatArray) -> IntArray:
    """Predict as `NearestCentroid` with these centres does."""
    return np.asarray(pairwise_distances_argmin(np.array(points.X), centres, metric="euclidean"))


# k-means by our kernels, by scikit-learn, and any clusterer with `NearestCentroid`: they differ in ties alone.
NEAREST: dict[str, Callable[[PointSet, FloatArray], IntArray]] = {
    "kernel": nearest_centre,
    "kmeans": by_kmeans,
    "centroid": by_centroid,
}


@dataclass(frozen=True, eq=False)
class Centres:
    """A clustering function: the nearest of the means of clusters.

    kind : key of `NEAREST`
    centroids : (k, n_features)
    """

    kind: str
    centroids: FloatArray

    def labels(self, points: PointSet) -> IntArray:
        """Return the nearest mean of every point."""
        return NEAREST[self.kind](points, np.ascontiguousarray(self.centroids, dtype=float))


def centres_of(psi: FittedFunction) -> Centres:
    """Take the means of a clustering function, without the samples that it was learned from."""
    if isinstance(psi, CentresFunction):
        return Centres("kernel", psi.solution.centres)
    assert isinstance(psi, PlainFunction)
    classifier = psi.function.classifier
    if classifier is None:
        return Centres("kmeans", psi.function.clusterer.cluster_centers_)
    return Centres("centroid", classifier.centroids_)
