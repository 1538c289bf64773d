"""The label of the nearest drawn point, for all clusterers without a `predict` of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clustrep.clustering.nearest_lists import NearestOfDrawn
from clustrep.clustering.neighbours import by_tree, nearest_of, nearest_point, searches_on
from clustrep.clustering.path import Path
from clustrep.clustering.sample import PointSet
from clustrep.device.available import PROCESSOR
from clustrep.types import IntArray

# ---------------------------------------------------------------------------------------------------------------------
# agglomerative clustering


class Neighbours:
    """Which of some points is nearest to each point of a set: found once for all numbers of clusters."""

    def __init__(self, path: Path, nearest: Callable[[PointSet], IntArray]):
        self._path = path
        self._nearest = nearest
        self._known: WeakKeyDictionary[PointSet, IntArray] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return Neighbours, (self._path, self._nearest)

    def of(self, points: PointSet) -> IntArray:
        """Return the nearest of the known points for every point."""
        if points not in self._known:
            self._known[points] = self._nearest(self._path.space(points))
        return self._known[points]


class NearestDrawn:
    """Which of the drawn points is nearest to each point of a set: from kept distances, where there are any."""

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
        if self._by_lists and self._points is not None and self._points.nearest_kept(others) is not None:
            position = np.full(len(self._points), -1)
            position[self._drawn] = np.arange(len(self._drawn))
            return NearestOfDrawn(self._points, position, self._search)(others)[:, 0]
        if self._directly and others is self._points and others.are_distinct:
            return self._of_themselves(others)
        if self._directly or self._points is None or not (self._points.keeps_others and others.keeps_others):
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
