"""k-means by compiled kernels: many fits in one call, of all resamples of a batch and all numbers of clusters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from clustrep.agreement.batches import LabelBatch
from clustrep.agreement.contingency import Partition
from clustrep.cached import cached_property
from clustrep.checks import is_whole
from clustrep.execution.devices import PROCESSOR
from clustrep.execution.seeds import Failed, ReplicateFailure, breathe, run_in_pieces, words_of
from clustrep.fitting.learners import Fit, FittedFunction, Learner
from clustrep.fitting.parameters import Clusterer, Configuration
from clustrep.fitting.resample import FEWER_CLUSTERS, SHARED_POINTS, TOO_LARGE, Labelled, PointSet, Resample
from clustrep.fitting.rotation import Rotation
from clustrep.kernels import first_centres, fit_batch, lloyd, streams
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

# From this number of features on, a matrix product is faster than differences.
PRODUCT_FEATURES = 16
# Numbers that a kernel compares before it lets an interrupt be heard: well below half a second.
BUDGET = 200_000_000
# Numbers that the kernels compare in one batch, about a tenth of a second's; replicates and bytes that it may have.
BATCH_WORK = 400_000_000
MOST_REPLICATES = 64
MOST_BYTES = 2**26
# Bytes of a resample's points that are cached for all numbers of clusters; larger ones are copied for every fit.
MOST_CACHED = 2**26
# Points whose coordinates in single precision are summed at once.
SUMMED_AT_ONCE = 2**16
# Points that are labelled at once, where nothing is counted.
LABELLED_AT_ONCE = 2**17


class Strategy(Enum):
    """How Lloyd's iterations find the nearest centres."""

    BY_FEATURE = "few features: differences, in vectors over points"
    BY_DISTANCE = "many features, few points: from the points' distances to each other"
    BY_PRODUCT = "many features, many points: matrix products, where bounds ask for them"


def strategy_for(n_points: int, n_features: int, n_clusters: int, n_init: int = 10, *, shared: bool = True) -> Strategy:
    """Choose by shape alone, so that results never depend on a stopwatch.

    Parameters
    ----------
    n_points, n_features, n_clusters : int
    n_init : int, default=10
        The number of starts.
    shared : bool, default=True
        Whether distances serve all resamples. Even then they cost as much as some fits without them: there must be
        enough starts and clusters to make up for that soon.
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
    """Take given centres as a table; None where they are no table: scikit-learn's own error then tells why."""
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


class KMeansResample:
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
        self._counts = weights
        self._centred: FloatArray | None = None

    @property
    def drawn(self) -> IntArray:
        """Which points were drawn, (n_drawn,)."""
        return np.flatnonzero(self._counts)

    @property
    def weights(self) -> FloatArray:
        """How often each of these was drawn, (n_drawn,)."""
        return self._counts[self.drawn].astype(float)

    @cached_property
    def _moments(self) -> tuple[FloatArray, float]:
        """The mean of the drawn points, (n_features,), and their variance, averaged over features."""
        weights, rows = self.weights, self.points.X[self.drawn]
        if rows.dtype == np.float64:
            total: FloatArray = weights @ rows
        else:  # some at a time: a product with weights makes a copy in double precision
            starts = range(0, len(rows), SUMMED_AT_ONCE)
            total = np.sum([weights[i : i + SUMMED_AT_ONCE] @ rows[i : i + SUMMED_AT_ONCE] for i in starts], axis=0)
        mean = np.asarray((total / weights.sum()).astype(rows.dtype))
        rows -= mean
        if rows.nbytes <= MOST_CACHED:
            self._centred = rows
        spread = weights @ lloyd.squared_lengths(rows) / weights.sum()
        return mean, float(spread) / self.n_features

    @property
    def mean(self) -> FloatArray:
        """The mean of the drawn points, (n_features,)."""
        return self._moments[0]

    @property
    def centred(self) -> FloatArray:
        """The drawn points without their mean, (n_drawn, n_features)."""
        mean, _ = self._moments
        if self._centred is not None:
            return self._centred
        rows = self.points.X[self.drawn]
        rows -= mean
        return rows

    @property
    def variance(self) -> float:
        """Their variance, averaged over features."""
        return self._moments[1]

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
        weights = self._counts[None].astype(float)
        return fit_together(strategy, self.points, weights, members, self.n_features, words[None]).solution(0, 0)


class Members:
    """Settings of several fits to the same resample, as kernels read them.

    Parameters
    ----------
    settings : sequence of Settings
    n_features : int
    n_words : int or sequence of int
        How many words the seed of each has.
    """

    def __init__(self, settings: Sequence[Settings], n_features: int, n_words: int | Sequence[int]):
        known = [
            (s.n_clusters, s.n_init, s.max_iter, 0, fit_batch.n_uniforms(s.n_clusters), s.init is not None)
            for s in settings
        ]
        self.table = np.array(known, dtype=np.int64)  # (n_members, 6)
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


@dataclass(frozen=True, eq=False)
class Fits:
    """The best of all starts of every member in every resample."""

    members: Members
    centres: FloatArray  # (n_resamples, n_centres, n_features)
    inertia: FloatArray  # (n_resamples, n_members)
    n_iter: IntArray  # (n_resamples, n_members), 0 where nothing was fitted

    def solution(self, resample: int, member: int) -> Solution:
        """Return one of them."""
        place = slice(*self.members.borders[member : member + 2])
        n_iter = int(self.n_iter[resample, member])
        return Solution(self.centres[resample, place], float(self.inertia[resample, member]), n_iter)


def fit_together(
    strategy: Strategy, points: PointSet, weights: FloatArray, members: Members, n_features: int, words: IntArray
) -> Fits:
    """Fit all members to all resamples of a study, by features or by distances, in one call but for interrupts.

    Parameters
    ----------
    strategy : Strategy
    points : PointSet
    weights : ndarray of shape (n_resamples, n_points)
        How often each point was drawn.
    members : Members
    n_features : int
        How many the points had before they were rotated.
    words : ndarray of shape (n_resamples, n_members, n_words)
        Of the seeds.
    """
    (n, p), by_feature = points.X.shape, strategy is Strategy.BY_FEATURE
    places: tuple[FloatArray | None, ...]
    if by_feature:
        places = (np.require(points.by_feature, requirements=["C", "W"]), None, None)
    else:
        distances = np.require(points.distances(), requirements=["C", "W"])
        places = (None, distances, np.require(points.X, float, ["C", "W"]))
    starts, clusters = members.table[:, fit_batch.STARTS], members.table[:, fit_batch.CLUSTERS]
    most, n_picks = starts.max(), (starts * clusters).max()
    picks, labels = np.empty(n_picks, np.int64), np.empty(most * n, np.int32)
    room = (
        np.empty((starts * members.table[:, fit_batch.UNIFORMS]).max()),
        picks,
        np.empty(n),
        labels,
        np.empty(most),
        np.zeros(most, np.int64),
        np.empty(n_picks * p if by_feature else 0),
        labels[:0] if by_feature else labels.copy(),
        picks[:0] if by_feature else picks.copy(),
    )
    arrays = (weights, members.table, members.borders, members.tolerances, n_features, words, members.given, room)
    shape = (len(weights), len(members))
    fits = Fits(members, np.zeros((len(weights), members.n_centres, p)), np.zeros(shape), np.zeros(shape, np.int64))
    outcome = (fits.centres, fits.inertia, fits.n_iter, np.zeros(5, np.int64))
    run_in_pieces(fit_batch.fit_samples, *places, *arrays, *outcome, BUDGET)
    return fits


def _fit_by_product(resample: KMeansResample, settings: Settings, words: IntArray) -> Solution:
    weights = resample.weights
    if settings.init is None:
        tiled = resample.points.tiled(resample.drawn)
        uniforms = np.empty((settings.n_init, fit_batch.n_uniforms(settings.n_clusters)))
        streams.fill_uniforms(words, uniforms)
        picks = np.empty((settings.n_init, settings.n_clusters), np.int64)
        state = (np.empty(len(weights)), np.zeros(2, np.int64))
        run_in_pieces(first_centres.choose_centres, tiled, None, weights, uniforms, picks, *state, BUDGET)
        del tiled  # there may be no room for it beside the next copy
        table = resample.centred
        centres = table[picks]
    else:
        table = resample.centred
        centres = settings.init[None] - resample.mean
    centres = np.array(centres, dtype=float, order="C")  # (n_starts, n_clusters, n_features)
    labels = np.full((len(centres), len(weights)), -1, np.int32)
    inertia, steps = np.empty(len(centres)), np.zeros(len(centres), np.int64)
    bounds, sums = np.empty((2, len(weights))), np.empty(centres.shape[1:])
    arrays = (centres, labels, inertia, steps, bounds, sums)
    tol = settings.tol * resample.variance
    run_in_pieces(lloyd.lloyd_by_product, table, weights, *arrays, settings.max_iter, tol, BUDGET)
    best = int(inertia.argmin())
    return Solution(centres[best] + resample.mean, float(inertia[best]), int(-1 - steps[best]))


def nearest_centre(points: PointSet, centres: FloatArray) -> IntArray:
    """Give every point the nearest of the centres, the first of equal ones, (n_points,).

    Parameters
    ----------
    points : PointSet
        The points.
    centres : ndarray of shape (n_clusters, n_features)
        The centres.

    Returns
    -------
    ndarray of int, shape (n_points,)
    """
    borders, is_fitted = np.array([0, len(centres)]), np.ones((1, 1), dtype=bool)
    labels: IntArray = label_points(points, borders, centres[None], is_fitted, None)[0][0, 0]
    return labels


def label_points(
    points: PointSet, borders: IntArray, centres: FloatArray, is_fitted: BoolArray, weights: FloatArray | None
) -> tuple[IntArray, IntArray]:
    """Ask many functions about points, in one call.

    Parameters
    ----------
    points : PointSet
    borders : ndarray of shape (n_members + 1,)
        The first centre of every member.
    centres : ndarray of shape (n_functions, n_centres, n_features)
    is_fitted : ndarray of shape (n_functions, n_members)
        Other functions give every point label 0.
    weights : ndarray of shape (n_functions, n_points) or None
        Where the labels of points are counted.

    Returns
    -------
    labels : ndarray of shape (n_functions, n_members, n_points)
    n_found : ndarray of shape (n_functions, n_members)
        How many labels the points with a weight have; 0 without weights.
    """
    n_functions, n_members = is_fitted.shape
    labels = np.zeros((n_functions, n_members, len(points)), np.int32)
    n_found = np.zeros((n_functions, n_members), np.int64)
    if not is_fitted.any():
        return labels, n_found
    step = len(points) if weights is not None else min(LABELLED_AT_ONCE, max(1, BUDGET // centres[0].size))
    for begin in range(0, len(points), step):
        piece, whole = slice(begin, begin + step), step >= len(points)
        by_feature = np.require(points.by_feature if whole else points.turned(piece), requirements=["C", "W"])
        n = by_feature.shape[1]
        counted = np.empty((0, n)) if weights is None else weights
        of_piece = labels if whole else np.zeros((n_functions, n_members, n), np.int32)
        arrays = (centres, borders, is_fitted, counted, of_piece, n_found, np.zeros(2, np.int64))
        run_in_pieces(fit_batch.label_points, by_feature, *arrays, BUDGET)
        if not whole:
            labels[:, :, piece] = of_piece
            breathe()
    return labels, n_found


# ---------------------------------------------------------------------------------------------------------------------
# the learner


@dataclass(frozen=True, eq=False)
class CentresFunction(FittedFunction):
    """ψ of k-means: the nearest centre."""

    learner: Learner
    solution: Solution

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        """One for every centre."""
        return np.arange(len(self.solution.centres))

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return nearest_centre(self.learner.space(points), self.solution.centres)


# Read once: simulated data sets are fitted with the same configurations, hundreds of times.
_known_settings: WeakKeyDictionary[Configuration, Settings | None] = WeakKeyDictionary()


class KMeansLearner(Learner):
    """k-means by our own kernels; every number of clusters has its own starts."""

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is scikit-learn's class with parameters that the kernels have."""
        return type(clusterer) is KMeans and Settings.of(clusterer) is not None

    def on(self, device: str) -> Learner:
        """Return the learner that does the same on a GPU."""
        if device == PROCESSOR:
            return self
        from clustrep.gpu.kmeans import DeviceKMeansLearner  # imports PyTorch

        return DeviceKMeansLearner(self.members, self.rotation, device)

    @cached_property
    def _settings(self) -> dict[Configuration, Settings]:
        known = {} if self.rotation is not None else _known_settings
        for member in self.members:
            if member not in known:
                known[member] = Settings.of(member.clusterer, self.rotation)
        # Each has settings, or this learner would not apply.
        return {member: settings for member in self.members if (settings := known[member]) is not None}

    def settings_of(self, member: Configuration) -> Settings:
        """Return the settings of one member."""
        return self._settings[member]

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Turn the points; measure their distances where a member will ask for them."""
        for points in map(self.space, places):
            strategies = {settings.strategy(points) for settings in self._settings.values()}
            if strategies != {Strategy.BY_PRODUCT} or points.X.nbytes <= MOST_CACHED:
                points.by_feature  # noqa: B018
            if Strategy.BY_DISTANCE in strategies:
                points.distances()

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        n, p = self.space(points).X.shape
        return float(sum(10.0 * s.n_init * n * min(s.n_clusters * p, n) for s in self._settings.values()))

    def batch(self, places: Sequence[PointSet]) -> int:
        """Say how many replicates make a batch: of enough work, but not of too many labels."""
        work = sum(map(self.work, places))
        n_labels = sum(map(len, places)) * len(places) * len(self.members)
        return int(max(1, min(MOST_REPLICATES, BATCH_WORK / work, MOST_BYTES / (4 * n_labels))))

    def learn(self, resamples: Sequence[Resample], at: Sequence[Sequence[PointSet]] | None = None) -> Sequence[Fit]:
        """Learn from all resamples together, once one of them is asked for."""
        batch = Batch(self, resamples, [[] for _ in resamples] if at is None else at)
        return [_BatchFit(self, resample, batch, i) for i, resample in enumerate(resamples)]

    def label_batch(self, learned: Sequence[Fit]) -> LabelBatch | None:
        """Return the batch of these resamples."""
        return batch_of(learned)

    def share(self, resample: Resample) -> KMeansResample:
        """Prepare the drawn points."""
        return KMeansResample(self.space(resample.points), resample.draw.weights, resample.points.X.shape[1])

    def psi(self, shared: KMeansResample, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Find the centres."""
        settings = self._settings[configuration]
        return CentresFunction(self, shared.fit(settings, resample.seed(configuration.n_clusters)))

    def fitted(self, psi: CentresFunction, resample: Resample, configuration: Configuration) -> Clusterer:
        """Return the `KMeans` with these centres."""
        solution, X = psi.solution, resample.study.X
        centres = solution.centres if self.rotation is None else self.rotation.restore(solution.centres)
        fitted = clone(configuration.clusterer)
        fitted.cluster_centers_ = centres.astype(X.dtype)
        fitted.labels_ = psi.labels(resample.points)[resample.draw.order]
        fitted.inertia_, fitted.n_iter_ = solution.inertia, solution.n_iter
        fitted.n_features_in_ = X.shape[1]
        fitted._n_threads, fitted._n_features_out = 1, len(centres)  # what `predict` and `transform` need
        return fitted


# ---------------------------------------------------------------------------------------------------------------------
# batches


class Batch:
    """Samples that are fitted together, and what their clustering functions say of points.

    Parameters
    ----------
    learner : KMeansLearner
    resamples : sequence of Resample
    at : sequence of sequences of PointSet
        The points that the functions of every resample will be asked about, beside its own.
    """

    def __init__(self, learner: KMeansLearner, resamples: Sequence[Resample], at: Sequence[Sequence[PointSet]]):
        self.learner = learner
        self.resamples = resamples
        self.points: Sequence[PointSet] = [resample.points for resample in resamples]
        self.at = at
        self.settings = [learner.settings_of(member) for member in learner.members]
        self.classes = [np.arange(settings.n_clusters) for settings in self.settings]
        self.fewest = [member.fewest_clusters for member in learner.members]

    @cached_property
    def _words(self) -> tuple[IntArray, list[int]]:
        """The words of all seeds, (n_resamples, n_members, n_words), and how many of them count for every member."""
        prefixes = [resample.seed_words() for resample in self.resamples]
        n_words = 1 + max(map(len, prefixes))
        fixed = [None if s.random_state is None else words_of(s.random_state) for s in self.settings]
        lengths = [n_words if words is None else len(words) for words in fixed]
        words = np.zeros((len(prefixes), len(fixed), max(n_words, *lengths)), np.uint32)
        words[:, :, : n_words - 1] = np.array(prefixes, np.uint32)[:, None]
        words[:, :, n_words - 1] = [member.n_clusters or 0 for member in self.learner.members]
        for m, given in enumerate(fixed):
            if given is not None:
                words[:, m, : len(given)] = given
        return words, lengths

    @cached_property
    def _members(self) -> Members:
        return Members(self.settings, self.learner.space(self.resamples[0].points).X.shape[1], self._words[1])

    @property
    def _n_features(self) -> int:
        """How many features there are before points are rotated."""
        return int(self.resamples[0].points.X.shape[1])

    @property
    def _can_begin(self) -> BoolArray:
        """Which members have first centres, if any are given, with the features of the data, (n_members,)."""
        return np.array([s.n_init_features in (None, self._n_features) for s in self.settings])

    @cached_property
    def _by_points(self) -> dict[PointSet, tuple[list[int], FloatArray]]:
        """The places of all resamples of the same points, and how often each point was drawn, (n_places, n_points)."""
        by_points: dict[PointSet, list[int]] = defaultdict(list)
        for i, resample in enumerate(self.resamples):
            by_points[resample.points].append(i)
        return {
            points: (places, np.array([self.resamples[i].draw.weights for i in places], dtype=float))
            for points, places in by_points.items()
        }

    def weights_at(self, points: PointSet) -> FloatArray:
        """Return how often points were drawn, in all resamples of them, (n_replicates, n_points)."""
        return self._by_points[points][1]

    @cached_property
    def _fits(self) -> tuple[FloatArray, BoolArray]:
        """The centres of all members, (n_resamples, n_centres, n_features), and which of them were fitted."""
        members, (words, n_words) = self._members, self._words
        centres = np.zeros((len(self.resamples), members.n_centres, members.given.shape[1]))
        is_fitted = np.zeros((len(self.resamples), len(members)), dtype=bool)
        for unrotated, (places, weights) in self._by_points.items():
            points = self.learner.space(unrotated)
            strategies = [settings.strategy(points) for settings in self.settings]
            for strategy in (Strategy.BY_FEATURE, Strategy.BY_DISTANCE):  # members by products are fitted alone
                chosen = [m for m, best in enumerate(strategies) if best is strategy]
                if not chosen:
                    continue
                some = Members([self.settings[m] for m in chosen], centres.shape[2], [n_words[m] for m in chosen])
                seeds = np.ascontiguousarray(words[places][:, chosen])
                fits = fit_together(strategy, points, weights, some, self._n_features, seeds)
                for place, m in enumerate(chosen):
                    of_member = fits.centres[:, slice(*some.borders[place : place + 2])]
                    centres[places, slice(*members.borders[m : m + 2])] = of_member
                    is_fitted[places, m] = fits.n_iter[:, place] > 0
        return centres, is_fitted & self._can_begin

    @property
    def n_labels(self) -> tuple[int, ...]:
        """How many labels each member can give."""
        return tuple(settings.n_clusters for settings in self.settings)

    @property
    def n_found(self) -> IntArray | None:
        """How many labels resamples have in their own draws, (n_resamples, n_members); None where any fit failed."""
        n_found = self._of_resamples[1]
        return n_found if (n_found >= np.maximum(1, self.fewest)).all() else None

    @cached_property
    def _of_resamples(self) -> tuple[dict[PointSet, tuple[list[int], IntArray]], IntArray]:
        """What functions say of their own resamples' points, with the resamples' places; how many labels draws have."""
        centres, is_fitted = self._fits
        n_found = np.zeros(is_fitted.shape, np.int64)
        by_points: dict[PointSet, tuple[list[int], IntArray]] = {}
        for points, (places, weights) in self._by_points.items():
            labels, n_found[places] = label_points(
                self.learner.space(points), self._members.borders, centres[places], is_fitted[places], weights
            )
            by_points[points] = places, labels
        return by_points, n_found

    def labels_at(self, points: PointSet, places: Sequence[int]) -> IntArray:
        """Return what the functions of some resamples say of points, (n_places, n_members, n_points)."""
        of_samples, some = self._of_resamples[0], list(places)
        if points in of_samples and of_samples[points][0] == some:
            return of_samples[points][1]
        centres, is_fitted = self._fits
        borders = self._members.borders
        return label_points(self.learner.space(points), borders, centres[some], is_fitted[some], None)[0]

    @cached_property
    def _labels(self) -> tuple[dict[tuple[int, PointSet], IntArray], IntArray]:
        """What functions say of points, each (n_members, n_points), and how many labels they give to their own draw."""
        of_samples, n_found = self._of_resamples
        known = {
            (i, points): row
            for points, (places, rows) in of_samples.items()
            for i, row in zip(places, rows, strict=True)
        }
        others: dict[PointSet, list[int]] = defaultdict(list)
        for i, resample in enumerate(self.resamples):
            for points in dict.fromkeys(self.at[i]):
                if points is not resample.points:
                    others[points].append(i)
        for points, places in others.items():
            rows = self.labels_at(points, places)
            known.update({(i, points): row for i, row in zip(places, rows, strict=True)})
        return known, n_found

    def labelled(self, i: int, member: int, at: Sequence[PointSet]) -> Labelled | None:
        """Return the labels of points by one function; None where it was not fitted, or has too few clusters."""
        known, n_found = self._labels
        if n_found[i, member] < max(1, self.fewest[member]):
            return None
        codes = [self._codes(i, member, points, known) for points in at]
        partitions = [Partition(of_points, self.classes[member]) for of_points in codes]
        return Labelled(partitions, int(n_found[i, member]))

    def _codes(self, i: int, member: int, points: PointSet, known: dict[tuple[int, PointSet], IntArray]) -> IntArray:
        of_points = known.get((i, points))
        return np.asarray((self.labels_at(points, [i])[0] if of_points is None else of_points)[member])


def batch_of(learned: Sequence[Fit]) -> Batch | None:
    """Return the batch in which resamples were learned from together; None where there are no resamples."""
    first = next(iter(learned), None)
    return first.batch if isinstance(first, _BatchFit) else None


@dataclass(frozen=True, eq=False)
class _BatchFit(Fit):
    batch: Batch
    number: int

    def labels(self, member: int, at: Sequence[PointSet]) -> Labelled | Failed:
        labelled = self.batch.labelled(self.number, member, at)
        return super().labels(member, at) if labelled is None else labelled  # alone, it gives its cause of failure
