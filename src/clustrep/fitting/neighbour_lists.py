"""Nearest neighbours by pynndescent: not all of them are the nearest, and how many are is measured.

Asked for by name with `config_context(neighbours="pynndescent")` or `--neighbours pynndescent`. An index of every study
is made once, with a seed that follows from the run's and the study's name; draws take their neighbours from its lists.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clustrep.execution.devices import PROCESSOR
from clustrep.execution.seeds import make_generator, one_at_a_time
from clustrep.fitting.learners import Learner
from clustrep.fitting.neighbours import (
    Metric,
    by_tree,
    certain_nearest,
    nearest_of,
    nearest_point,
    neighbours,
    scipy_metric,
    searches_on,
)
from clustrep.fitting.resample import PointSet
from clustrep.types import FloatArray, IntArray

# pynndescent's names of the metrics that it finds neighbours by; others are searched exactly.
METRICS = {
    "euclidean": "euclidean",
    "cityblock": "manhattan",
    "chebyshev": "chebyshev",
    "cosine": "cosine",
    "correlation": "correlation",
}


# Of fewer points, all distances are computed sooner than an index.
FEWEST_POINTS = 1000


# Neighbours of each point in an index, at least: pynndescent's own number.
LEAST_NEIGHBOURS = 30


# How much farther than the nearest so far pynndescent looks on; 0.1 unless it is told otherwise, less is faster.
EPSILON = 0.2


# Points of a study by which recall is measured.
TESTED = 200


def approximates(points: PointSet, metric: Metric) -> bool:
    """Whether neighbours among these points are found approximately."""
    return points.seed is not None and scipy_metric(metric) in METRICS and len(points) >= FEWEST_POINTS


@dataclass(frozen=True, eq=False)
class Index:
    """An index of points by pynndescent."""

    points: FloatArray
    metric: str  # SciPy's name
    descent: Any
    seed: np.random.SeedSequence

    @classmethod
    def of(cls, points: FloatArray, n_neighbours: int, metric: Metric, seed: np.random.SeedSequence) -> Index:
        """Make one, in a single thread and with a fixed seed: the same for any number of workers."""
        from pynndescent import NNDescent  # compiles when it is imported

        name = str(scipy_metric(metric))
        with one_at_a_time, warnings.catch_warnings():  # numba's threads are those of the whole process
            warnings.simplefilter("ignore")  # of lists that are not full, which are completed here
            descent = NNDescent(
                points,
                metric=METRICS[name],
                n_neighbors=min(max(n_neighbours, LEAST_NEIGHBOURS) + 1, len(points)),
                random_state=int(make_generator(seed).integers(2**31)),
                n_jobs=1,
            )
        return cls(points, name, descent, seed)

    def neighbours(self, n_neighbours: int) -> IntArray:
        """Return the nearest others of every point, nearest first, (n_points, n_neighbours)."""
        graph = np.asarray(self.descent.neighbor_graph[0], dtype=np.int64)
        others = np.argsort(graph == np.arange(len(graph))[:, None], axis=1, kind="stable")  # the point itself last
        result = np.take_along_axis(graph, others, axis=1)[:, :n_neighbours]
        lacking = np.flatnonzero((result < 0).any(axis=1))
        if len(lacking):
            result[lacking] = neighbours(self.points, n_neighbours, self.metric, rows=lacking)
        return result

    def nearest(self, X: FloatArray, n_nearest: int) -> IntArray:
        """Return the nearest points of every row of X, nearest first, (n_rows, n_nearest)."""
        with one_at_a_time, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(self.descent.query(X, k=n_nearest, epsilon=EPSILON)[0], dtype=np.int32)

    def recall_of_neighbours(self, lists: IntArray, n_neighbours: int) -> float:
        """Return which share of the nearest others is in lists of them, for some points."""
        rows = self._some(len(self.points))
        exact = neighbours(self.points, n_neighbours, self.metric, rows=rows)
        return float((exact[:, :, None] == lists[rows, None, :n_neighbours]).any(axis=2).mean())

    def recall_of_nearest(self, lists: IntArray, X: FloatArray) -> float:
        """Return for which share of some rows of X the first of the list is the nearest; of equal points any."""
        rows = self._some(len(X))
        exact = self.points[nearest_point(self.points, self.metric)(X[rows])]
        return float((self.points[lists[rows, 0]] == exact).all(axis=1).mean())

    def _some(self, n: int) -> IntArray:
        rows = make_generator(self.seed).permutation(n)[:TESTED]
        return np.sort(rows)


def approximate_neighbours(
    points: PointSet, distinct: FloatArray, n_kept: int, n_needed: int, metric: Metric
) -> IntArray:
    """Return the nearest others of a study's different points, and record how many of those needed are right."""
    assert points.seed is not None
    index = Index.of(distinct, n_kept, metric, points.seed)
    lists = index.neighbours(n_kept)
    points.recall["graph"] = index.recall_of_neighbours(lists, n_needed)
    return lists


def cache_approximate_lists(points: PointSet, asked: list[PointSet], n_kept: int) -> None:
    """Find the lists of all points asked about; record for how many, of the worst set, the nearest is right."""
    if not asked:
        return
    assert points.seed is not None
    index = Index.of(points.X, n_kept, "euclidean", points.seed)
    recalls = []
    for others in asked:
        lists = index.nearest(others.X, n_kept)
        points.cache_nearest(others, lists)
        if others is not points:  # each of its own points is the nearest to itself
            recalls.append(index.recall_of_nearest(lists, others.X))
    if recalls:
        points.recall["nearest"] = min(recalls)


# ---------------------------------------------------------------------------------------------------------------------
# The nearest few of a study's points for every point of another set: found once, they serve every draw


# Points in a list, for each that is needed. A draw of the bootstrap has 63 % of a study's points: it lacks all eight of
# one point in 3,000.
LISTED = 8


# Bytes of all lists of a run.
MOST_CACHED = 10**9


def cache_lists(
    places: Sequence[PointSet], asked: Sequence[PointSet], n_nearest: int = 1, *, each_alone: bool = False
) -> None:
    """Find the lists of all points that are asked about in all places, unless distances between all are cached anyway.

    each_alone : only the points of a place itself are asked about, and once: an exact search needs no lists for that
    """
    n_kept = LISTED * n_nearest
    small = 4 * n_kept * len(places) * sum(map(len, asked)) <= MOST_CACHED
    for points in places:
        unknown = [
            others for others in ([points] if each_alone else asked) if points.nearest_cached(others, n_kept) is None
        ]
        if approximates(points, "euclidean"):
            cache_approximate_lists(points, unknown, n_kept)
        elif small and not each_alone and not points.caches_others:
            for others in unknown:
                points.cache_nearest(others, certain_nearest(points.X, others.X, n_kept))


@dataclass(frozen=True, eq=False)
class NearestOfDrawn:
    """Which of a study's drawn points are nearest to each point of a set: by lists, where there are any.

    position : (n_points,), which of the points searched each of the study's is; -1 where it is none of them
    search : finds them among the points searched, (n_rows,) or (n_rows, n_nearest)
    """

    points: PointSet | None  # None: without lists, as in another process
    position: IntArray
    search: Callable[[FloatArray], IntArray]
    n_nearest: int = 1

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "points": None}

    def __call__(self, others: PointSet) -> IntArray:
        """Return their positions for every other point, (n_others, n_nearest)."""
        lists = None if self.points is None else self.points.nearest_cached(others, self.n_nearest)
        if lists is None:
            return self.search(others.X).reshape(len(others), -1)
        candidates = np.append(self.position, -1)[lists]  # also -1 where a list ends
        if self.n_nearest == 1:
            first = (candidates >= 0).argmax(axis=1)[:, None]
        else:
            candidates = without_repeats(candidates)
            first = np.argsort(candidates < 0, axis=1, kind="stable")[:, : self.n_nearest]
        listed = np.take_along_axis(candidates, first, axis=1)
        lacking = np.flatnonzero((listed < 0).any(axis=1))
        if len(lacking):
            listed[lacking] = self.search(others.X[lacking]).reshape(len(lacking), -1)
        return np.asarray(listed)


def without_repeats(positions: IntArray) -> IntArray:
    """Return rows in which every position stands once: copies of a point, which are one, count once."""
    result = positions.copy()
    for column in range(1, positions.shape[1]):
        repeated = (positions[:, :column] == positions[:, [column]]).any(axis=1)
        result[repeated, column] = -1
    return result


class Neighbours:
    """Which of some points is nearest to each point of a set: found once for all numbers of clusters."""

    def __init__(self, learner: Learner, nearest: Callable[[PointSet], IntArray]):
        self._learner = learner
        self._nearest = nearest
        self._known: WeakKeyDictionary[PointSet, IntArray] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return Neighbours, (self._learner, self._nearest)

    def of(self, points: PointSet) -> IntArray:
        """Return the nearest of the known points for every point."""
        if points not in self._known:
            self._known[points] = self._nearest(self._learner.space(points))
        return self._known[points]


class NearestDrawn:
    """Which of the drawn points is nearest to each point of a set: from cached distances, where there are any."""

    def __init__(self, points: PointSet, drawn: IntArray, metric: str, device: str = PROCESSOR):
        self._points: PointSet | None = points
        self._drawn = drawn
        self._metric = "sqeuclidean" if metric == "euclidean" else metric
        self._search = nearest_point(points.X[drawn], metric, device=device)
        self._directly = by_tree(metric, points.X.shape[1]) or searches_on(device, metric)
        self._by_lists = metric == "euclidean" and not searches_on(device, metric)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_points": None}

    def __call__(self, others: PointSet) -> IntArray:
        """Return the position of the nearest drawn point for every other point."""
        if self._by_lists and self._points is not None and self._points.nearest_cached(others) is not None:
            position = np.full(len(self._points), -1)
            position[self._drawn] = np.arange(len(self._drawn))
            return NearestOfDrawn(self._points, position, self._search)(others)[:, 0]
        if self._directly and others is self._points and others.are_distinct:
            return self._of_themselves(others)
        if self._directly or self._points is None or not (self._points.caches_others and others.caches_others):
            return self._search(others.X)
        distances = self._points.distances_from(others, self._metric)
        drawn_all = len(self._drawn) == len(self._points)
        return nearest_of(distances if drawn_all else np.take(distances, self._drawn, axis=1))

    def _of_themselves(self, points: PointSet) -> IntArray:
        """Return the same where no two of the points are equal: a drawn one is its own neighbour."""
        nearest = np.full(len(points), -1)
        nearest[self._drawn] = np.arange(len(self._drawn))
        others = np.flatnonzero(nearest < 0)
        if others.size:
            nearest[others] = self._search(points.X[others])
        return nearest
