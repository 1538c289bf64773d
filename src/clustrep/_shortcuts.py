"""Exact shortcuts: clusterers that are learned from weights instead of copies, for all numbers of clusters at once."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans

from clustrep._engine import ReplicateFailure
from clustrep._kmeans import KMeansSample, Settings, Solution, Strategy, nearest_centre, strategy_for
from clustrep._learning import FEWER_CLUSTERS, Configuration, Sample
from clustrep._paths import Path, PlainPath, Psi
from clustrep._points import PointSet
from clustrep._rotation import with_features
from clustrep._trees import LINKAGES, Tree, build_tree
from clustrep._types import IntArray, Labels
from clustrep._validation import is_whole
from clustrep.functions import SCIPY_METRICS, Clusterer, nearest_point

TREE_METRICS = ("euclidean", "cityblock", "cosine")


# ---------------------------------------------------------------------------------------------------------------------
# k-means


@dataclass(frozen=True, eq=False)
class _CentresPsi(Psi):
    path: Path
    solution: Solution

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        return np.arange(len(self.solution.centres))

    def labels(self, points: PointSet) -> Labels:
        return nearest_centre(self.path.space(points), self.solution.centres)


class KMeansPath(Path):
    """k-means by our own kernels; every number of clusters has its own starts."""

    @cached_property
    def _settings(self) -> dict[Configuration, Settings]:
        settings = {member: Settings.of(member.clusterer, self.rotation) for member in self.members}
        return {member: known for member, known in settings.items() if known is not None}

    def prepare(self, points: PointSet) -> None:
        """Turn the points; measure their distances where a member will ask for them."""
        points = self.space(points)
        points.by_feature  # noqa: B018
        n, p = points.X.shape
        if any(strategy_for(n, p, one.n_clusters) is Strategy.BY_DISTANCE for one in self._settings.values()):
            points.distances()

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        n, p = self.space(points).X.shape
        return float(sum(10.0 * one.n_init * n * min(one.n_clusters * p, n) for one in self._settings.values()))

    def share(self, sample: Sample) -> KMeansSample:
        """Prepare the drawn points."""
        return KMeansSample(self.space(sample.points), sample.draw.weights, sample.study.X.shape[1])

    def psi(self, shared: KMeansSample, sample: Sample, configuration: Configuration) -> Psi:
        """Find the centres."""
        settings = self._settings[configuration]
        if settings.n_clusters > len(shared.drawn):
            raise ReplicateFailure(FEWER_CLUSTERS)
        return _CentresPsi(self, shared.fit(settings, sample.seed(configuration.n_clusters)))

    def fitted(self, psi: _CentresPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the `KMeans` with these centres."""
        solution, X = psi.solution, sample.study.X
        centres = solution.centres if self.rotation is None else self.rotation.restore(solution.centres)
        fitted = clone(configuration.clusterer)
        fitted.cluster_centers_ = centres.astype(X.dtype)
        fitted.labels_ = psi.labels(sample.points)[sample.draw.order]
        fitted.inertia_, fitted.n_iter_ = solution.inertia, solution.n_iter
        fitted.n_features_in_ = X.shape[1]
        fitted._n_threads = 1  # what its `predict` needs
        return fitted


# ---------------------------------------------------------------------------------------------------------------------
# agglomerative clustering


class _Neighbours:
    """Which of some points is nearest to each point of a set: found once for all numbers of clusters."""

    def __init__(self, path: Path, nearest: Any):
        self._path = path
        self._nearest = nearest
        self._known: dict[PointSet, IntArray] = {}

    def of(self, points: PointSet) -> IntArray:
        if points not in self._known:
            self._known[points] = self._nearest(self._path.space(points).X)
        return self._known[points]


@dataclass(frozen=True, eq=False)
class _Cuts:
    tree: Tree
    neighbours: _Neighbours


@dataclass(frozen=True, eq=False)
class _CutPsi(Psi):
    cut: IntArray  # the label of every leaf
    neighbours: _Neighbours
    n_clusters: int

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        return np.arange(self.n_clusters)

    def labels(self, points: PointSet) -> Labels:
        return np.asarray(self.cut[self.neighbours.of(points)])


class TreePath(Path):
    """Agglomerative clustering: one tree, cut for every number of clusters."""

    def prepare(self, points: PointSet) -> None:
        """Measure the distances between all points."""
        if self.space(points).shares_distances:
            self.space(points).distances("sqeuclidean" if self._metric == "euclidean" else self._metric)

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        return 10.0 * len(points) ** 2

    @property
    def _metric(self) -> str:
        return _tree_metric(self.members[0].clusterer)

    def share(self, sample: Sample) -> _Cuts:
        """Build the tree of the drawn points."""
        points, weights = self.space(sample.points), sample.draw.weights
        tree = build_tree(points, weights, self.members[0].clusterer.linkage, self._metric)
        return _Cuts(tree, _Neighbours(self, nearest_point(points.X[weights > 0], self._metric)))

    def psi(self, shared: _Cuts, sample: Sample, configuration: Configuration) -> Psi:
        """Cut the tree."""
        return _cut(shared, configuration.clusterer.n_clusters)

    def fitted(self, psi: _CutPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the clusterer with the labels of its sample."""
        fitted = clone(configuration.clusterer)
        fitted.labels_ = psi.labels(sample.points)[sample.draw.order]
        fitted.n_clusters_, fitted.n_features_in_ = psi.n_clusters, sample.study.X.shape[1]
        return fitted


def _cut(shared: _Cuts, n_clusters: int) -> _CutPsi:
    if n_clusters > len(shared.tree.merges) + 1:
        raise ReplicateFailure(FEWER_CLUSTERS)
    return _CutPsi(shared.tree.cut(n_clusters), shared.neighbours, int(n_clusters))


def _tree_metric(clusterer: Clusterer) -> str:
    metric = clusterer.metric or "euclidean"
    return str(SCIPY_METRICS.get(metric, metric)) if isinstance(metric, str) else ""


class BirchPath(Path):
    """BIRCH: one tree of features, whose subclusters are joined for every number of clusters."""

    in_threads = False

    def share(self, sample: Sample) -> tuple[Birch, _Cuts]:
        """Fit without joining subclusters, then build Ward's tree of them, as scikit-learn does for each number."""
        birch = clone(self.members[0].clusterer).set_params(n_clusters=None, compute_labels=False)
        birch.fit(self.space(sample.points).X[sample.draw.order])
        subclusters = PointSet(birch.subcluster_centers_)
        tree = build_tree(subclusters, np.ones(len(subclusters), dtype=np.int64), "ward")
        dtype = sample.study.X.dtype if self.rotation is None else np.dtype(float)
        return birch, _Cuts(tree, _Neighbours(self, lambda X: birch.predict(np.asarray(X, dtype=dtype))))

    def psi(self, shared: tuple[Birch, _Cuts], sample: Sample, configuration: Configuration) -> Psi:
        """Cut the tree of subclusters."""
        birch, cuts = shared
        cut = _cut(cuts, configuration.clusterer.n_clusters)
        return _BirchPsi(cut.cut, cut.neighbours, cut.n_clusters, birch)

    def fitted(self, psi: _BirchPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the `Birch` with its subclusters joined."""
        fitted = copy.deepcopy(psi.birch).set_params(**configuration.clusterer.get_params(deep=False))
        fitted.subcluster_labels_ = psi.cut
        fitted.labels_ = psi.labels(sample.points)[sample.draw.order]
        return fitted if self.rotation is None else with_features(fitted, self.rotation)


@dataclass(frozen=True, eq=False)
class _BirchPsi(_CutPsi):
    birch: Birch


# ---------------------------------------------------------------------------------------------------------------------
# DBSCAN


class DensityPath(PlainPath):
    """DBSCAN by weights: rows in the order of their first drawing, so that clusters meet as they do among copies."""

    def rows(self, sample: Sample) -> tuple[IntArray, IntArray | None]:
        """Return each drawn row once, and how often it was drawn."""
        rows, first = np.unique(sample.draw.order, return_index=True)
        rows = rows[np.argsort(first)]
        return rows, sample.draw.weights[rows]

    def fitted(self, psi: Psi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Fit the drawn rows written out: the same clusters, and a label for every one of them."""
        fitted = clone(configuration.clusterer).fit(self.space(sample.points).X[sample.draw.order])
        return fitted if self.rotation is None else with_features(fitted, self.rotation)


# ---------------------------------------------------------------------------------------------------------------------
# which path a clusterer takes


def path_class(clusterer: Any) -> type[Path]:
    """Return the path that stands in for a clusterer exactly: its own class, with parameters that we can honour."""
    if type(clusterer) is KMeans and Settings.of(clusterer) is not None:
        return KMeansPath
    if type(clusterer) is AgglomerativeClustering and _is_plain_tree(clusterer):
        return TreePath
    if type(clusterer) is Birch and is_whole(clusterer.n_clusters, at_least=1):
        return BirchPath
    if type(clusterer) is DBSCAN:
        return DensityPath
    return PlainPath


def _is_plain_tree(clusterer: AgglomerativeClustering) -> bool:
    metrics = ("euclidean",) if clusterer.linkage == "ward" else TREE_METRICS
    return (
        clusterer.connectivity is None
        and clusterer.distance_threshold is None
        and clusterer.linkage in LINKAGES
        and _tree_metric(clusterer) in metrics
        and is_whole(clusterer.n_clusters, at_least=1)
    )
