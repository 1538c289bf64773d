"""k-means by compiled kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from clustrep._kernels import lloyd, lloyd_distance, lloyd_product
from clustrep.checks import is_whole
from clustrep.clustering.parameters import Clusterer
from clustrep.clustering.path import Path, Psi
from clustrep.clustering.rotation import Rotation
from clustrep.clustering.sample import FEWER_CLUSTERS, SHARED_POINTS, TOO_LARGE, Configuration, PointSet, Sample
from clustrep.engine.replicates import ReplicateFailure, breathe, make_generator, run_in_pieces
from clustrep.types import FloatArray, IntArray, Labels

# From so many features on, a matrix product is faster than differences.
PRODUCT_FEATURES = 16
# Numbers that a kernel compares before it lets an interrupt be heard: well below half a second.
BUDGET = 200_000_000


class Strategy(Enum):
    """How Lloyd's iterations find the nearest centres."""

    BY_FEATURE = "few features: differences, in vectors over points"
    BY_DISTANCE = "many features, few points: from the points' distances to each other"
    BY_PRODUCT = "many features, many points: matrix products, where bounds ask for them"


def strategy_for(n_points: int, n_features: int, n_clusters: int, n_init: int = 10, *, shared: bool = True) -> Strategy:
    """Choose by shape alone, so that results never depend on a stopwatch.

    `shared` says whether distances serve all resamples. Even then they cost as much as some fits without them: there
    must be enough starts and clusters to make up for that soon.
    """
    if n_features < PRODUCT_FEATURES:
        return Strategy.BY_FEATURE
    if shared and n_points <= min(SHARED_POINTS, n_clusters * n_features, 32 * n_init * n_clusters):
        return Strategy.BY_DISTANCE
    return Strategy.BY_PRODUCT


@dataclass(frozen=True)
class Settings:
    """The parameters of scikit-learn's `KMeans` that matter here."""

    n_clusters: int
    n_init: int
    max_iter: int
    tol: float
    random_state: int | None
    init: FloatArray | None  # (n_clusters, n_features); None: k-means++
    n_init_features: int | None = None  # before they were rotated

    def strategy(self, points: PointSet) -> Strategy:
        """Choose how to fit these points; given centres that are no points have no distances yet."""
        shared = points.shares_distances and self.init is None
        return strategy_for(len(points), points.X.shape[1], self.n_clusters, self.n_init, shared=shared)

    @classmethod
    def of(cls, clusterer: Any, rotation: Rotation | None = None) -> Settings | None:
        """Read a `KMeans`, its given centres in coordinates; None where it asks for what scikit-learn alone can do."""
        p = clusterer.get_params(deep=False)
        init, n_init = p["init"], 1 if p["n_init"] == "auto" else p["n_init"]
        starts_ok = isinstance(init, str) and init == "k-means++"
        given: FloatArray | None = None
        if isinstance(init, np.ndarray | list | tuple):
            given = _as_points(init)
            starts_ok = given is not None and len(given) == p["n_clusters"] and n_init == 1  # else it warns
        honoured = (
            starts_ok
            and all(is_whole(n, at_least=1) for n in (p["n_clusters"], n_init, p["max_iter"]))
            and isinstance(p["tol"], int | float)
            and p["tol"] >= 0
            and p["verbose"] == 0
            and p["algorithm"] in ("lloyd", "elkan")
            and (p["random_state"] is None or is_whole(p["random_state"], at_least=0))
        )
        if not honoured:
            return None
        return cls(
            n_clusters=int(p["n_clusters"]),
            n_init=int(n_init),
            max_iter=int(p["max_iter"]),
            tol=float(p["tol"]),
            random_state=None if p["random_state"] is None else int(p["random_state"]),
            init=given if rotation is None else _project(given, rotation),
            n_init_features=None if given is None else given.shape[1],
        )


def _as_points(init: Any) -> FloatArray | None:
    """Take given centres as a table; None where they are no such thing, and scikit-learn will say why."""
    try:
        table = np.asarray(init)
    except ValueError:  # rows of different lengths
        return None
    return table if table.ndim == 2 and table.dtype.kind in "fiu" and np.isfinite(table).all() else None


def _project(init: FloatArray | None, rotation: Rotation) -> FloatArray | None:
    if init is None or init.shape[1] != rotation.n_features:  # the latter fails when it is fitted
        return init
    return rotation.project(init)


@dataclass(frozen=True, eq=False)
class Solution:
    """The best of all starts."""

    centres: FloatArray  # (n_clusters, n_features)
    inertia: float
    n_iter: int


class KMeansSample:
    """The drawn points of a study, prepared once for every number of clusters.

    Parameters
    ----------
    points : PointSet
    weights : ndarray of int, (n_points,)
        How often each was drawn.
    n_features : int
        How many the points had before they were rotated: scikit-learn's tolerance is relative to a variance that is
        divided by it.
    """

    def __init__(self, points: PointSet, weights: IntArray, n_features: int):
        self.points = points
        self.n_features = n_features
        self.all_weights = weights.astype(float)
        self.drawn = np.flatnonzero(weights)
        self.weights = self.all_weights[self.drawn]
        self.centred = points.X[self.drawn]
        self.mean = (self.weights @ self.centred / self.weights.sum()).astype(self.centred.dtype)
        self.centred -= self.mean
        spread = self.weights @ lloyd.squared_lengths(self.centred) / self.weights.sum()
        self.variance = float(spread) / n_features

    @cached_property
    def by_feature(self) -> FloatArray:
        """The drawn points, (n_features, n_drawn)."""
        return np.take(self.points.by_feature, self.drawn, axis=1)  # in one piece, unlike by an index

    def fit(self, settings: Settings, seed: np.random.SeedSequence) -> Solution:
        """Find the best of all starts."""
        if settings.n_init_features not in (None, self.n_features):
            raise ReplicateFailure(f"init has {settings.n_init_features} features, the data {self.n_features}")
        if not np.isfinite(self.variance):
            raise ReplicateFailure(TOO_LARGE)
        return _FITS[settings.strategy(self.points)](self, settings, seed)


def _fit_by_feature(sample: KMeansSample, settings: Settings, seed: np.random.SeedSequence) -> Solution:
    table, weights = sample.by_feature, sample.weights
    if settings.init is None:
        centres = table.T[_picks(table, lloyd.BY_FEATURE, weights, settings, seed)]
    else:
        centres = settings.init[None]
    return _iterate(lloyd.lloyd_by_feature, table, sample, settings, centres)


def _fit_by_product(sample: KMeansSample, settings: Settings, seed: np.random.SeedSequence) -> Solution:
    table, weights = sample.centred, sample.weights
    if settings.init is None:
        centres = table[_picks(sample.by_feature, lloyd.BY_FEATURE, weights, settings, seed)]
    else:
        centres = settings.init[None] - sample.mean
    state = (np.empty((2, len(weights))), np.empty(centres.shape[1:]))  # bounds and sums
    solution = _iterate(lloyd_product.lloyd_by_product, table, sample, settings, centres, *state)
    return Solution(solution.centres + sample.mean, solution.inertia, solution.n_iter)


def _fit_by_distance(sample: KMeansSample, settings: Settings, seed: np.random.SeedSequence) -> Solution:
    squared = np.require(sample.points.distances(), requirements=["C", "W"])
    weights = sample.all_weights
    picks = _picks(squared, lloyd.DISTANCES, weights, settings, seed)
    labels = np.full((len(picks), len(weights)), -1, np.int32)
    members = labels.copy()
    taken = np.full(picks.shape, -1)
    inertia, steps = np.empty(len(picks)), np.zeros(len(picks), np.int64)
    tol = settings.tol * sample.variance
    arrays = (labels, members, taken, inertia, steps)
    run_in_pieces(lloyd_distance.lloyd_by_distance, squared, weights, picks, *arrays, settings.max_iter, tol, BUDGET)
    best = int(inertia.argmin())
    in_cluster = (members[best] == np.arange(settings.n_clusters)[:, None]) * weights  # (n_clusters, n_points)
    for j in np.flatnonzero(taken[best] >= 0):
        in_cluster[members[best, taken[best, j]], taken[best, j]] -= 1
        in_cluster[j, taken[best, j]] += 1
    in_cluster = in_cluster[:, sample.drawn]
    sizes = in_cluster.sum(axis=1, keepdims=True)
    centres = in_cluster @ sample.centred / np.maximum(sizes, 1) + sample.mean
    centres[sizes[:, 0] == 0] = np.inf  # fewer different points than clusters: nobody's nearest
    return Solution(centres, float(inertia[best]), int(-1 - steps[best]))


_FITS = {
    Strategy.BY_FEATURE: _fit_by_feature,
    Strategy.BY_DISTANCE: _fit_by_distance,
    Strategy.BY_PRODUCT: _fit_by_product,
}


def _picks(
    table: FloatArray, layout: int, weights: FloatArray, settings: Settings, seed: np.random.SeedSequence
) -> IntArray:
    """Choose the first centres of every start by greedy k-means++, (n_init, n_clusters)."""
    k = settings.n_clusters
    n_trials = 2 + int(math.log(k))  # as scikit-learn
    rng = make_generator(seed if settings.random_state is None else settings.random_state)
    uniforms = rng.random((settings.n_init, 1 + (k - 1) * n_trials))
    picks = np.empty((settings.n_init, k), np.int64)
    state = (np.empty(len(weights)), np.zeros(2, np.int64))
    run_in_pieces(lloyd.choose_centres, table, layout, weights, uniforms, picks, *state, BUDGET)
    return picks


def _iterate(
    kernel: Callable[..., bool],
    table: FloatArray,
    sample: KMeansSample,
    settings: Settings,
    centres: FloatArray,
    *state: FloatArray,
) -> Solution:
    centres = np.array(centres, dtype=float, order="C")  # (n_starts, n_clusters, n_features)
    labels = np.full((len(centres), len(sample.weights)), -1, np.int32)
    inertia, steps = np.empty(len(centres)), np.zeros(len(centres), np.int64)
    tol = settings.tol * sample.variance
    arrays = (centres, labels, inertia, steps, *state)
    run_in_pieces(kernel, table, sample.weights, *arrays, settings.max_iter, tol, BUDGET)
    best = int(inertia.argmin())
    return Solution(centres[best], float(inertia[best]), int(-1 - steps[best]))


def nearest_centre(points: PointSet, centres: FloatArray) -> IntArray:
    """Give every point the nearest of the centres, (n_points,)."""
    labels, distances = np.empty(len(points), np.int32), np.empty(len(points))
    step = max(1, BUDGET // centres.size)
    for begin in range(0, len(points), step):
        piece = slice(begin, begin + step)
        by_feature = np.require(points.by_feature[:, piece], requirements=["C", "W"])
        lloyd.nearest_centres(by_feature, centres, labels[piece], distances[piece])
        breathe()
    return labels


# ---------------------------------------------------------------------------------------------------------------------
# k-means


@dataclass(frozen=True, eq=False)
class CentresPsi(Psi):
    """ψ of k-means: the nearest centre."""

    path: Path
    solution: Solution

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        """One for every centre."""
        return np.arange(len(self.solution.centres))

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return nearest_centre(self.path.space(points), self.solution.centres)


class KMeansPath(Path):
    """k-means by our own kernels; every number of clusters has its own starts."""

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is scikit-learn's class with parameters that the kernels have."""
        return type(clusterer) is KMeans and Settings.of(clusterer) is not None

    @cached_property
    def _settings(self) -> dict[Configuration, Settings]:
        settings = {member: Settings.of(member.clusterer, self.rotation) for member in self.members}
        return {member: known for member, known in settings.items() if known is not None}

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Turn the points; measure their distances where a member will ask for them."""
        for points in map(self.space, places):
            points.by_feature  # noqa: B018
            if any(settings.strategy(points) is Strategy.BY_DISTANCE for settings in self._settings.values()):
                points.distances()

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        n, p = self.space(points).X.shape
        return float(sum(10.0 * s.n_init * n * min(s.n_clusters * p, n) for s in self._settings.values()))

    def share(self, sample: Sample) -> KMeansSample:
        """Prepare the drawn points."""
        return KMeansSample(self.space(sample.points), sample.draw.weights, sample.points.X.shape[1])

    def psi(self, shared: KMeansSample, sample: Sample, configuration: Configuration) -> Psi:
        """Find the centres."""
        settings = self._settings[configuration]
        if settings.n_clusters > len(shared.drawn):
            raise ReplicateFailure(FEWER_CLUSTERS)
        return CentresPsi(self, shared.fit(settings, sample.seed(configuration.n_clusters)))

    def fitted(self, psi: CentresPsi, sample: Sample, configuration: Configuration) -> Clusterer:
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
