"""Points in the forms that the kernels want, each made once and shared by all resamples."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from clustrep._engine import breathe
from clustrep._types import FloatArray

# Up to so many points of a study, the distances between all of them are kept: 32 MB.
SHARED_POINTS = 2048
TOO_LARGE = "distances between points are not finite numbers"
# Rows compared at once. A constant, so that results do not depend on how work is divided.
BLOCK = 256


@dataclass(frozen=True, eq=False)
class PointSet:
    """A table of points; told apart by identity.

    rotated : the same points in fewer coordinates, where features outnumber samples by far
    keeps_own : whether to keep the distances between these points, for the next resample
    keeps_others : whether to keep the distances to the points of other sets that do so, too
    """

    X: FloatArray  # (n_points, n_features)
    rotated: PointSet | None = None
    keeps_own: bool = False
    keeps_others: bool = False
    _own: dict[str, FloatArray] = field(default_factory=dict)
    _others: dict[tuple[PointSet, str], FloatArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def by_feature(self) -> FloatArray:
        """The table turned, in one piece, (n_features, n_points)."""
        return np.ascontiguousarray(self.X.T)

    @property
    def shares_distances(self) -> bool:
        """Whether the distances between all points are kept, and serve every resample."""
        return self.keeps_own and len(self.X) <= SHARED_POINTS

    def distances(self, metric: str = "sqeuclidean") -> FloatArray:
        """Return the distances between all points, (n_points, n_points)."""
        if metric not in self._own:
            distances = pairwise_distances(self.X, metric)
            if not self.shares_distances:
                return distances
            self._own[metric] = distances
        return self._own[metric]

    def distances_from(self, others: PointSet, metric: str) -> FloatArray:
        """Return the distances of other points to these, (n_others, n_points), kept by these."""
        if others is self:
            return self.distances(metric)
        if (others, metric) not in self._others:
            self._others[others, metric] = cdist(others.X, self.X, metric)
        return self._others[others, metric]


def pairwise_distances(X: FloatArray, metric: str) -> FloatArray:
    """Return the distances between all rows, (n, n), each computed once; interrupts are heard on the way."""
    distances = np.empty((len(X), len(X)))
    for begin in range(0, len(X), BLOCK):
        rows = slice(begin, begin + BLOCK)
        distances[rows, begin:] = cdist(X[rows], X[begin:], metric)
        distances[begin:, rows] = distances[rows, begin:].T
        breathe()
    return distances
