"""Exact shortcuts: clusterers that are learned from weights instead of copies, for all numbers of clusters at once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans

from clustrep._engine import ReplicateFailure
from clustrep._kmeans import KMeansSample, Settings, Solution, Strategy, nearest_centre
from clustrep._learning import FEWER_CLUSTERS, Configuration, Sample
from clustrep._neighbours import SCIPY_METRICS, by_tree, nearest_of, nearest_point
from clustrep._paths import Path, PlainPath, Psi
from clustrep._points import PointSet
from clustrep._rotation import with_features
from clustrep._trees import LINKAGES, Tree, build_tree
from clustrep._types import IntArray, Labels
from clustrep._validation import is_whole
from clustrep.functions import Clusterer, ClusteringFunction

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

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Turn the points; measure their distances where a member will ask for them."""
        for points in map(self.space, places):
            points.by_feature  # noqa: B018
            if any(one.strategy(points) is Strategy.BY_DISTANCE for one in self._settings.values()):
                points.distances()

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        n, p = self.space(points).X.shape
        return float(sum(10.0 * one.n_init * n * min(one.n_clusters * p, n) for one in self._settings.values()))

    def share(self, sample: Sample) -> KMeansSample:
        """Prepare the drawn points."""
        return KMeansSample(self.space(sample.points), sample.draw.weights, sample.points.X.shape[1])

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
        fitted._n_threads, fitted._n_features_out = 1, len(centres)  # what `predict` and `transform` need
        return fitted


# ---------------------------------------------------------------------------------------------------------------------
# agglomerative clustering


class _Neighbours:
    """Which of some points is nearest to each point of a set: found once for all numbers of clusters."""

    def __init__(self, path: Path, nearest: Callable[[PointSet], IntArray]):
        self._path = path
        self._nearest = nearest
        self._known: WeakKeyDictionary[PointSet, IntArray] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Neighbours, (self._path, self._nearest)

    def of(self, points: PointSet) -> IntArray:
        if points not in self._known:
            self._known[points] = self._nearest(self._path.space(points))
        return self._known[points]


class _NearestDrawn:
    """Which of the drawn points is nearest to each point of a set: from kept distances, where there are any."""

    def __init__(self, points: PointSet, drawn: IntArray, metric: str):
        self._points: PointSet | None = points
        self._drawn = drawn
        self._metric = "sqeuclidean" if metric == "euclidean" else metric
        self._search = nearest_point(points.X[drawn], metric)
        self._by_tree = by_tree(metric, points.X.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_points": None}

    def __call__(self, others: PointSet) -> IntArray:
        if self._by_tree or self._points is None or not (self._points.keeps_others and others.keeps_others):
            return self._search(others.X)
        return nearest_of(self._points.distances_from(others, self._metric)[:, self._drawn])


@dataclass(frozen=True, eq=False)
class _NearestSubcluster:
    birch: Birch
    dtype: np.dtype[Any]

    def __call__(self, points: PointSet) -> IntArray:
        return np.asarray(self.birch.predict(np.asarray(points.X, dtype=self.dtype)))


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

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Measure the distances within studies, and between them where no tree finds the nearest points."""
        spaces = [self.space(points) for points in places]
        metric = "sqeuclidean" if self._metric == "euclidean" else self._metric
        for points in spaces:
            if points.shares_distances:
                points.distances(metric)
            if points.keeps_others and not by_tree(self._metric, points.X.shape[1]):
                for others in spaces:
                    points.distances_from(others, metric)

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
        return _Cuts(tree, _Neighbours(self, _NearestDrawn(points, np.flatnonzero(weights), self._metric)))

    def psi(self, shared: _Cuts, sample: Sample, configuration: Configuration) -> Psi:
        """Cut the tree."""
        return _cut(shared, configuration.clusterer.n_clusters)

    def fitted(self, psi: _CutPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Fit the drawn rows written out: the same clusters, here with our numbers."""
        fitted = _fit(self, sample, configuration)
        fitted.labels_ = psi.labels(sample.points)[sample.draw.order]
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
        return birch, _Cuts(tree, _Neighbours(self, _NearestSubcluster(birch, dtype)))

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
        return fitted if self.rotation is None else with_features(fitted, self.rotation, configuration.clusterer)


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

    def function(self, psi: Psi, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ with a clusterer that knows every drawn row."""
        return Path.function(self, psi, sample, configuration)

    def fitted(self, psi: Psi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Fit the drawn rows written out: the same clusters."""
        return _fit(self, sample, configuration)


def _fit(path: Path, sample: Sample, configuration: Configuration) -> Clusterer:
    """Fit the clusterer itself to the drawn rows."""
    fitted = clone(configuration.clusterer).fit(path.space(sample.points).X[sample.draw.order])
    return fitted if path.rotation is None else with_features(fitted, path.rotation, configuration.clusterer)


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
