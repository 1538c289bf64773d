"""Leiden and Louvain, whose graph of neighbours serves every resolution."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clustrep.execution.devices import PROCESSOR
from clustrep.fitting.communities import (
    Communities,
    Leiden,
    Louvain,
    NeighbourGraph,
    distinct_rows,
)
from clustrep.fitting.learners import FittedFunction, Learner
from clustrep.fitting.neighbour_lists import NearestDrawn, Neighbours
from clustrep.fitting.neighbours import Metric, nearest_point, neighbours, scipy_metric
from clustrep.fitting.parameters import Clusterer, Configuration, with_seed
from clustrep.fitting.resample import Cached, PointSet, Resample
from clustrep.types import FloatArray, IntArray, Labels

# Neighbours of a study's points that are cached for all draws, for each that a graph needs. A draw of the bootstrap has
# 63 % of the points: fewer than 15 of 45 neighbours are drawn once in 100,000 points.
CACHED_NEIGHBOURS = 3


@dataclass(frozen=True, eq=False)
class DistinctPoints:
    """The different points of a study, in the order of their coordinates, with the nearest others of each."""

    points: FloatArray  # (n_distinct, n_features)
    inverse: IntArray  # which of them each row of the study is
    nearest: dict[tuple[int, Metric], IntArray] = field(default_factory=dict)  # (n_distinct, n_kept), nearest first

    @classmethod
    def of(cls, points: PointSet) -> DistinctPoints:
        """Take the points of a study."""
        return cls(*distinct_rows(points.X))

    def keep(self, n_neighbors: int, metric: Metric) -> None:
        """Find the nearest others of every point, more than a graph of all of them needs."""
        n_kept = min(CACHED_NEIGHBOURS * n_neighbors, len(self.points) - 1)
        if not n_kept or (n_neighbors, metric) in self.nearest:
            return
        self.nearest[n_neighbors, metric] = neighbours(self.points, n_kept, metric)

    def drawn(self, weights: IntArray) -> IntArray:
        """Return which of them are in a draw."""
        return np.unique(self.inverse[weights > 0])

    def positions(self, drawn: IntArray) -> IntArray:
        """Return at which place each of them is among the drawn, (n_distinct,); -1 where it is not."""
        position = np.full(len(self.points), -1)
        position[drawn] = np.arange(len(drawn))
        return position

    def neighbours_in(self, drawn: IntArray, n_neighbors: int, metric: Metric) -> IntArray:
        """Return the nearest others of every drawn point among the drawn, (n_drawn, n_nearest), as their positions."""
        n_nearest = min(n_neighbors, len(drawn) - 1)
        if (cached := self.nearest.get((n_neighbors, metric))) is None or n_nearest < n_neighbors:
            return neighbours(self.points[drawn], n_nearest, metric)
        candidates = self.positions(drawn)[cached[drawn]]  # (n_drawn, n_kept)
        first = np.argsort(candidates < 0, axis=1, kind="stable")[:, :n_nearest]
        result = np.take_along_axis(candidates, first, axis=1)
        lacking = np.flatnonzero((result < 0).any(axis=1))
        if len(lacking):
            result[lacking] = neighbours(self.points[drawn], n_nearest, metric, rows=lacking)
        return result


class Graphs:
    """What all clusterings of one resample share: graphs of neighbours, and the nearest points of others."""

    def __init__(self, learner: Learner, points: PointSet, distinct: DistinctPoints, drawn: IntArray):
        self._learner = learner
        self._points = points
        self._distinct = distinct
        self._drawn = drawn
        self._known: dict[Hashable, Any] = {}

    def graph(self, n_neighbors: int, metric: Metric) -> NeighbourGraph:
        """Return the graph of the drawn points."""
        if ("graph", n_neighbors, metric) not in self._known:
            nearest = self._distinct.neighbours_in(self._drawn, n_neighbors, metric)
            self._known["graph", n_neighbors, metric] = NeighbourGraph.of(nearest)
        graph: NeighbourGraph = self._known["graph", n_neighbors, metric]
        return graph

    def search(self, metric: Metric) -> Neighbours:
        """Return what finds the nearest drawn points of any point set, once for all resolutions."""
        if ("search", metric) not in self._known:
            points, scipys, device = self._distinct.points[self._drawn], scipy_metric(metric), self._learner.device
            search = nearest_point(points, scipys, device=device)
            position = self._distinct.positions(self._drawn)[self._distinct.inverse]
            by_lists = scipys == "euclidean" and device == PROCESSOR
            nearest = NearestDrawn(self._points if by_lists else None, position, search)
            self._known["search", metric] = Neighbours(self._learner, nearest)
        known: Neighbours = self._known["search", metric]
        return known


@dataclass(frozen=True, eq=False)
class CommunityFunction(FittedFunction):
    """ψ of communities: the cluster of the nearest drawn point."""

    codes: IntArray  # of every drawn point
    neighbours: Neighbours
    clusterer: Communities

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        """All communities."""
        return np.arange(int(self.codes.max()) + 1)

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return np.asarray(self.codes[self.neighbours.of(points)])


class CommunityLearner(Learner):
    """Leiden or Louvain: one graph, in which communities are found at every resolution."""

    takes_series = True
    compiled = in_threads = False  # igraph has one source of random numbers for all threads
    takes_weights = False

    def __init__(self, members: Sequence[Configuration], rotation: None):
        super().__init__(members, rotation)
        self._cached: Cached[PointSet, DistinctPoints] = Cached()

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is one of the two, with a metric that does not depend on the points."""
        if type(clusterer) not in (Leiden, Louvain):
            return False
        return scipy_metric(clusterer.metric) not in ("seuclidean", "mahalanobis")

    @property
    def searches(self) -> bool:
        """Whether any member gives a point the label of the nearest by Euclidean distance."""
        return any(scipy_metric(member.clusterer.metric) == "euclidean" for member in self.members)

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Find the nearest neighbours within studies."""
        for points in places:
            self._cached[points] = distinct = DistinctPoints.of(points)
            for member in self.members:
                member.clusterer.check()
                distinct.keep(member.clusterer.n_neighbors, member.clusterer.metric)

    def share(self, resample: Resample) -> Graphs:
        """Say which points are drawn; graphs are made when they are needed."""
        distinct = self._cached.get(resample.points) or DistinctPoints.of(resample.points)
        return Graphs(self, resample.points, distinct, distinct.drawn(resample.draw.weights))

    def psi(self, shared: Graphs, resample: Resample, configuration: Configuration) -> FittedFunction:
        """Find the communities."""
        clusterer = with_seed(configuration.clusterer, resample.seed(configuration.n_clusters))
        clusterer.check()
        codes = clusterer.communities(shared.graph(clusterer.n_neighbors, clusterer.metric))
        return CommunityFunction(codes, shared.search(clusterer.metric), clusterer)

    def fitted(self, psi: CommunityFunction, resample: Resample, configuration: Configuration) -> Clusterer:
        """Fit the drawn rows written out, with the seed of the resample: the same clusters."""
        return psi.clusterer.fit(resample.draw.sample)
