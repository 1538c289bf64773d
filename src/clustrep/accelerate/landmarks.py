"""Landmarks: few points in place of many, so that any clusterer can be fitted to a study of a million samples.

Clusterers are fitted to the landmarks of large studies; all other samples get their labels by them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clustrep.accelerate.trees import Tree, TreeLearner, build_tree
from clustrep.data.study import Study
from clustrep.errors import ParameterError
from clustrep.execution.devices import PROCESSOR
from clustrep.execution.seeds import ReplicateFailure, Stream, make_generator, seed_of
from clustrep.fitting.function import ClusteringFunction, takes_nearest
from clustrep.fitting.learners import AroundLearner, Fit, FittedFunction, Learner, Prediction
from clustrep.fitting.neighbours import nearest_point
from clustrep.fitting.parameters import Clusterer, Configuration, KnownLabels
from clustrep.fitting.resample import Cached, LandmarkDraw, PointSet, Resample, Source
from clustrep.resampling.strategies import Draw
from clustrep.statistics import thin_svd
from clustrep.types import FloatArray, IntArray, Labels

# Samples per landmark, drawn at random, and steps of Lloyd's algorithm that place the landmarks.
SAMPLES_PER_LANDMARK, STEPS = 20, 2


# Cells are those of the leading principal axes: in all of many features, distances say little about clusters.
AXES = 10


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The landmarks of a study.

    Either every sample belongs to the cell of its nearest landmark, whose weight is the number of samples drawn from
    its cell; or landmarks are samples, drawn or not drawn in a replicate like all others.
    """

    X: FloatArray  # (n_landmarks, n_features)
    cells: IntArray | None  # (n_samples,): the landmark that stands for each sample
    rows: IntArray | None  # (n_landmarks,): which samples they are

    def draw(self, draw: Draw) -> Draw:
        """Return the landmarks' part in a replicate of the study."""
        if self.cells is not None:
            masses = np.bincount(self.cells, draw.weights, minlength=len(self.X)).astype(np.int64)
            return LandmarkDraw(self.X, np.flatnonzero(masses), masses=masses)
        return Draw(self.X, np.repeat(np.arange(len(self.X)), draw.weights[self.rows]))


def uniform(X: FloatArray, size: int, rng: np.random.Generator) -> Landmarks:
    """Take samples at random: as dense as the study where it is dense, for clusterers without weights.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The study.
    size : int
        How many landmarks.
    rng : Generator
        Which samples are taken.

    Returns
    -------
    Landmarks
        The samples taken; each stands for itself.
    """
    rows = np.sort(rng.permutation(len(X))[:size])
    return Landmarks(X[rows], None, rows)


def cell_means(X: FloatArray, size: int, rng: np.random.Generator) -> Landmarks:
    """Take the means of small cells, each with the weight of its cell: a coreset with the study's own sums.

    Cells are those of Lloyd's algorithm in the leading principal axes, after a few steps from samples taken at random.
    """
    some = np.sort(rng.permutation(len(X))[: SAMPLES_PER_LANDMARK * size])
    axes = leading_axes(X[some], rng)
    sample = axes(X[some])
    points = uniform(sample, size, rng).X
    for _ in range(STEPS):
        points = means_of_cells(sample, nearest_point(points, "euclidean")(sample)).X
    return means_of_cells(X, nearest_point(points, "euclidean")(axes(X)))


def leading_axes(X: FloatArray, rng: np.random.Generator) -> Callable[[FloatArray], FloatArray]:
    """Return the projection onto the principal axes with most variance; of few features, the identity."""
    if X.shape[1] <= AXES:
        return lambda points: points
    from sklearn.decomposition import PCA

    seed = int(rng.integers(2**31))
    project: Callable[[FloatArray], FloatArray] = PCA(min(AXES, len(X)), random_state=seed).fit(X).transform
    return project


def means_of_cells(X: FloatArray, cells: IntArray) -> Landmarks:
    """Return the means of all cells that are not empty."""
    _, cells = np.unique(cells, return_inverse=True)
    counts = np.bincount(cells)
    means = np.column_stack([np.bincount(cells, column) / counts for column in X.T])
    return Landmarks(means.astype(X.dtype), cells.astype(np.int32), None)


# ---------------------------------------------------------------------------------------------------------------------
# learning from landmarks


# Bytes of labels that a batch may have.
MOST_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class LandmarkPoints:
    """A study's landmarks as points, and which of them is nearest to each point of other sets."""

    landmarks: Landmarks
    points: PointSet
    device: str = PROCESSOR  # where nearest landmarks are found
    _nearest: Cached[PointSet, IntArray] = field(default_factory=Cached)

    def nearest(self, points: PointSet) -> IntArray:
        """Return the nearest landmark of every point, found once for each set, (n_points,)."""
        if points not in self._nearest:
            search = nearest_point(self.points.X, "euclidean", device=self.device)
            self._nearest[points] = search(points.X).astype(np.int32)
        return self._nearest[points]

    def resample(self, resample: Resample) -> Resample:
        """Return the landmarks' part in a resample of the study."""
        return replace(
            resample,
            study=resample.study.with_table(self.points.X),
            draw=self.landmarks.draw(resample.draw),
            points=self.points,
            originals=self.points,
        )


@dataclass(frozen=True, eq=False)
class LandmarkFunction(FittedFunction):
    """ψ of landmarks: a point has the label of the nearest."""

    psi: FittedFunction
    landmark_points: LandmarkPoints

    @property
    def classes(self) -> Labels | None:  # type: ignore[override]
        """Those of the landmarks."""
        return self.psi.classes

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return np.asarray(self.psi.labels(self.landmark_points.points)[self.landmark_points.nearest(points)])


class LandmarkLearner(AroundLearner):
    """A learner that learns from landmarks.

    A clusterer with a `predict` labels all points by it. For one that is induced by the nearest training point, that is
    the nearest landmark, which is found once for all replicates; a landmark of which no sample was drawn has the label
    of the nearest that was.
    """

    def __init__(self, learner: Learner, size: int, landmark_points: Mapping[PointSet, LandmarkPoints]):
        super().__init__(learner)
        self.size = size  # of a set of landmarks
        self.landmark_points = landmark_points  # by the points of each larger study
        self.by_landmarks = takes_nearest(learner.members[0].clusterer, among_features=True)

    @property
    def in_threads(self) -> bool:  # type: ignore[override]
        """Whether its time is spent in kernels."""
        return self.learner.in_threads and not self.by_landmarks

    def landmarks(self, points: PointSet) -> PointSet:
        """Return the landmarks of a study; all points of one that has no more samples."""
        return self.landmark_points[points].points if points in self.landmark_points else points

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Make what all resamples share, and find the nearest landmarks of all points."""
        self.learner.prepare([self.landmarks(points) for points in places])
        if self.by_landmarks:
            for landmark_points in self.landmark_points.values():
                for points in places:
                    landmark_points.nearest(points)

    def work(self, points: PointSet) -> float:
        """Estimate how many numbers the kernels compare in one resample."""
        return self.learner.work(self.landmarks(points)) + len(points)

    def batch(self, places: Sequence[PointSet]) -> int:
        """Say from how many replicates it likes to learn at once: all labels of a batch are kept."""
        n_labels = sum(map(len, places)) * len(places) * len(self.members)
        wanted = self.learner.batch([self.landmarks(points) for points in places])
        return max(1, min(wanted, MOST_BYTES // (4 * n_labels)))

    def memory(self, n_samples: int) -> float:
        """Estimate how many bytes one fit needs."""
        return self.learner.memory(min(n_samples, self.size))

    def learn(self, resamples: Sequence[Resample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Fit]:
        """Learn from the landmarks of all resamples."""
        if self.by_landmarks:
            return super().learn(resamples, at)
        return self.learner.learn([self._resample(resample) for resample in resamples], at)

    def share(self, resample: Resample) -> Any:
        """Learn what all members have in common, from the landmarks."""
        return self.learner.share(self._resample(resample))

    def psi(self, shared: Any, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Learn from the landmarks."""
        psi = self.learner.psi(shared, self._resample(resample), configuration)
        of_study = self.landmark_points.get(resample.points)
        return psi if of_study is None else LandmarkFunction(psi, of_study)

    def function(self, psi: Any, resample: Resample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it; its clusterer was fitted to the landmarks."""
        if not isinstance(psi, LandmarkFunction):
            return self.learner.function(psi, resample, configuration)
        return ClusteringFunction(Prediction(psi, None), resample.study.X, self.fitted(psi, resample, configuration))

    def fitted(self, psi: Any, resample: Resample, configuration: Configuration) -> Clusterer:
        """Return the clusterer that was fitted to the landmarks."""
        return self.learner.function(psi.psi, self._resample(resample), configuration).clusterer

    def _resample(self, resample: Resample) -> Resample:
        landmark_points = self.landmark_points.get(resample.points)
        return resample if landmark_points is None else landmark_points.resample(resample)


def landmark_learners(
    learners: Sequence[Learner], source: Source, studies: Sequence[Study], places: Sequence[PointSet]
) -> tuple[Learner, ...]:
    """Let every learner learn from landmarks, chosen as suits its clusterer.

    Parameters
    ----------
    learners : sequence of Learner
        Which learn from all samples.
    source : Source
        With the number of landmarks and the seed.
    studies : sequence of Study
        The studies.
    places : sequence of PointSet
        Their samples.

    Returns
    -------
    tuple of Learner
    """
    assert source.n_landmarks is not None
    if any(isinstance(member.clusterer, KnownLabels) for learner in learners for member in learner.members):
        raise ParameterError(
            "n_landmarks is for clusterers: with known labels nothing is fitted.", parameter="n_landmarks"
        )
    known: dict[str, dict[PointSet, LandmarkPoints]] = {}
    by_landmarks: list[Learner] = []
    for learner in learners:
        choice = choice_of(learner)
        if choice not in known:
            known[choice] = {
                points: landmark_points(source, choice, study)
                for study, points in zip(studies, places, strict=True)
                if len(study) > source.n_landmarks
            }
        by_landmarks.append(LandmarkLearner(learner, source.n_landmarks, known[choice]))
    return tuple(by_landmarks)


def choice_of(learner: Learner) -> str:
    """Return how landmarks are chosen for a learner."""
    if isinstance(learner, TreeLearner) and learner.members[0].clusterer.linkage == "ward":
        return WARD
    return "cell means" if learner.takes_weights else "uniform"


def landmark_points(source: Source, choice: str, study: Study) -> LandmarkPoints:
    """Choose the landmarks of a study, by its name and the seed of the run alone."""
    assert source.n_landmarks is not None
    rng = make_generator(seed_of(source.root, Stream.LANDMARKS, study.name, source.landmark_set))
    landmarks = CHOICES[choice](study.X, source.n_landmarks, rng)
    return LandmarkPoints(landmarks, PointSet(landmarks.X, None, caches_own=True), source.device)


# ---------------------------------------------------------------------------------------------------------------------
# Landmarks for Ward's linkage: the clusters that its own first merges make, found in small pieces of a study


# Points of a piece whose tree is built, and how many of them become one before pieces are made anew.
PIECE, TOGETHER = 2000, 5


def ward_cells(X: FloatArray, size: int, rng: np.random.Generator) -> Landmarks:
    """Take the means of the clusters of Ward's linkage, cut at this number.

    Means of any other small cells have less noise than clusters of the linkage's own, and repeat better than these.
    The first merges are those of near points: they are made in pieces of the study, up to the same height in all, and
    again with the means in other pieces, until few enough are left. Principal axes of
    samples at random decide where pieces end.
    """
    cells: IntArray = np.arange(len(X))
    masses: IntArray = np.ones(len(X), np.int64)
    means = X
    while len(means) > size:
        merged = _merge(means, masses, max(size, -(-len(means) // TOGETHER)), rng)
        cells = merged[cells]
        masses = np.bincount(cells)
        means = means_of_cells(X, cells).X
    return means_of_cells(X, cells)


def _merge(X: FloatArray, masses: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Merge points with masses, the cheapest merges of all pieces first, until `size` clusters are left, (n,)."""
    pieces = divide(X, rng)
    trees = [_tree(X[piece], masses[piece]) for piece in pieces]
    heights = np.concatenate([tree.heights for tree in trees])
    of_tree = np.repeat(np.arange(len(trees)), [len(tree.heights) for tree in trees])
    first = np.argsort(heights, kind="stable")[: len(X) - size]
    n_merges = np.bincount(of_tree[first], minlength=len(trees))
    cells, n_before = np.empty(len(X), np.int64), 0
    for piece, tree, n in zip(pieces, trees, n_merges, strict=True):
        cells[piece] = n_before + tree.cut(len(piece) - int(n))
        n_before += len(piece) - int(n)
    return cells


def _tree(X: FloatArray, masses: IntArray) -> Tree:
    try:
        return build_tree(PointSet(X), masses, "ward")
    except ReplicateFailure:  # distances that are no numbers: the fit will say so
        n = len(X)
        return Tree(np.column_stack([np.zeros(n - 1, np.int64), np.arange(1, n)]), np.arange(n - 1.0))


def divide(X: FloatArray, rng: np.random.Generator) -> list[IntArray]:
    """Divide points into pieces of about equal size: at medians along directions in which they spread."""
    pieces: list[IntArray] = [np.arange(len(X))]
    while len(pieces[0]) > PIECE:
        pieces = [half for piece in pieces for half in _halves(X, piece, rng)]
    return pieces


def _halves(X: FloatArray, rows: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Divide rows at the median of the first principal axis of some of them."""
    some = X[rows[rng.integers(len(rows), size=64)]].astype(float)
    some -= some.mean(axis=0)
    _, _, axes = thin_svd(some)
    order = np.argsort(X[rows] @ axes[0].astype(X.dtype), kind="stable")
    middle = len(rows) // 2
    return np.sort(rows[order[:middle]]), np.sort(rows[order[middle:]])


# How landmarks are chosen: for Ward's linkage, and for other clusterers with weights and without them; compared by
# `make landmark-calibration`.
WARD = "Ward's first clusters"
CHOICES: dict[str, Callable[[FloatArray, int, np.random.Generator], Landmarks]] = {
    WARD: ward_cells,
    "cell means": cell_means,
    "uniform": uniform,
}
