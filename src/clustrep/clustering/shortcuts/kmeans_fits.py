"""Fits of k-means by compiled kernels: how, and many in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from clustrep._kernels import first_centres, fit_batch, lloyd, lloyd_product, streams
from clustrep.checks import is_whole
from clustrep.clustering.rotation import Rotation
from clustrep.clustering.sample import FEWER_CLUSTERS, SHARED_POINTS, TOO_LARGE, PointSet
from clustrep.engine.replicates import ReplicateFailure, breathe, run_in_pieces, words_of
from clustrep.types import BoolArray, FloatArray, IntArray

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

    @cached_property
    def mean(self) -> FloatArray:
        """The mean of the drawn points, (n_features,)."""
        rows = self.points.X[self.drawn]
        return np.asarray((self.weights @ rows / self.weights.sum()).astype(rows.dtype))

    @cached_property
    def centred(self) -> FloatArray:
        """The drawn points without their mean, (n_drawn, n_features)."""
        return np.asarray(self.points.X[self.drawn] - self.mean)

    @cached_property
    def variance(self) -> float:
        """Their variance, averaged over features."""
        spread = self.weights @ lloyd.squared_lengths(self.centred) / self.weights.sum()
        return float(spread) / self.n_features

    def fit(self, settings: Settings, seed: np.random.SeedSequence) -> Solution:
        """Find the best of all starts."""
        if settings.n_init_features not in (None, self.n_features):
            raise ReplicateFailure(f"init has {settings.n_init_features} features, the data {self.n_features}")
        if settings.n_clusters > len(self.drawn):
            raise ReplicateFailure(FEWER_CLUSTERS)
        if not np.isfinite(self.variance):
            raise ReplicateFailure(TOO_LARGE)
        words = np.array([words_of(seed if settings.random_state is None else settings.random_state)], np.uint32)
        strategy = settings.strategy(self.points)
        if strategy is Strategy.BY_PRODUCT:
            return _fit_by_product(self, settings, words[0])
        members = Members([settings], self.points.X.shape[1], words.shape[1])
        if strategy is Strategy.BY_FEATURE:
            weights = self.all_weights[None]
            return fit_by_feature(self.points, weights, members, self.n_features, words[None]).solution(0, 0)
        return fit_by_distance(self, members, words).solution(0, 0)


class Members:
    """Settings of several fits to the same sample, as kernels read them.

    Parameters
    ----------
    settings : sequence of Settings
    n_features : int
    n_words : int or sequence of int
        How many words the seed of each has.
    """

    def __init__(self, settings: Sequence[Settings], n_features: int, n_words: int | Sequence[int]):
        self.table = np.array(
            [(s.n_clusters, s.n_init, s.max_iter, 0, s.init is not None) for s in settings], dtype=np.int64
        )
        self.table[:, fit_batch.WORDS] = n_words
        self.tolerances = np.array([s.tol for s in settings])
        self.borders = np.concatenate([[0], np.cumsum(self.table[:, fit_batch.CLUSTERS])])
        self.given = np.zeros((self.n_centres, n_features))
        for s, begin, end in zip(settings, self.borders, self.borders[1:], strict=False):
            if s.init is not None and s.init.shape[1] == n_features:  # another number is a failure when fitted alone
                self.given[begin:end] = s.init

    def __len__(self) -> int:
        return len(self.table)

    @property
    def n_centres(self) -> int:
        """How many centres all members have together."""
        return int(self.borders[-1])

    def room_for_starts(self) -> tuple[int, FloatArray, IntArray, FloatArray, IntArray]:
        """Return the largest number of starts, and room for what all starts of any member need."""
        starts, clusters = self.table[:, fit_batch.STARTS], self.table[:, fit_batch.CLUSTERS]
        most, n_picks = int(starts.max()), int((starts * clusters).max())
        count = fit_batch.n_uniforms.py_func  # of a few numbers: not worth a call of a kernel
        n_uniforms = max(s * count(k) for s, k in zip(starts.tolist(), clusters.tolist(), strict=True))
        return most, np.empty(n_uniforms), np.empty(n_picks, np.int64), np.empty(most), np.zeros(most, np.int64)


@dataclass(frozen=True, eq=False)
class Fits:
    """The best of all starts of every member in every sample."""

    members: Members
    centres: FloatArray  # (n_samples, n_centres, n_features)
    inertia: FloatArray  # (n_samples, n_members)
    n_iter: IntArray  # (n_samples, n_members), 0 where nothing was fitted

    def solution(self, sample: int, member: int) -> Solution:
        """Return one of them."""
        place = slice(*self.members.borders[member : member + 2])
        n_iter = int(self.n_iter[sample, member])
        return Solution(self.centres[sample, place], float(self.inertia[sample, member]), n_iter)


def fit_by_feature(points: PointSet, weights: FloatArray, members: Members, n_features: int, words: IntArray) -> Fits:
    """Fit all members to all samples of a study, in one call but for interrupts.

    weights : (n_samples, n_points)
    words : (n_samples, n_members, n_words), of the seeds
    """
    by_feature = np.require(points.by_feature, requirements=["C", "W"])
    p, n = by_feature.shape
    most, uniforms, picks, inertia, steps = members.room_for_starts()
    room = (uniforms, picks, np.empty(n), np.empty(picks.size * p), np.empty(most * n, np.int32), inertia, steps)
    shape = (len(weights), len(members))
    fits = Fits(members, np.zeros((len(weights), members.n_centres, p)), np.zeros(shape), np.zeros(shape, np.int64))
    arrays = (weights, members.table, members.tolerances, n_features, words, members.given, room)
    outcome = (fits.centres, fits.inertia, fits.n_iter, np.zeros(5, np.int64))
    run_in_pieces(fit_batch.fit_by_feature, by_feature, *arrays, *outcome, BUDGET)
    return fits


def fit_by_distance(sample: KMeansSample, members: Members, words: IntArray) -> Fits:
    """Fit all members to one sample, in one call but for interrupts; `words` is (n_members, n_words)."""
    squared = np.require(sample.points.distances(), requirements=["C", "W"])
    n, n_drawn, n_centres = len(squared), len(sample.drawn), members.n_centres
    most, uniforms, picks, inertia, steps = members.room_for_starts()
    labels = np.empty(most * n, np.int32)
    room = (uniforms, picks, np.empty(n), labels, labels.copy(), picks.copy(), inertia, steps)
    in_cluster = np.zeros((n_centres, n_drawn))
    fits = Fits(
        members,
        np.zeros((1, n_centres, sample.points.X.shape[1])),
        np.zeros((1, len(members))),
        np.zeros((1, len(members)), np.int64),
    )
    tolerances = members.tolerances * sample.variance
    arrays = (sample.all_weights, members.table, tolerances, words, room)
    outcome = (in_cluster, fits.inertia[0], fits.n_iter[0], np.zeros(5, np.int64))
    run_in_pieces(fit_batch.fit_by_distance, squared, *arrays, *outcome, BUDGET)
    for begin, end in zip(members.borders, members.borders[1:], strict=False):
        sizes = in_cluster[begin:end].sum(axis=1, keepdims=True)
        centres = in_cluster[begin:end] @ sample.centred / np.maximum(sizes, 1) + sample.mean
        centres[sizes[:, 0] == 0] = np.inf  # fewer different points than clusters: nobody's nearest
        fits.centres[0, begin:end] = centres
    return fits


def _fit_by_product(sample: KMeansSample, settings: Settings, words: IntArray) -> Solution:
    table, weights = sample.centred, sample.weights
    if settings.init is None:
        by_feature = np.take(sample.points.by_feature, sample.drawn, axis=1)  # in one piece, unlike by an index
        uniforms = np.empty((settings.n_init, fit_batch.n_uniforms(settings.n_clusters)))
        streams.fill_uniforms(words, uniforms)
        picks = np.empty((settings.n_init, settings.n_clusters), np.int64)
        state = (np.empty(len(weights)), np.zeros(2, np.int64))
        run_in_pieces(first_centres.choose_by_feature, by_feature, weights, uniforms, picks, *state, BUDGET)
        centres = table[picks]
    else:
        centres = settings.init[None] - sample.mean
    centres = np.array(centres, dtype=float, order="C")  # (n_starts, n_clusters, n_features)
    labels = np.full((len(centres), len(weights)), -1, np.int32)
    inertia, steps = np.empty(len(centres)), np.zeros(len(centres), np.int64)
    bounds, sums = np.empty((2, len(weights))), np.empty(centres.shape[1:])
    arrays = (centres, labels, inertia, steps, bounds, sums)
    tol = settings.tol * sample.variance
    run_in_pieces(lloyd_product.lloyd_by_product, table, weights, *arrays, settings.max_iter, tol, BUDGET)
    best = int(inertia.argmin())
    return Solution(centres[best] + sample.mean, float(inertia[best]), int(-1 - steps[best]))


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


def label_points(
    points: PointSet, members: Members, centres: FloatArray, is_fitted: BoolArray, weights: FloatArray | None
) -> tuple[IntArray, IntArray]:
    """Ask many functions about points: their labels, (n_functions, n_members, n_points), in one call.

    Also how many labels the points with a weight, (n_functions, n_points), have, (n_functions, n_members).
    """
    by_feature = np.require(points.by_feature, requirements=["C", "W"])
    labels = np.zeros((len(centres), len(members), len(points)), np.int32)
    n_found = np.zeros((len(centres), len(members)), np.int64)
    counted = np.empty((0, len(points))) if weights is None else weights
    arrays = (centres, members.table, is_fitted, counted, labels, n_found, np.zeros(2, np.int64))
    run_in_pieces(fit_batch.label_points, by_feature, *arrays, BUDGET)
    return labels, n_found
