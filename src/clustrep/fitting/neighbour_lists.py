"""Nearest neighbours that are found once and serve every draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clustrep.fitting.learners import Learner
from clustrep.fitting.neighbours import by_tree, certain_nearest, nearest_of, nearest_point, searches_on
from clustrep.fitting.resample import PointSet
from clustrep.types import FloatArray, IntArray

# Points in a list. A draw of the bootstrap has 63 % of a study's points: it lacks all eight of
# one point in 3,000.
LISTED = 8


# Bytes of all lists of a run.
MOST_CACHED = 10**9


def cache_lists(places: Sequence[PointSet], asked: Sequence[PointSet]) -> None:
    """Find the lists of all points asked about in all places, unless distances between all are cached."""
    if 4 * LISTED * len(places) * sum(map(len, asked)) > MOST_CACHED:
        return
    for points in (points for points in places if not points.caches_others):
        for others in asked:
            if points.nearest_cached(others) is None:
                points.cache_nearest(others, certain_nearest(points.X, others.X, LISTED))


@dataclass(frozen=True, eq=False)
class NearestDrawn:
    """Which of a study's drawn points is nearest to each point of a set: by lists or distances that are cached.

    position : (n_points,), which of the points searched each of the study's is; -1 where it is none of them
    search : finds it among the points searched, (n_rows,)
    directly : whether this takes no longer than to look at cached distances
    """

    points: PointSet | None  # None: without lists and distances, as in another process
    position: IntArray
    search: Callable[[FloatArray], IntArray]
    metric: str = "euclidean"
    directly: bool = True

    @classmethod
    def of(cls, points: PointSet, drawn: IntArray, metric: str, device: str) -> NearestDrawn:
        """Search some of the points."""
        position = np.full(len(points), -1)
        position[drawn] = np.arange(len(drawn))
        search = nearest_point(points.X[drawn], metric, device=device)
        known = None if searches_on(device, metric) else points
        return cls(known, position, search, metric, by_tree(metric, points.X.shape[1]))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "points": None}

    def __call__(self, others: PointSet) -> IntArray:
        """Return its position for every other point, (n_others,)."""
        if self.points is None:
            return self.search(others.X)
        if self.metric == "euclidean" and (lists := self.points.nearest_cached(others)) is not None:
            candidates = np.append(self.position, -1)[lists]  # also -1 where a list ends
            listed = np.take_along_axis(candidates, (candidates >= 0).argmax(axis=1)[:, None], axis=1)[:, 0]
            lacking = np.flatnonzero(listed < 0)
            if len(lacking):
                listed[lacking] = self.search(others.X[lacking])
            return np.asarray(listed)
        if self.directly or not (self.points.caches_others and others.caches_others):
            return self.search(others.X)
        distances = self.points.distances_from(others, "sqeuclidean" if self.metric == "euclidean" else self.metric)
        drawn = np.flatnonzero(self.position >= 0)
        return nearest_of(distances if len(drawn) == len(self.position) else np.take(distances, drawn, axis=1))


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
