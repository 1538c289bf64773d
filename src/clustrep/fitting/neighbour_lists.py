"""Nearest neighbours that are found once and serve every draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clustrep.execution.devices import PROCESSOR
from clustrep.fitting.learners import Learner
from clustrep.fitting.neighbours import by_tree, certain_nearest, nearest_of, nearest_point, searches_on
from clustrep.fitting.resample import PointSet
from clustrep.types import FloatArray, IntArray

# Points in a list, for each that is needed. A draw of the bootstrap has 63 % of a study's points: it lacks all eight of
# one point in 3,000.
LISTED = 8


# Bytes of all lists of a run.
MOST_CACHED = 10**9


def cache_lists(places: Sequence[PointSet], asked: Sequence[PointSet], n_nearest: int = 1) -> None:
    """Find the lists of all points asked about in all places, unless distances between all are cached."""
    n_kept = LISTED * n_nearest
    if 4 * n_kept * len(places) * sum(map(len, asked)) > MOST_CACHED:
        return
    for points in (points for points in places if not points.caches_others):
        for others in asked:
            if points.nearest_cached(others, n_kept) is None:
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
        if self._directly or self._points is None or not (self._points.caches_others and others.caches_others):
            return self._search(others.X)
        distances = self._points.distances_from(others, self._metric)
        drawn_all = len(self._drawn) == len(self._points)
        return nearest_of(distances if drawn_all else np.take(distances, self._drawn, axis=1))
