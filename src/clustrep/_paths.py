"""Whole k-paths at once: what can be shared between numbers of clusters is learned once from each sample.

`accelerate=False` makes every path a plain one: the clusterer itself, fitted to the rows written out.
"""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, Birch, KMeans

from clustrep._engine import Failed, ReplicateFailure, attempt, one_thread
from clustrep._kmeans import KMeansSample, Settings, Solution, Strategy, nearest_centre, strategy_for
from clustrep._learning import (
    FEW_DISTINCT_POINTS,
    FEWER_CLUSTERS,
    Configuration,
    Labelled,
    Sample,
    Source,
)
from clustrep._points import PointSet
from clustrep._rotation import Rotation, can_rotate, in_coordinates, needs_basis, with_features
from clustrep._trees import LINKAGES, Tree, build_tree
from clustrep._types import FloatArray, IntArray, Labels
from clustrep._validation import is_whole
from clustrep.contingency import Partition, encode
from clustrep.functions import (
    SCIPY_METRICS,
    Clusterer,
    ClusteringFunction,
    KnownLabels,
    count_clusters,
    learn,
    learn_known,
    nearest_point,
)
from clustrep.resampling import Bootstrap, Subsample
from clustrep.study import Study

# Numbers that the kernels must compare in a resample for threads to be worth more than processes: a few milliseconds.
LEAST_THREAD_WORK = 20_000_000
TREE_METRICS = ("euclidean", "cityblock", "cosine")


class Psi(ABC):
    """A clustering function inside a run: it is asked about sets of points that many others are asked about, too."""

    classes: Labels | None = None  # all labels that it can give, where they are 0, 1, …

    @abstractmethod
    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""


class Path(ABC):
    """Configurations that differ in the number of clusters alone, or a single one."""

    in_threads: ClassVar[bool] = True  # whether its time is spent in kernels, which let other threads run

    def __init__(self, members: Sequence[Configuration], rotation: Rotation | None):
        self.members = tuple(members)
        self.rotation = rotation

    def space(self, points: PointSet) -> PointSet:
        """Return the points in the coordinates in which this path works."""
        if self.rotation is None:
            return points
        assert points.rotated is not None
        return points.rotated

    def prepare(self, points: PointSet) -> None:  # noqa: B027 - most have nothing to make
        """Make what all resamples of a study share."""

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        return 0.0

    @abstractmethod
    def share(self, sample: Sample) -> Any:
        """Learn what all members have in common."""

    @abstractmethod
    def psi(self, shared: Any, sample: Sample, configuration: Configuration) -> Psi:
        """Learn ψ(· ; A, X⁽ᵇ⁾) for one member."""

    @abstractmethod
    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the member as it would be after fitting, for the user to look into."""

    def learn(self, sample: Sample) -> Learned:
        """Learn from a sample, all members or as many as are asked for."""
        return Learned(self, sample)


@dataclass(frozen=True, eq=False)
class Learned:
    """What a path learned from one sample."""

    path: Path
    sample: Sample

    @cached_property
    def _shared(self) -> Any:
        return attempt(self.path.share, self.sample)

    def _psi(self, configuration: Configuration) -> Psi:
        if isinstance(self._shared, Failed):
            raise ReplicateFailure(self._shared.cause)
        return self.path.psi(self._shared, self.sample, configuration)

    def labels(self, member: int, at: Sequence[PointSet]) -> Labelled | Failed:
        """Apply the clustering function of one member to every set of points in `at`."""
        configuration = self.path.members[member]
        outcome = attempt(self._labels, configuration, at)
        # Clusterers say this in many ways, or crash on it.
        if isinstance(outcome, Failed) and configuration.fewest_clusters > self.sample.draw.n_distinct():
            return Failed(FEW_DISTINCT_POINTS)
        return outcome

    def _labels(self, configuration: Configuration, at: Sequence[PointSet]) -> Labelled:
        psi = self._psi(configuration)
        known = {points: psi.labels(points) for points in {self.sample.points: None, **dict.fromkeys(at)}}
        own = known[self.sample.points]
        drawn = own[self.sample.draw.weights > 0]
        n_clusters = count_clusters(drawn) if psi.classes is None else int(np.count_nonzero(np.bincount(drawn)))
        if n_clusters < configuration.fewest_clusters:
            raise ReplicateFailure(FEWER_CLUSTERS)
        labels = [known[points] for points in at]
        if psi.classes is not None:
            return Labelled([Partition(codes, psi.classes) for codes in labels], n_clusters)
        return Labelled(encode([own, *labels])[1:], n_clusters)

    def function(self, member: int) -> ClusteringFunction:
        """Return the clustering function of one member, as users have it: of points with all features."""
        configuration = self.path.members[member]
        psi = self._psi(configuration)
        if isinstance(psi, _PlainPsi) and self.path.rotation is None:
            return psi.function
        rotation = self.path.rotation

        def predict(X: FloatArray) -> Labels:
            return psi.labels(PointSet(X, None if rotation is None else PointSet(rotation.project(X))))

        fitted = self.path.fitted(psi, self.sample, configuration)
        return ClusteringFunction(predict, self.sample.study.X, fitted)


# ---------------------------------------------------------------------------------------------------------------------
# any clusterer


@dataclass(frozen=True, eq=False)
class _PlainPsi(Psi):
    path: Path
    function: ClusteringFunction

    def labels(self, points: PointSet) -> Labels:
        return self.function.labels(self.path.space(points).X)


class PlainPath(Path):
    """One clusterer, fitted to the drawn rows."""

    in_threads = False

    def share(self, sample: Sample) -> None:
        """Nothing is shared."""

    def psi(self, shared: None, sample: Sample, configuration: Configuration) -> Psi:
        """Fit the clusterer."""
        clusterer, order = configuration.clusterer, sample.draw.order
        rows = self.space(sample.points).X[order]
        if isinstance(clusterer, KnownLabels):
            return _PlainPsi(self, learn_known(rows, clusterer.labels[sample.study.name][order]))
        if self.rotation is not None:
            clusterer = in_coordinates(clusterer, self.rotation)
        return _PlainPsi(self, learn(clusterer, rows, sample.seed(configuration.n_clusters)))

    def fitted(self, psi: _PlainPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Give the centres of a clusterer that was fitted to coordinates their features back."""
        assert self.rotation is not None
        return with_features(psi.function.clusterer, self.rotation)


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
# which path a clusterer takes


def path_class(clusterer: Any) -> type[Path]:
    """Return the path that stands in for a clusterer exactly: its own class, with parameters that we can honour."""
    if type(clusterer) is KMeans and Settings.of(clusterer) is not None:
        return KMeansPath
    if type(clusterer) is AgglomerativeClustering and _is_plain_tree(clusterer):
        return TreePath
    if type(clusterer) is Birch and is_whole(clusterer.n_clusters, at_least=1):
        return BirchPath
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


@dataclass(frozen=True, eq=False)
class Setting:
    """What is prepared once, before the first replicate."""

    source: Source
    studies: tuple[Study, ...]
    places: tuple[PointSet, ...]  # the studies' points
    at: PointSet | None  # further points that are asked about
    paths: tuple[Path, ...]  # their members, one after the other, are the configurations

    @classmethod
    def prepare(
        cls,
        source: Source,
        studies: Sequence[Study],
        configurations: Sequence[Configuration],
        *,
        at: FloatArray | None = None,
        with_basis: bool = False,
    ) -> Setting:
        """Choose a path for every configuration, rotate what can be rotated, and make what resamples share."""
        rotates = [_rotates(source, studies, configuration) for configuration in configurations]
        own = {id(study.X): s for s, study in enumerate(studies)}  # `at` may be one of the studies
        outside = at is not None and id(at) not in own
        with one_thread():
            rotation = None
            if any(rotates):
                basis = with_basis or outside or any(needs_basis(c.clusterer) for c in configurations)
                rotation = Rotation.of([study.X for study in studies], with_basis=basis)
            places = tuple(
                PointSet(study.X, None if rotation is None else PointSet(rotation.coordinates[s]))
                for s, study in enumerate(studies)
            )
            place = None
            if at is not None:
                projected = PointSet(rotation.project(at)) if rotation is not None and outside else None
                place = PointSet(at, projected) if outside else places[own[id(at)]]
            paths = _paths(source, configurations, rotates, rotation)
            for path, points in itertools.product(paths, places):
                path.prepare(points)
        return cls(source, tuple(studies), places, place, paths)

    @property
    def in_threads(self) -> bool:
        """Whether threads can share the work: kernels alone, and long enough for Python to get out of the way."""
        if not all(path.in_threads for path in self.paths):
            return False
        return sum(path.work(points) for path in self.paths for points in self.places) > LEAST_THREAD_WORK

    def sample(self, s: int, replicate: int, *, second: bool = False) -> Sample:
        """Draw one of the studies."""
        return self.source.sample(self.studies[s], self.places[s], replicate, second=second)


def _rotates(source: Source, studies: Sequence[Study], configuration: Configuration) -> bool:
    """Whether a configuration is worked out in coordinates: more features than samples, and none the wiser for it."""
    return (
        source.accelerate
        and type(source.resampling) in (Bootstrap, Subsample)  # draws consist of the studies' own points
        and sum(len(study) for study in studies) < studies[0].X.shape[1]
        and can_rotate(configuration.clusterer)
    )


def _paths(
    source: Source, configurations: Sequence[Configuration], rotates: Sequence[bool], rotation: Rotation | None
) -> tuple[Path, ...]:
    paths: list[Path] = []
    for configuration, rotated in zip(configurations, rotates, strict=True):
        make = path_class(configuration.clusterer) if source.accelerate else PlainPath
        last = paths[-1] if paths else None
        if make is not PlainPath and type(last) is make and last.members[0].name == configuration.name:
            paths[-1] = make([*last.members, configuration], last.rotation)
        else:
            paths.append(make([configuration], rotation if rotated else None))
    return tuple(paths)
