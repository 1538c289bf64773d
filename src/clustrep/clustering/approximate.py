"""Nearest neighbours by pynndescent: not all of them are the nearest, and how many are is measured.

Asked for by name with `config_context(neighbours="pynndescent")` or `--neighbours pynndescent`. An index of every study
is made once, with a seed that follows from the run's and the study's name; draws take their neighbours from its lists.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from clustrep.clustering.neighbours import Metric, nearest_point, neighbours, scipy_metric
from clustrep.clustering.sample import PointSet
from clustrep.engine.replicates import make_generator, one_at_a_time
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
    """Return the nearest others of a study's different points, and keep how many of those needed are right."""
    assert points.seed is not None
    index = Index.of(distinct, n_kept, metric, points.seed)
    lists = index.neighbours(n_kept)
    points.recall["graph"] = index.recall_of_neighbours(lists, n_needed)
    return lists


def keep_approximate_lists(points: PointSet, asked: list[PointSet], n_kept: int) -> None:
    """Find the lists of all points that are asked about; keep for how many, of the worst set, the nearest is right."""
    if not asked:
        return
    assert points.seed is not None
    index = Index.of(points.X, n_kept, "euclidean", points.seed)
    recalls = []
    for others in asked:
        lists = index.nearest(others.X, n_kept)
        points.keep_nearest(others, lists)
        if others is not points:  # each of its own points is the nearest to itself
            recalls.append(index.recall_of_nearest(lists, others.X))
    if recalls:
        points.recall["nearest"] = min(recalls)
