"""Points in the forms that the kernels want, each made once and shared by all resamples."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from clustrep._types import FloatArray

# Up to so many points, the distances between all of them are kept: 32 MB.
SHARED_POINTS = 2048
TOO_LARGE = "distances between points are not finite numbers"


@dataclass(frozen=True, eq=False)
class PointSet:
    """A table of points; told apart by identity.

    rotated : the same points in fewer coordinates, where there are more features than samples
    """

    X: FloatArray  # (n_points, n_features)
    rotated: PointSet | None = None
    _distances: dict[str, FloatArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def by_feature(self) -> FloatArray:
        """The table turned, in one piece, (n_features, n_points)."""
        return np.ascontiguousarray(self.X.T)

    @property
    def shares_distances(self) -> bool:
        """Whether there are few enough points to keep all distances between them."""
        return len(self.X) <= SHARED_POINTS

    def distances(self, metric: str = "sqeuclidean") -> FloatArray:
        """Return the distances between all points, (n_points, n_points): kept, where that is bearable."""
        if metric in self._distances:
            return self._distances[metric]
        distances: FloatArray = cdist(self.X, self.X, metric)
        if self.shares_distances:
            self._distances[metric] = distances
        return distances
