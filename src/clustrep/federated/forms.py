"""Clustering functions without the rows that they were learned from: what files between sites store.

Every form gives a point the same label as the clusterer that it was taken from, bit for bit. Its numbers belong to
groups of samples (clusters, subclusters, leaves): `groups` says which, so that small ones can be withheld.
Samples can still follow from the numbers of several functions (docs/federated.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import pairwise_distances_argmin
from sklearn.mixture import GaussianMixture
from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky
from sklearn.utils.extmath import row_norms

from clustrep.accelerate.kmeans import nearest_centre
from clustrep.fitting.resample import PointSet
from clustrep.types import FloatArray, IntArray

Self = TypeVar("Self", bound="Form")
NO_CHILD = -1


class Form(ABC):
    """A clustering function; its fields are arrays, all that it needs."""

    described: ClassVar[str]  # for the person who approves a file
    of_group: ClassVar[str] = "cluster"  # what the numbers of a row belong to

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """How many labels it can give, numbered from 0."""

    @abstractmethod
    def labels(self, points: PointSet) -> IntArray:
        """Return the label of every point."""

    def groups(self, points: PointSet) -> IntArray:
        """Return the group of every point, of those that numbers were computed from."""
        return self.labels(points)

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.n_labels

    def centres(self, sizes: IntArray) -> FloatArray | None:
        """Return the centre of every cluster, given the groups' sizes; None where the form has none."""
        return None

    def fewest(self, least: int) -> int:
        """Return how many samples a group must have where `least` is the rule for means."""
        return least

    def merged(self, sizes: IntArray, least: int) -> Form | None:
        """Return a form in which groups below the rule are merged into others; None where that can't be done."""
        return None

    def check(self, n_features: int) -> bool:
        """Whether the arrays fit together: of a file from elsewhere they may be anything."""
        arrays = [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]
        return all(np.isfinite(array).all() for array in arrays) and self._fits(n_features)

    @abstractmethod
    def _fits(self, n_features: int) -> bool:
        """Whether the arrays' shapes and codes fit together."""


def _typed(points: PointSet, centres: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points as a copy, and centres in their precision, as the compiled code of scikit-learn needs both."""
    X = np.array(points.X)
    return X, np.ascontiguousarray(centres, dtype=X.dtype)


# ---------------------------------------------------------------------------------------------------------------------
# centres


@dataclass(frozen=True, eq=False)
class _Centres(Form):
    """Centres of clusters, each the mean of its samples."""

    centroids: FloatArray  # (k, p)

    @property
    def n_labels(self) -> int:
        return len(self.centroids)

    def centres(self, sizes: IntArray) -> FloatArray | None:
        """Return the centres."""
        return self.centroids

    def merged(self, sizes: IntArray, least: int) -> Form | None:
        """Merge the smallest cluster into the nearest, until none is small."""
        kept = merge_small(self.centroids, sizes, least)
        return None if kept is None else replace(self, centroids=kept[0])

    def _fits(self, n_features: int) -> bool:
        return self.centroids.ndim == 2 and self.centroids.shape[1] == n_features and len(self.centroids) > 0


@dataclass(frozen=True, eq=False)
class NearestCentres(_Centres):
    """k-means by our kernels."""

    described: ClassVar[str] = "the nearest of the cluster means"

    def labels(self, points: PointSet) -> IntArray:
        """Return the nearest centre of every point."""
        return nearest_centre(points, np.ascontiguousarray(self.centroids, dtype=float))


@dataclass(frozen=True, eq=False)
class PredictedCentres(_Centres):
    """k-means and mini-batch k-means by scikit-learn."""

    described: ClassVar[str] = "the nearest of the cluster means"

    def labels(self, points: PointSet) -> IntArray:
        """Return the nearest centre of every point."""
        return by_kmeans(points.X, self.centroids)


@dataclass(frozen=True, eq=False)
class Centroids(_Centres):
    """Any clusterer with `NearestCentroid`."""

    described: ClassVar[str] = "the nearest of the cluster means"

    def labels(self, points: PointSet) -> IntArray:
        """Return the nearest centre of every point."""
        X, centroids = np.array(points.X), np.ascontiguousarray(self.centroids, dtype=float)
        return np.asarray(pairwise_distances_argmin(X, centroids, metric="euclidean"))


def by_kmeans(X: FloatArray, centres: FloatArray) -> IntArray:
    """Predict as scikit-learn's `KMeans` with these centres does."""
    X = np.array(X)
    fitted = KMeans(len(centres))
    fitted.cluster_centers_ = np.ascontiguousarray(centres, dtype=X.dtype)
    fitted.n_features_in_, fitted._n_threads = X.shape[1], 1
    return np.asarray(fitted.predict(X))


def merge_small(
    centroids: FloatArray, sizes: IntArray, least: int
) -> tuple[FloatArray, list[int], list[list[int]]] | None:
    """Merge the smallest of some groups into the nearest, until all have at least this number of samples.

    Returns the new means, for each the row that it kept, and the rows that were merged; None where too few are left.
    """
    means, counts = [np.array(centre) for centre in centroids], [int(size) for size in sizes]
    rows = [[i] for i in range(len(means))]
    while min(counts) < least:
        if len(means) <= 2:
            return None
        i = int(np.argmin(counts))
        distances = [np.inf if j == i else float(np.sum((means[j] - means[i]) ** 2)) for j in range(len(means))]
        j = int(np.argmin(distances))
        total = counts[i] + counts[j]
        means[j] = (counts[i] * means[i] + counts[j] * means[j]) / max(total, 1)
        counts[j], rows[j] = total, [*rows[j], *rows[i]]
        del means[i], counts[i], rows[i]
    return np.array(means), [merged[0] for merged in rows], rows


@dataclass(frozen=True, eq=False)
class Subclusters(Form):
    """BIRCH: means of subclusters, and which cluster each belongs to."""

    described: ClassVar[str] = "the cluster of the nearest subcluster mean"
    of_group: ClassVar[str] = "subcluster"

    centroids: FloatArray  # (n_subclusters, p)
    clusters: IntArray  # (n_subclusters,)

    @property
    def n_labels(self) -> int:
        """One for every cluster."""
        return int(self.clusters.max()) + 1

    @property
    def n_groups(self) -> int:
        """One for every subcluster."""
        return len(self.centroids)

    def groups(self, points: PointSet) -> IntArray:
        """Return the nearest subcluster of every point."""
        X, centroids = _typed(points, self.centroids)
        kwargs = {"Y_norm_squared": row_norms(centroids, squared=True)}
        return np.asarray(pairwise_distances_argmin(X, centroids, metric_kwargs=kwargs))

    def labels(self, points: PointSet) -> IntArray:
        """Return the cluster of every point."""
        return np.asarray(self.clusters[self.groups(points)])

    def centres(self, sizes: IntArray) -> FloatArray | None:
        """Return the mean of every cluster's subclusters."""
        members = (self.clusters == np.arange(self.n_labels)[:, None]) * np.maximum(sizes, 1)
        return np.asarray((members @ self.centroids) / members.sum(axis=1, keepdims=True))

    def merged(self, sizes: IntArray, least: int) -> Form | None:
        """Merge the smallest subcluster into the nearest, whose cluster it joins, until none is small."""
        kept = merge_small(self.centroids, sizes, least)
        if kept is None:
            return None
        clusters = np.unique(self.clusters[kept[1]], return_inverse=True)[1]
        return Subclusters(kept[0], clusters) if clusters.max() else None

    def _fits(self, n_features: int) -> bool:
        return (
            self.centroids.ndim == 2
            and self.centroids.shape[1] == n_features
            and self.clusters.shape == (len(self.centroids),)
            and _are_codes(self.clusters)
        )


@dataclass(frozen=True, eq=False)
class Bisections(Form):
    """BisectingKMeans: a tree of means; at every branch a point goes to the nearer of two."""

    described: ClassVar[str] = "the nearer of two means, down a tree"

    nodes: FloatArray  # (n_nodes, p)
    children: IntArray  # (n_nodes, 2): −1 for a leaf; the root comes first, children after their parents
    leaf: IntArray  # (n_nodes,): the cluster of a leaf, −1 for a branch

    @property
    def n_labels(self) -> int:
        """One for every leaf."""
        return int(self.leaf.max()) + 1

    def labels(self, points: PointSet) -> IntArray:
        """Send every point down the tree."""
        place = np.zeros(len(points), dtype=np.int64)
        for node, pair in enumerate(self.children):
            here = np.flatnonzero(place == node)
            if pair[0] != NO_CHILD and len(here):
                place[here] = pair[by_kmeans(points.X[here], self.nodes[pair])]
        return np.asarray(self.leaf[place])

    def centres(self, sizes: IntArray) -> FloatArray | None:
        """Return the means of the leaves."""
        at = np.flatnonzero(self.leaf >= 0)
        return np.asarray(self.nodes[at[np.argsort(self.leaf[at])]])

    def _fits(self, n_features: int) -> bool:
        return (
            self.nodes.ndim == 2
            and self.nodes.shape[1] == n_features
            and _is_tree(self.children, len(self.nodes))
            and self.leaf.shape == (len(self.nodes),)
            and _leaves_fit(self.children, self.leaf)
        )


# ---------------------------------------------------------------------------------------------------------------------
# other functions


@dataclass(frozen=True, eq=False)
class Mixture(Form):
    """GaussianMixture: shares, means and covariances of its components."""

    described: ClassVar[str] = "the most probable component of a Gaussian mixture"

    weights: FloatArray  # (k,)
    means: FloatArray  # (k, p)
    covariances: FloatArray  # (k, p, p) full, (1, p, p) tied, (k, p) diag, (k,) spherical

    @property
    def n_labels(self) -> int:
        """One for every component."""
        return len(self.weights)

    @property
    def _kind(self) -> str:
        if self.covariances.ndim == 3:
            return "full" if len(self.covariances) == len(self.weights) else "tied"
        return "diag" if self.covariances.ndim == 2 else "spherical"

    def labels(self, points: PointSet) -> IntArray:
        """Return the most probable component of every point."""
        fitted = GaussianMixture(self.n_labels, covariance_type=self._kind)
        covariances = np.array(self.covariances[0] if self._kind == "tied" else self.covariances)
        fitted.weights_, fitted.means_, fitted.covariances_ = np.array(self.weights), np.array(self.means), covariances
        fitted.precisions_cholesky_ = self._precisions()
        fitted.n_features_in_ = self.means.shape[1]
        return np.asarray(fitted.predict(np.array(points.X)))

    def _precisions(self) -> FloatArray:
        """Return what scikit-learn predicts by; raises a ValueError where there are no covariances of this kind."""
        covariances = np.array(self.covariances[0] if self._kind == "tied" else self.covariances)
        return np.asarray(_compute_precision_cholesky(covariances, self._kind))

    def centres(self, sizes: IntArray) -> FloatArray | None:
        """Return the means."""
        return self.means

    def fewest(self, least: int) -> int:
        """Ask for more samples than features behind a full covariance: of fewer, it is the plane that they lie in."""
        return max(least, self.means.shape[1] + 1) if self._kind == "full" else least

    def _fits(self, n_features: int) -> bool:
        k = len(self.weights)
        shapes = [(k, n_features, n_features), (1, n_features, n_features), (k, n_features), (k,)]
        return (
            k > 0
            and self.weights.shape == (k,)
            and self.means.shape == (k, n_features)
            and self.covariances.shape in shapes
            and bool((self.weights > 0).all())
            and bool(np.isfinite(self._precisions()).all())
        )


@dataclass(frozen=True, eq=False)
class Discriminants(Form):
    """Any clusterer with linear discriminant analysis: one linear function for every cluster."""

    described: ClassVar[str] = "the largest linear discriminant"

    coefficients: FloatArray  # (k, p); of two clusters, (1, p)
    intercepts: FloatArray  # (k,), or (1,)

    @property
    def n_labels(self) -> int:
        """One for every cluster."""
        return max(2, len(self.intercepts))

    def labels(self, points: PointSet) -> IntArray:
        """Return the largest discriminant of every point."""
        fitted = LinearDiscriminantAnalysis()
        fitted.coef_, fitted.intercept_ = np.array(self.coefficients), np.array(self.intercepts)
        fitted.classes_, fitted.n_features_in_ = np.arange(self.n_labels), self.coefficients.shape[1]
        return np.asarray(fitted.predict(np.array(points.X)))

    def _fits(self, n_features: int) -> bool:
        return self.intercepts.ndim == 1 and self.coefficients.shape == (len(self.intercepts), n_features)


@dataclass(frozen=True, eq=False)
class LeafTree(Form):
    """Any clusterer with a decision tree: thresholds of single features, and the cluster of every leaf."""

    described: ClassVar[str] = "a decision tree"
    of_group: ClassVar[str] = "leaf"

    thresholds: FloatArray  # (n_nodes,)
    features: IntArray  # (n_nodes,)
    children: IntArray  # (n_nodes, 2): −1 for a leaf
    leaf: IntArray  # (n_nodes,): the cluster of a leaf, −1 for a branch

    @property
    def n_labels(self) -> int:
        """One for every cluster that a leaf has."""
        return int(self.leaf.max()) + 1

    @property
    def n_groups(self) -> int:
        """One for every leaf."""
        return int(np.count_nonzero(self.leaf >= 0))

    def _places(self, points: PointSet) -> IntArray:
        X = points.X.astype(np.float32)  # as scikit-learn's trees
        place = np.zeros(len(X), dtype=np.int64)
        for node, pair in enumerate(self.children):
            here = np.flatnonzero(place == node)
            if pair[0] != NO_CHILD and len(here):
                beyond = X[here, self.features[node]] > self.thresholds[node]
                place[here] = pair[beyond.astype(np.int64)]
        return place

    def groups(self, points: PointSet) -> IntArray:
        """Return the leaf of every point."""
        return np.asarray((np.cumsum(self.leaf >= 0) - 1)[self._places(points)])

    def labels(self, points: PointSet) -> IntArray:
        """Return the cluster of every point."""
        return np.asarray(self.leaf[self._places(points)])

    def _fits(self, n_features: int) -> bool:
        n = len(self.thresholds)
        branches = self.leaf < 0
        return (
            self.thresholds.shape == self.features.shape == self.leaf.shape == (n,)
            and _is_tree(self.children, n)
            and _leaves_fit(self.children, self.leaf)
            and bool(((self.features[branches] >= 0) & (self.features[branches] < n_features)).all())
        )


def _are_codes(codes: NDArray[Any]) -> bool:
    """Whether numbers are 0, 1, … without a gap."""
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or not len(codes):
        return False
    distinct = np.unique(codes)
    return np.array_equal(distinct, np.arange(len(distinct)))


def _is_tree(children: NDArray[Any], n_nodes: int) -> bool:
    """Whether every node but the first is the child of one that comes before it, so that no way down is endless."""
    if children.shape != (n_nodes, 2) or children.dtype.kind != "i" or n_nodes == 0:
        return False
    is_leaf = (children == NO_CHILD).all(axis=1)
    inner = children[~is_leaf]
    after = bool((inner > np.flatnonzero(~is_leaf)[:, None]).all())
    return after and sorted(inner.ravel().tolist()) == list(range(1, n_nodes))


def _leaves_fit(children: IntArray, leaf: IntArray) -> bool:
    """Whether leaves, and they alone, have clusters."""
    at_leaves = leaf[children[:, 0] == NO_CHILD]
    return bool((leaf[children[:, 0] != NO_CHILD] == NO_CHILD).all()) and _are_codes(at_leaves)


FORMS: dict[str, type[Form]] = {
    form.__name__: form
    for form in (
        NearestCentres,
        PredictedCentres,
        Centroids,
        Subclusters,
        Bisections,
        Mixture,
        Discriminants,
        LeafTree,
    )
}
INTEGERS = ("clusters", "children", "leaf", "features")  # fields that hold no measurements
