"""DBSCAN: bootstrap multiplicities as sample weights."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import DBSCAN

from clustrep.clustering.function import ClusteringFunction
from clustrep.clustering.parameters import Clusterer
from clustrep.clustering.path import Path, PlainPath, Psi, fit_rows
from clustrep.clustering.sample import Configuration, Sample
from clustrep.types import IntArray

# ---------------------------------------------------------------------------------------------------------------------
# DBSCAN


class DensityPath(PlainPath):
    """DBSCAN by weights: rows in the order of their first drawing, so that clusters meet as they do among copies."""

    @classmethod
    def applies(cls, clusterer: Clusterer) -> bool:
        """Whether this is exactly scikit-learn's class."""
        return type(clusterer) is DBSCAN

    def rows(self, sample: Sample) -> tuple[IntArray, IntArray | None]:
        """Return each drawn row once, and how often it was drawn."""
        rows, first = np.unique(sample.draw.order, return_index=True)
        rows = rows[np.argsort(first)]
        return rows, sample.draw.weights[rows]

    def function(self, psi: Psi, sample: Sample, configuration: Configuration) -> ClusteringFunction:
        """Return ψ with a clusterer that knows every drawn row."""
        return Path.function(self, psi, sample, configuration)

    def fitted(self, psi: Psi, sample: Sample, configuration: Configuration) -> Clusterer:
        """Fit the drawn rows written out: the same clusters."""
        return fit_rows(self, sample, configuration)
