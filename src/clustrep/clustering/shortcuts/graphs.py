"""Leiden and Louvain: one graph of neighbours per sample serves every resolution."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from clustrep.clustering.approximate import approximate_neighbours, approximates
from clustrep.clustering.communities import (
    Communities,
    Leiden,
    Louvain,
    NeighbourGraph,
    distinct_rows,
    majority,
    search_for,
)
from clustrep.clustering.nearest_lists import NearestOfDrawn
from clustrep.clustering.neighbours import Metric, neighbours, scipy_metric
from clustrep.clustering.parameters import Clusterer, with_seed
from clustrep.clustering.path import Path, Psi
from clustrep.clustering.sample import Configuration, PointSet, Sample
from clustrep.clustering.shortcuts.nearest import Neighbours
from clustrep.device.available import PROCESSOR
from clustrep.types import FloatArray, IntArray, Labels

# Neighbours of a study's points that are kept for all draws, for each that a graph needs. A draw of the bootstrap has
# 63 % of the points: it lacks so many of three times 15 neighbours once in 100,000 points.
KEPT_NEIGHBOURS = 3


@dataclass(frozen=True, eq=False)
class KeptPoints:
    """The different points of a study, in the order of their coordinates, with the nearest others of each."""

    points: FloatArray  # (n_distinct, n_features)
    inverse: IntArray  # which of them each row of the study is
    study: PointSet
    nearest: dict[tuple[int, Metric], IntArray] = field(default_factory=dict)  # (n_distinct, n_kept), nearest first

    @classmethod
    def of(cls, points: PointSet) -> KeptPoints:
        """Take the points of a study."""
        return cls(*distinct_rows(points.X), points)

    def keep(self, n_neighbors: int, metric: Metric) -> None:
        """Find the nearest others of every point, more than a graph of all of them needs."""
        n_kept = min(KEPT_NEIGHBOURS * n_neighbors, len(self.points) - 1)
        if not n_kept or (n_neighbors, metric) in self.nearest:
            return
        if approximates(self.study, metric) and len(self.points) > n_kept + 1:
            nearest = approximate_neighbours(self.study, self.points, n_kept, n_neighbors, metric)
        else:
            nearest = neighbours(self.points, n_kept, metric)
        self.nearest[n_neighbors, metric] = nearest

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
        if (kept := self.nearest.get((n_neighbors, metric))) is None or n_nearest < n_neighbors:
            return neighbours(self.points[drawn], n_nearest, metric)
        candidates = self.positions(drawn)[kept[drawn]]  # (n_drawn, n_kept)
        first = np.argsort(candidates < 0, axis=1, kind="stable")[:, :n_nearest]
        result = np.take_along_axis(candidates, first, axis=1)
        lacking = np.flatnonzero((result < 0).any(axis=1))
        if len(lacking):
            result[lacking] = neighbours(self.points[drawn], n_nearest, metric, rows=lacking)
        return result


class Graphs:
    """What all clusterings of one sample share: graphs of neighbours, and the nearest points of others."""

    def __init__(self, path: Path, points: PointSet, kept: KeptPoints, drawn: IntArray):
        self._path = path
        self._points = points
        self._kept = kept
        self._drawn = drawn
        self._known: dict[Hashable, Any] = {}

    def graph(self, n_neighbors: int, metric: Metric) -> NeighbourGraph:
        """Return the graph of the drawn points."""
        if ("graph", n_neighbors, metric) not in self._known:
            nearest = self._kept.neighbours_in(self._drawn, n_neighbors, metric)
            self._known["graph", n_neighbors, metric] = NeighbourGraph.of(nearest)
        graph: NeighbourGraph = self._known["graph", n_neighbors, metric]
        return graph

    def search(self, n_votes: int, metric: Metric) -> Neighbours:
        """Return what finds the nearest drawn points of any point set, once for all resolutions."""
        if ("search", n_votes, metric) not in self._known:
            search = search_for(self._kept.points[self._drawn], metric, n_votes, self._path.device)
            position = self._kept.positions(self._drawn)[self._kept.inverse]
            by_lists = scipy_metric(metric) == "euclidean" and self._path.device == PROCESSOR
            points, n_nearest = self._points if by_lists else None, min(n_votes, len(self._drawn))
            nearest = Neighbours(self._path, NearestOfDrawn(points, position, search, n_nearest))
            self._known["search", n_votes, metric] = nearest
        known: Neighbours = self._known["search", n_votes, metric]
        return known


@dataclass(frozen=True, eq=False)
class CommunityPsi(Psi):
    """ψ of communities: the cluster of the nearest drawn point, or of most of several."""

    codes: IntArray  # of every drawn point
    neighbours: Neighbours
    clusterer: Communities

    @property
    def classes(self) -> Labels:  # type: ignore[override]
        """All communities."""
        return np.arange(int(self.codes.max()) + 1)

    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""
        return majority(self.codes[self.neighbours.of(points)])


class CommunityPath(Path):
    """Leiden or Louvain: one graph, in which communities are found at every resolution."""

    takes_series = True
    compiled = in_threads = False  # igraph has one source of random numbers for all threads
    takes_weights = False

    def __init__(self, members: Sequence[Configuration], rotation: None):
        super().__init__(members, rotation)
        self._kept: WeakKeyDictionary[PointSet, KeptPoints] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": dict(self._kept)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept=WeakKeyDictionary(state["_kept"]))

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether it is one of the two, with a metric that does not depend on the points."""
        if type(clusterer) not in (Leiden, Louvain):
            return False
        return scipy_metric(clusterer.metric) not in ("seuclidean", "mahalanobis")

    @property
    def n_nearest(self) -> int:
        """How many nearest points have a vote, at most."""
        euclidean = [m.clusterer.n_votes for m in self.members if scipy_metric(m.clusterer.metric) == "euclidean"]
        return max(euclidean, default=0)

    @property
    def searches(self) -> bool:
        """Whether any member gives a point the label of the nearest by Euclidean distance."""
        clusterers = [member.clusterer for member in self.members]
        return any(c.n_votes == 1 and scipy_metric(c.metric) == "euclidean" for c in clusterers)

    def prepare(self, places: Sequence[PointSet]) -> None:
        """Find the nearest neighbours within studies."""
        for points in places:
            self._kept[points] = kept = KeptPoints.of(points)
            for member in self.members:
                member.clusterer.check()
                kept.keep(member.clusterer.n_neighbors, member.clusterer.metric)

    def share(self, sample: Sample) -> Graphs:
        """Say which points are drawn; graphs are made when they are needed."""
        kept = self._kept.get(sample.points) or KeptPoints.of(sample.points)
        return Graphs(self, sample.points, kept, kept.drawn(sample.draw.weights))

    def psi(self, shared: Graphs, sample: Sample, configuration: Configuration) -> Psi:
        """Find the communities."""
        clusterer = with_seed(configuration.clusterer, sample.seed(configuration.n_clusters))
        clusterer.check()
        codes = clusterer.communities(shared.graph(clusterer.n_neighbors, clusterer.metric))
        return CommunityPsi(codes, shared.search(clusterer.n_votes, clusterer.metric), clusterer)

    def fitted(self, psi: CommunityPsi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Fit the drawn rows written out, with the seed of the sample: the same clusters."""
        return psi.clusterer.fit(sample.draw.sample)
