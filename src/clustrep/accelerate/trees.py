"""Agglomerative clustering: one tree per resample serves every number of clusters."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, Birch

from clustrep.agreement.batches import LabelBatch
from clustrep.agreement.contingency import Partition
from clustrep.cached import cached_property
from clustrep.checks import is_whole
from clustrep.errors import DataError
from clustrep.execution.seeds import Failed, ReplicateFailure, attempt, run_in_pieces
from clustrep.fitting.learners import Fit, FittedFunction, Learner, fit_rows
from clustrep.fitting.neighbour_lists import NearestDrawn, Neighbours
from clustrep.fitting.neighbours import SCIPY_METRICS, by_tree, searches_on
from clustrep.fitting.parameters import Clusterer, Configuration
from clustrep.fitting.resample import FEWER_CLUSTERS, TOO_LARGE, Labelled, PointSet, Resample, pairwise_distances
from clustrep.fitting.rotation import with_features
from clustrep.kernels import agglomeration
from clustrep.types import FloatArray, IntArray, Labels

LINKAGES = {
    "ward": agglomeration.WARD,
    "complete": agglomeration.COMPLETE,
    "average": agglomeration.AVERAGE,
    "single": agglomeration.SINGLE,
}
# Numbers that a kernel compares before it lets an interrupt be heard: well below half a second.
BUDGET = 50_000_000
# A matrix of distances larger than this, in bytes, is not made.
LARGEST_MATRIX = 4 * 10**9


@dataclass(frozen=True, eq=False)
class Tree:
    """Merges in order of height, (n − 1, 2): each names one point of either cluster."""

    merges: IntArray
    heights: FloatArray  # (n − 1,)

    def cut(self, n_clusters: int) -> IntArray:
        """Undo the last merges, as many as it takes: labels in the order of the clusters' first points, (n,)."""
        return np.asarray(agglomeration.cut_tree(self.merges, n_clusters))


def build_tree(points: PointSet, weights: IntArray, linkage: str, metric: str = "euclidean") -> Tree:
    """Build the tree of the points that have a weight; its points are these, in their order.

    Parameters
    ----------
    points : PointSet
    weights : ndarray of shape (n_points,)
        A point with weight w counts like w copies of it.
    linkage : {"ward", "complete", "average", "single"}
    metric : str, default="euclidean"

    Raises
    ------
    DataError
        If a linkage other than Ward's needs a matrix of distances that is too large.
    """
    drawn = np.flatnonzero(weights)
    n = len(drawn)
    sizes, gone = weights[drawn].astype(float), np.zeros(n)
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    place = (sizes, gone, merges, heights, np.zeros(n, np.int64), np.zeros(2, np.int64))
    number = LINKAGES[linkage]
    if 8 * n**2 <= LARGEST_MATRIX:
        work = _start(points, drawn, sizes, number, metric)
        run_in_pieces(agglomeration.merge_points, work, None, number, *place, BUDGET)
    elif linkage == "ward":
        centres = points.X[drawn].T.astype(float, order="C")
        if not np.isfinite(n * np.square(np.ptp(centres, axis=1)).sum()):
            raise ReplicateFailure(TOO_LARGE)
        run_in_pieces(agglomeration.merge_points, None, centres, number, *place, BUDGET)
    else:
        raise DataError(
            f"{linkage.capitalize()} linkage of {n:,} different points needs a matrix of distances of "
            f"{8 * n**2 / 1e9:,.0f} GB: use Ward linkage, which needs none, or fewer points (Subsample)."
        )
    order = np.argsort(heights, kind="stable")
    return Tree(merges[order], heights[order])


def _start(points: PointSet, drawn: IntArray, weights: FloatArray, linkage: int, metric: str) -> FloatArray:
    """Dissimilarities between the drawn points, to be overwritten."""
    squared = metric == "euclidean"
    name = "sqeuclidean" if squared else metric
    if points.shares_distances:
        distances, rows = np.require(points.distances(name), requirements=["C", "W"]), drawn
        work: FloatArray = np.empty((len(drawn), len(drawn)))
    else:
        rows = np.arange(len(drawn))
        work = distances = pairwise_distances(points.X[drawn], name)
    # Roots change no order, and average linkage alone does more than compare.
    root = squared and linkage == agglomeration.AVERAGE
    if not agglomeration.start_dissimilarities(distances, rows, weights, linkage, root, work):
        raise ReplicateFailure(TOO_LARGE)
    return work


TREE_METRICS = ("euclidean", "cityblock", "cosine")


@dataclass(frozen=True, eq=False)
class Cuts:
    """What all cuts of one tree share."""

    tree: Tree
    neighbours: Neighbours


@dataclass(frozen=True, eq=False)
class CutFunction(FittedFunction):
    """ψ of one cut: the label of the nearest leaf."""

    cut: IntArray  # the label of every leaf
    neighbours: Neighbours
    n_clusters: int

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        """All labels of the cut."""
        return np.arange(self.n_clusters)

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return np.asarray(self.cut[self.neighbours.of(points)])


class TreeLearner(Learner):
    """Agglomerative clustering: one tree, cut for every number of clusters."""

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is scikit-learn's class, cut by number, with a linkage and metric that the kernels have."""
        if type(clusterer) is not AgglomerativeClustering:
            return False
        metrics = ("euclidean",) if clusterer.linkage == "ward" else TREE_METRICS
        return (
            clusterer.connectivity is None
            and clusterer.distance_threshold is None
            and clusterer.linkage in LINKAGES
            and _tree_metric(clusterer) in metrics
            and is_whole(clusterer.n_clusters, at_least=1)
        )

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Measure the distances within studies, and between them where no tree finds the nearest points."""
        spaces = [self.space(points) for points in places]
        metric = "sqeuclidean" if self._metric == "euclidean" else self._metric
        for points in spaces:
            if points.shares_distances:
                points.distances(metric)
            if points.caches_others and not self._directly(points):
                for others in spaces:
                    points.distances_from(others, metric)

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        return 10.0 * len(points) ** 2

    def memory(self, n_samples: int) -> float:
        """Estimate the bytes of the matrix of distances, which Ward's linkage does without where it is too large."""
        needed = 8.0 * n_samples**2
        return 0.0 if needed > LARGEST_MATRIX and self.members[0].clusterer.linkage == "ward" else needed

    @property
    def searches(self) -> bool:
        """Whether the nearest leaf is that by Euclidean distance."""
        return self._metric == "euclidean"

    def _directly(self, points: PointSet) -> bool:
        """Whether nearest points are found without all distances."""
        return by_tree(self._metric, points.X.shape[1]) or searches_on(self.device, self._metric)

    @property
    def _metric(self) -> str:
        return _tree_metric(self.members[0].clusterer)

    @cached_property
    def numbers(self) -> IntArray:
        """How many clusters every member asks for, (n_members,)."""
        return np.array([member.clusterer.n_clusters for member in self.members], np.int64)

    @cached_property
    def classes(self) -> list[IntArray]:
        """The labels of every member."""
        return [np.arange(n_clusters) for n_clusters in self.numbers]

    def learn(self, resamples: Sequence[Resample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Fit]:
        """Build a tree for every resample, once it is asked for, and cut it for all members at once."""
        return [_TreeFit(self, resample) for resample in resamples]

    def label_batch(self, learned: Sequence[Fit]) -> LabelBatch | None:
        """Return the trees of these resamples; where there is a device, tables are counted there."""
        return None if self.here or not learned else TreeBatch(self, learned)

    def share(self, resample: Resample) -> Cuts:
        """Build the tree of the drawn points."""
        points, weights = self.space(resample.points), resample.draw.weights
        tree = build_tree(points, weights, self.members[0].clusterer.linkage, self._metric)
        return Cuts(tree, Neighbours(self, NearestDrawn.of(points, np.flatnonzero(weights), self._metric, self.device)))

    def psi(self, shared: Cuts, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Cut the tree."""
        return cut_function(shared, configuration.clusterer.n_clusters)

    def fitted(self, psi: CutFunction, resample: Resample, configuration: Configuration) -> Clusterer:
        """Fit the drawn rows written out: the same clusters, here with our numbers."""
        fitted = fit_rows(self, resample, configuration)
        fitted.labels_ = psi.labels(resample.points)[resample.draw.order]
        return fitted


@dataclass(frozen=True, eq=False)
class _TreeFit(Fit):
    """One tree, all of whose cuts are made in one call of a kernel."""

    learner: TreeLearner

    @cached_property
    def _cuts(self) -> tuple[IntArray, IntArray]:
        """The labels of all leaves in every cut, (n_members, n_leaves), and the number of clusters in the draw."""
        tree, neighbours = self._shared.tree, self._shared.neighbours
        is_nearest = np.zeros(len(tree.merges) + 1, dtype=bool)
        is_nearest[neighbours.of(self.resample.points)[self.resample.draw.weights > 0]] = True
        cuts, n_found = agglomeration.cut_tree_often(tree.merges, self.learner.numbers, is_nearest)
        return cuts, n_found

    def n_found(self) -> IntArray:
        """Count the clusters of every cut in the draw, (n_members,)."""
        if isinstance(self._shared, Failed):
            raise ReplicateFailure(self._shared.cause)
        return self._cuts[1]

    def write_codes(self, points: PointSet, codes: IntArray) -> None:
        """Write the labels of points in every cut, (n_members, n_points)."""
        # With another mode than the default, nothing is written to a copy first; no leaf is out of range.
        np.take(self._cuts[0], self._shared.neighbours.of(points), axis=1, out=codes, mode="clip")

    @cached_property
    def _known(self) -> dict[PointSet, IntArray]:
        return {}

    def _codes(self, points: PointSet) -> IntArray:
        """Return the labels of points in every cut, (n_members, n_points)."""
        if points not in self._known:
            self._known[points] = np.empty((len(self.learner.members), len(points)), np.int32)
            self.write_codes(points, self._known[points])
        return self._known[points]

    def labels(self, member: int, at: Sequence[PointSet]) -> Labelled | Failed:
        """Apply one cut to every set of points in `at`."""
        labelled = attempt(self._labelled, member, at)
        return (
            labelled if isinstance(labelled, Labelled) else super().labels(member, at)
        )  # alone, it gives its cause of failure

    def _labelled(self, member: int, at: Sequence[PointSet]) -> Labelled | None:
        if isinstance(self._shared, Failed) or self._cuts[1][member] < self.learner.members[member].fewest_clusters:
            return None
        classes = self.learner.classes[member]
        return Labelled([Partition(self._codes(points)[member], classes) for points in at], int(self._cuts[1][member]))


class TreeBatch:
    """Trees of several resamples, whose cuts label points together."""

    def __init__(self, learner: TreeLearner, learned: Sequence[Fit]):
        self.learner = learner
        self.trees = [tree for tree in learned if isinstance(tree, _TreeFit)]
        self.points: Sequence[PointSet] = [tree.resample.points for tree in self.trees]

    @property
    def n_labels(self) -> tuple[int, ...]:
        """How many clusters every member asks for."""
        return tuple(self.learner.numbers.tolist())

    @cached_property
    def n_found(self) -> IntArray | None:
        """How many clusters there are in the draws, (n_samples, n_members); None where anything failed."""
        n_found, fewest = [], [member.fewest_clusters for member in self.learner.members]
        for tree in self.trees:
            counts = attempt(tree.n_found)
            if isinstance(counts, Failed) or (counts < fewest).any():
                return None
            n_found.append(counts)
        return np.array(n_found)

    def weights_at(self, points: PointSet) -> FloatArray:
        """Return how often points were drawn, in all resamples of them, (n_replicates, n_points)."""
        resamples = [tree.resample for tree in self.trees if tree.resample.points is points]
        return np.array([resample.draw.weights for resample in resamples], dtype=float)

    def labels_at(self, points: PointSet, places: Sequence[int]) -> IntArray:
        """Return what all cuts of some trees say of points, (n_places, n_members, n_points)."""
        labels = np.empty((len(places), len(self.learner.members), len(points)), np.int32)
        for of_tree, i in zip(labels, places, strict=True):
            self.trees[i].write_codes(points, of_tree)
        return labels


def cut_function(shared: Cuts, n_clusters: int) -> CutFunction:
    """Cut a tree; a tree with fewer leaves than clusters is a failure."""
    if n_clusters > len(shared.tree.merges) + 1:
        raise ReplicateFailure(FEWER_CLUSTERS)
    return CutFunction(shared.tree.cut(n_clusters), shared.neighbours, int(n_clusters))


def _tree_metric(clusterer: Clusterer) -> str:
    metric = clusterer.metric or "euclidean"
    return str(SCIPY_METRICS.get(metric, metric)) if isinstance(metric, str) else ""


# ---------------------------------------------------------------------------------------------------------------------
# Birch: one tree of subclusters serves every number of clusters


@dataclass(frozen=True, eq=False)
class _NearestSubcluster:
    birch: Birch
    dtype: np.dtype[Any]

    def __call__(self, points: PointSet) -> IntArray:
        return np.asarray(self.birch.predict(np.asarray(points.X, dtype=self.dtype)))


class BirchLearner(Learner):
    """BIRCH: one tree of features, whose subclusters are joined for every number of clusters."""

    in_threads = takes_weights = False

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is scikit-learn's class with a number of clusters."""
        return type(clusterer) is Birch and is_whole(clusterer.n_clusters, at_least=1)

    def share(self, resample: Resample) -> tuple[Birch, Cuts]:
        """Fit without joining subclusters, then build Ward's tree of them, as scikit-learn does for each number."""
        birch = clone(self.members[0].clusterer).set_params(n_clusters=None, compute_labels=False)
        birch.fit(self.space(resample.points).X[resample.draw.order])
        subclusters = PointSet(birch.subcluster_centers_)
        tree = build_tree(subclusters, np.ones(len(subclusters), dtype=np.int64), "ward")
        dtype = resample.study.X.dtype if self.rotation is None else np.dtype(float)
        return birch, Cuts(tree, Neighbours(self, _NearestSubcluster(birch, dtype)))

    def psi(self, shared: tuple[Birch, Cuts], resample: Resample, configuration: Configuration) -> FittedFunction:
        """Cut the tree of subclusters."""
        birch, cuts = shared
        cut = cut_function(cuts, configuration.clusterer.n_clusters)
        return BirchFunction(cut.cut, cut.neighbours, cut.n_clusters, birch)

    def fitted(self, psi: BirchFunction, resample: Resample, configuration: Configuration) -> Clusterer:
        """Return the `Birch` with its subclusters joined."""
        fitted = copy.deepcopy(psi.birch).set_params(**configuration.clusterer.get_params(deep=False))
        fitted.subcluster_labels_ = psi.cut
        fitted.labels_ = psi.labels(resample.points)[resample.draw.order]
        return fitted if self.rotation is None else with_features(fitted, self.rotation, configuration.clusterer)


@dataclass(frozen=True, eq=False)
class BirchFunction(CutFunction):
    """ψ of BIRCH: the cluster of the nearest subcluster."""

    birch: Birch
