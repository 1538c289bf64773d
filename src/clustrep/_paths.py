"""Configurations that are learned together, and how any clusterer is learned by itself.

A path is a clusterer with several numbers of clusters, or with one. `accelerate=False` makes every path a plain one:
the clusterer itself, fitted to the rows written out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from clustrep._engine import Failed, ReplicateFailure, attempt
from clustrep._learning import FEW_DISTINCT_POINTS, FEWER_CLUSTERS, Configuration, Labelled, Sample
from clustrep._points import PointSet
from clustrep._rotation import Rotation, in_coordinates, with_features
from clustrep._types import FloatArray, IntArray, Labels
from clustrep.contingency import Partition, encode
from clustrep.functions import Clusterer, ClusteringFunction, KnownLabels, count_clusters, learn, learn_known


class Psi(ABC):
    """A clustering function inside a run: it is asked about sets of points that many others are asked about, too."""

    classes: Labels | None = None  # all labels that it can give, where they are 0, 1, …

    @abstractmethod
    def labels(self, points: PointSet) -> Labels:
        """Return the label of every point."""


class Path(ABC):
    """Configurations that differ in the number of clusters alone, or a single one."""

    compiled: ClassVar[bool] = True  # whether there are kernels in it
    in_threads: ClassVar[bool] = True  # whether its time is spent in kernels, which let other threads run

    def __init__(self, members: Sequence[Configuration], rotation: Rotation | None):
        self.members = tuple(members)
        self.rotation = rotation

    def space(self, points: PointSet) -> PointSet:
        """Return the points in the coordinates in which this path works."""
        if self.rotation is None:
            return points
        assert points.rotated is not None
        return points.rotated

    def prepare(self, places: Sequence[PointSet]) -> None:  # noqa: B027 - most have nothing to make
        """Make what all resamples of the studies share."""

    def work(self, points: PointSet) -> float:
        """Say roughly how many numbers the kernels compare in one resample."""
        return 0.0

    @abstractmethod
    def share(self, sample: Sample) -> Any:
        """Learn what all members have in common."""

    @abstractmethod
    def psi(self, shared: Any, sample: Sample, configuration: Configuration) -> Psi:
        """Learn ψ(· ; A, X⁽ᵇ⁾) for one member."""

    def function(self, psi: Any, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it: of points with all features."""
        fitted = self.fitted(psi, sample, configuration)
        return ClusteringFunction(Prediction(psi, self.rotation), sample.study.X, fitted)

    @abstractmethod
    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the member as it would be after fitting, for the user to look into."""

    def learn(self, sample: Sample) -> Learned:
        """Learn from a sample, all members or as many as are asked for."""
        return Learned(self, sample)


@dataclass(frozen=True, eq=False)
class Learned:
    """What a path learned from one sample."""

    path: Path
    sample: Sample

    @cached_property
    def _shared(self) -> Any:
        return attempt(self.path.share, self.sample)

    def _psi(self, configuration: Configuration) -> Psi:
        if isinstance(self._shared, Failed):
            raise ReplicateFailure(self._shared.cause)
        return self.path.psi(self._shared, self.sample, configuration)

    def labels(self, member: int, at: Sequence[PointSet]) -> Labelled | Failed:
        """Apply the clustering function of one member to every set of points in `at`."""
        configuration = self.path.members[member]
        outcome = attempt(self._labels, configuration, at)
        # Clusterers say this in many ways, or crash on it.
        if isinstance(outcome, Failed) and configuration.fewest_clusters > self.sample.draw.n_distinct():
            return Failed(FEW_DISTINCT_POINTS)
        return outcome

    def _labels(self, configuration: Configuration, at: Sequence[PointSet]) -> Labelled:
        psi = self._psi(configuration)
        known = {points: psi.labels(points) for points in {self.sample.points: None, **dict.fromkeys(at)}}
        own = known[self.sample.points]
        drawn = own[self.sample.draw.weights > 0]
        n_clusters = count_clusters(drawn) if psi.classes is None else int(np.count_nonzero(np.bincount(drawn)))
        if n_clusters < configuration.fewest_clusters:
            raise ReplicateFailure(FEWER_CLUSTERS)
        labels = [known[points] for points in at]
        if psi.classes is not None:
            return Labelled([Partition(codes, psi.classes) for codes in labels], n_clusters)
        return Labelled(encode([own, *labels])[1:], n_clusters)

    def function(self, member: int) -> ClusteringFunction:
        """Return the clustering function of one member, as users have it."""
        configuration = self.path.members[member]
        return self.path.function(self._psi(configuration), self.sample, configuration)


@dataclass(frozen=True, eq=False)
class Prediction:
    """ψ of points with all features."""

    psi: Psi
    rotation: Rotation | None

    def __call__(self, X: FloatArray) -> Labels:
        """Return the label of every row."""
        return self.psi.labels(PointSet(X, None if self.rotation is None else PointSet(self.rotation.project(X))))


# ---------------------------------------------------------------------------------------------------------------------
# any clusterer


@dataclass(frozen=True, eq=False)
class _PlainPsi(Psi):
    path: Path
    function: ClusteringFunction

    def labels(self, points: PointSet) -> Labels:
        return self.function.labels(self.path.space(points).X)


class PlainPath(Path):
    """One clusterer, fitted to the drawn rows."""

    compiled = in_threads = False

    def share(self, sample: Sample) -> None:
        """Nothing is shared."""

    def rows(self, sample: Sample) -> tuple[IntArray, IntArray | None]:
        """Return the rows to fit, and their weights where the clusterer takes any."""
        return sample.draw.order, None

    def psi(self, shared: None, sample: Sample, configuration: Configuration) -> Psi:
        """Fit the clusterer."""
        clusterer, (rows, weights) = configuration.clusterer, self.rows(sample)
        X = self.space(sample.points).X[rows]
        if isinstance(clusterer, KnownLabels):
            return _PlainPsi(self, learn_known(X, clusterer.labels[sample.study.name][rows]))
        if self.rotation is not None:
            clusterer = in_coordinates(clusterer, self.rotation)
        return _PlainPsi(self, learn(clusterer, X, sample.seed(configuration.n_clusters), weights))

    def function(self, psi: Any, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ as users have it."""
        if self.rotation is not None:
            return super().function(psi, sample, configuration)
        learned: ClusteringFunction = psi.function
        return learned

    def fitted(self, psi: Any, sample: Sample, configuration: Configuration) -> Clusterer:
        """Return the clusterer that was fitted to coordinates, with its features back."""
        assert self.rotation is not None
        return with_features(psi.function.clusterer, self.rotation, configuration.clusterer)
